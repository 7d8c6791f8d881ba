/**
 * `gateway mcp serve`, also `gateway --mcp`: the MCP server over standard input and output, for clients that start it as a program. Each line is
 * a message; it is handed to the running gateway over HTTP, and the answer is written as a line. Everything else goes to standard error.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
 */
import * as Command from "@effect/cli/Command"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { createInterface } from "node:readline"
import * as Client from "../../gateway/Client.ts"
import * as Output from "../../output/Output.ts"
import { Stdout } from "../../output/Stdout.ts"

/** Longer lines are no messages of a client. */
const maxLineChars = 4 * 1_048_576
/** Messages that are answered at once. */
const mostAtOnce = 32

const idOf = (line: string): unknown => {
  try {
    const message: unknown = JSON.parse(line)
    return Predicate.hasProperty(message, "id") ? message.id : undefined
  } catch {
    return null
  }
}

const failure = (id: unknown, code: number, message: string): string =>
  JSON.stringify({ jsonrpc: "2.0", id: id ?? null, error: { code, message } })

export const mcpServe = Command.make("serve", { ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const stdout = yield* Stdout
    const client = Client.httpClient(to)
    let session: string | null = null

    const answer = (line: string): Effect.Effect<string | null> =>
      Effect.gen(function* () {
        const id = idOf(line)
        if (line.length > maxLineChars) return failure(null, -32_600, `A message may have ${maxLineChars} characters.`)
        if (id === null) return failure(null, -32_700, "The line is no JSON.")
        const request = HttpClientRequest.post(`${to.url}/mcp`).pipe(
          HttpClientRequest.bodyText(line, "application/json"),
          HttpClientRequest.setHeader("accept", "application/json"),
          session === null ? (same) => same : HttpClientRequest.setHeader("mcp-session-id", session)
        )
        const response = yield* client.execute(request)
        session = response.headers["mcp-session-id"] ?? session
        const text = yield* response.text
        // A notification is answered by nothing.
        return text === "" ? null : text
      }).pipe(
        Effect.catchAll(() =>
          Effect.succeed(
            failure(idOf(line), -32_000, `No gateway answers at ${to.url}. Start it with 'gateway serve'.`)
          )
        )
      )

    yield* Output.note(`MCP over stdio for ${to.url}.`)
    const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
    const told = (line: string) =>
      Effect.flatMap(answer(line), (text) => (text === null ? Effect.void : stdout.write(`${text}\n`)))
    yield* Effect.promise(async () => {
      const underWay = new Set<Promise<void>>()
      for await (const line of lines) {
        if (line.trim() === "") continue
        const one: Promise<void> = Effect.runPromise(told(line)).finally(() => underWay.delete(one))
        underWay.add(one)
        // The first message begins the session that the others name.
        if (session === null || underWay.size >= mostAtOnce) await Promise.race(underWay)
      }
      await Promise.all(underWay)
    })
  })
)
