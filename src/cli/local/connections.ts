/** Provider connections, straight from this machine's database and environment. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { ConnectionView, CreateConnection } from "../../api/Groups/Providers.ts"
import { pick } from "../Flags.ts"
import { exclusively, locally, type Room } from "./room.ts"

/** What a test of one connection gave. */
export interface Tested {
  readonly connection: ConnectionView
  readonly ok: boolean
  /** HTTP status of the provider, null when it did not answer. */
  readonly status: number | null
  readonly latencyMs: number
  readonly model: string | null
  readonly error: string | null
  /** Number of models the provider lists; null when the list could not be read, for the reason in `modelsError`. */
  readonly models: number | null
  readonly modelsError: string | null
}

const testsAtOnce = 4

/** How connections are shown now. */
const viewer = ({ connectionView }: Room) =>
  Effect.map(
    Clock.currentTimeMillis,
    (nowMs) => (observed: Parameters<Room["connectionView"]>[0]) => connectionView(observed, nowMs)
  )

/** Every connection, also those from the environment. */
export const listConnections = locally((room) =>
  Effect.gen(function* () {
    return (yield* (yield* room.Connections).list).map(yield* viewer(room))
  })
)

/** Asks one connection, or every active one, a tiny question. */
export const testConnections = (idOrName: string | null) =>
  locally((room) =>
    Effect.gen(function* () {
      const connections = yield* room.Connections
      const view = yield* viewer(room)
      const all = (yield* connections.list).map(view)
      const wanted =
        idOrName === null
          ? all.filter(({ isActive }) => isActive)
          : [yield* pick("connection", all, idOrName, "gateway providers list")]
      return yield* Effect.forEach(
        wanted,
        ({ id }) =>
          Effect.gen(function* () {
            const result = yield* connections.test(id, null)
            return { connection: view(yield* connections.get(id)), ...result } satisfies Tested
          }),
        { concurrency: testsAtOnce }
      )
    })
  )

/** Checks every connection: known, readable, complete; and, unless `offline`, whether its provider accepts the credential. */
export const validateConnections = (offline: boolean) =>
  locally((room) =>
    Effect.gen(function* () {
      const checked = yield* (yield* room.Connections).checkAll({ offline })
      const view = yield* viewer(room)
      return checked.map(({ connection, problems }) => ({ connection: view(connection), problems }))
    })
  )

/** Stores a connection. */
export const addConnection = (input: CreateConnection) =>
  exclusively((room) =>
    Effect.gen(function* () {
      const added = yield* (yield* room.Connections).create(input)
      return (yield* viewer(room))(added)
    })
  )
