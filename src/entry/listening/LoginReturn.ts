/** Listens on the loopback of a command line's machine for the browser that comes back from a login (RFC 8252, 7.3). */
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

/** Error of a machine on which no port can be opened. */
export class NoPort extends Data.TaggedError("NoPort") {}

export interface Waiting {
  readonly port: number
  /** The query of the browser that has brought the state back. */
  readonly arrived: Effect.Effect<URLSearchParams>
}

const page = (title: string, sentence: string): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title></head>
<body><main><h1>${title}</h1><p>${sentence}</p></main></body>
</html>
`

const answer = (response: ServerResponse, status: number, text: string): void => {
  response.writeHead(status, {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    Connection: "close"
  })
  response.end(text)
}

const notThis = page("Not this login", "This is of no login that waits on this machine. The login goes on waiting.")

const maxQueryChars = 2_000

/** The query of a request that a browser of this machine makes for the login; null: it is another. */
const queryOf = (
  { headers, method, url = "" }: IncomingMessage,
  port: number,
  state: string
): URLSearchParams | null => {
  // A page of another name that leads here has that name.
  if (method !== "GET" || headers.host !== `127.0.0.1:${port}` || !url.startsWith("/?")) return null
  if (url.length > maxQueryChars) return null
  const query = new URLSearchParams(url.slice(2))
  return query.get("state") === state ? query : null
}

/** Listens until the scope ends. What does not bring the state is answered, and waited on beside. */
export const waitForBrowser = (state: string): Effect.Effect<Waiting, NoPort, Scope.Scope> =>
  Effect.gen(function* () {
    const arrived = yield* Deferred.make<URLSearchParams>()
    const server = createServer({ maxHeaderSize: 16_384, requestTimeout: 10_000 })
    yield* Effect.acquireRelease(
      Effect.tryPromise({
        try: () => once(server.listen(0, "127.0.0.1"), "listening"),
        catch: () => new NoPort()
      }),
      () =>
        Effect.sync(() => {
          server.close()
          server.closeIdleConnections()
        })
    )
    const at = server.address()
    const port = typeof at === "object" && at !== null ? at.port : 0
    server.on("request", (request, response) => {
      const query = queryOf(request, port, state)
      if (query === null) return answer(response, 404, notThis)
      const isAllowed = query.get("error") === null
      const title = isAllowed ? "Logged in" : "Not logged in"
      answer(response, 200, page(title, "Go on at the command line. This page can be closed."))
      Deferred.unsafeDone(arrived, Effect.succeed(query))
    })
    return { port, arrived: Deferred.await(arrived) }
  })
