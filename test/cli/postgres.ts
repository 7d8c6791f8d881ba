/** An empty database on the server of Postgres of the tests, for programs of their own. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { assert } from "vitest"
import { once } from "node:events"
import { connect as open, createServer, type Server, type Socket } from "node:net"
import { connect } from "../../src/store/engine/postgres/Client.ts"
import { atEndOfFile } from "../support/ends.ts"
import { emptySchema } from "../support/postgres/Schemas.ts"
import { postgresUrl } from "../support/postgres/Server.ts"
import { adminKey } from "./processes.ts"

export interface TestDatabase {
  readonly url: string
  readonly rows: (text: string) => Promise<ReadonlyArray<Readonly<Record<string, unknown>>>>
}

/** Makes one that is there until the tests of the file are over. Only where a server is there (`isPostgresThere`). */
export const emptyDatabase = async (): Promise<TestDatabase> => {
  const server = await postgresUrl()
  assert.isNotNull(server, "there is a server of Postgres")
  const scope = Effect.runSync(Scope.make())
  atEndOfFile(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const options = await Effect.runPromise(Scope.extend(emptySchema(server ?? ""), scope))
  return {
    url: Redacted.value(options.url),
    rows: (text) =>
      Effect.runPromise(
        Effect.scoped(Effect.flatMap(connect(options), (sql) => sql.unsafe<Record<string, unknown>>(text)))
      )
  }
}

/** Variables of a gateway on a database: all that have the same ones are its nodes. */
export const nodeVariables = ({ url }: Pick<TestDatabase, "url">) => ({
  GATEWAY_ADMIN_KEY: adminKey,
  GATEWAY_DATABASE_URL: url,
  GATEWAY_ENCRYPTION_KEY: "one-key-of-all-nodes-of-more-than-32-characters",
  GATEWAY_DISABLE_BACKGROUND_SERVICES: "true"
})

/** A way to a server that can be cut. */
export const wayTo = async (url: string) => {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  const server: Server = createServer((near) => {
    const far = open(Number(port), hostname)
    for (const [one, other] of [
      [near, far],
      [far, near]
    ] as const) {
      sockets.add(one)
      one.on("error", () => other.destroy())
      one.on("close", () => sockets.delete(one))
      one.pipe(other)
    }
  })
  const listen = async (at: number): Promise<number> => {
    server.listen(at, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    return typeof address === "object" && address !== null ? address.port : 0
  }
  const own = await listen(0)
  const cut = async (): Promise<void> => {
    const closed = once(server, "close")
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  atEndOfFile(() => (server.listening ? cut() : Promise.resolve()))
  const through = new URL(url)
  through.hostname = "127.0.0.1"
  through.port = String(own)
  /** Nothing comes through any more, and no end of it says so. */
  const silence = (): void => {
    for (const socket of sockets) socket.unpipe().pause()
  }
  return { url: through.href, cut, mend: () => listen(own), silence }
}
