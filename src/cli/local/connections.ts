/** Provider connections, straight from this machine's database and environment. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { ConnectionView, CreateConnection } from "../../api/Groups/Providers.ts"
import type { Connection } from "../../domain/Connection.ts"
import { healthy } from "../../domain/Connection.ts"
import { BadArgument } from "../Failure.ts"
import { pick } from "../Flags.ts"
import { locally, type Room } from "./room.ts"

/** What a test of one connection gave. */
export interface Tested {
  readonly connection: ConnectionView
  readonly ok: boolean
  /** HTTP status of the provider, null when it did not answer. */
  readonly status: number | null
  readonly latencyMs: number
  readonly model: string | null
  readonly error: string | null
  /** How many models the provider lists, and why it does not say. */
  readonly models: number | null
  readonly modelsError: string | null
}

/** What is wrong with one stored connection; nothing when `problems` is empty. */
export interface Validated {
  readonly connection: ConnectionView
  readonly problems: ReadonlyArray<string>
}

const testsAtOnce = 4

/** How a connection is shown now, with what is known of its health. */
const viewer = Effect.fnUntraced(function* (room: Room) {
  const cooldowns = yield* room.Cooldowns
  const lists = yield* room.ModelLists
  const nowMs = yield* Clock.currentTimeMillis
  return (connection: Connection): ConnectionView =>
    room.connectionView(connection, cooldowns.healthOf(connection.id), nowMs, lists.stateOf(connection.id))
})

/** Every connection, also those from the environment. */
export const listConnections = locally((room) =>
  Effect.gen(function* () {
    return (yield* room.Catalog).current().connections.map(yield* viewer(room))
  })
)

/** Asks one connection, or every active one, a tiny question. */
export const testConnections = (idOrName: string | null) =>
  locally((room) =>
    Effect.gen(function* () {
      const all = (yield* room.Catalog).current().connections
      const calls = yield* room.ProviderCalls
      const cooldowns = yield* room.Cooldowns
      const view = yield* viewer(room)
      const wanted =
        idOrName === null
          ? all.filter(({ isActive }) => isActive)
          : [yield* pick("connection", all, idOrName, "gateway providers list")]
      return yield* Effect.forEach(
        wanted,
        (connection) =>
          Effect.map(room.testConnection({ calls, cooldowns }, connection, null), (result): Tested => ({
            connection: view(connection),
            ...result
          })),
        { concurrency: testsAtOnce }
      )
    })
  )

/** Checks every connection: known, readable, complete; and, unless `offline`, whether its provider accepts the credential. */
export const validateConnections = (offline: boolean) =>
  locally((room) =>
    Effect.gen(function* () {
      const { connections, provider } = (yield* room.Catalog).current()
      const locked = new Set(
        (yield* (yield* room.ConnectionRepo).list).filter((stored) => stored.locked).map(({ id }) => id)
      )
      const problemsOf = (connection: Connection): ReadonlyArray<string> => {
        if (locked.has(connection.id)) return ["Its credential cannot be read with the present master key."]
        const spec = provider(connection.provider)
        if (spec === null) return [`The provider '${connection.provider}' is not known.`]
        const errors = (connection.wires ?? spec.wires).flatMap((wire) =>
          Either.match(room.endpointOf(spec, connection, wire), {
            onLeft: (error) => [error.message],
            onRight: () => []
          })
        )
        return [...new Set(errors)]
      }
      const view = yield* viewer(room)
      const calls = yield* room.ProviderCalls
      const refusal = (connection: Connection) =>
        Effect.map(calls.check(connection), (result) =>
          result === null || result.valid ? [] : [result.error ?? "The provider does not accept its credential."]
        )
      return yield* Effect.forEach(
        connections,
        (connection) => {
          const missing = problemsOf(connection)
          return Effect.map(
            offline || missing.length > 0 ? Effect.succeed(missing) : refusal(connection),
            (problems): Validated => ({ connection: view(connection), problems })
          )
        },
        { concurrency: testsAtOnce }
      )
    })
  )

/** Stores a connection by the rules of the management API. */
export const addConnection = (input: CreateConnection) =>
  locally((room) =>
    Effect.gen(function* () {
      const { connections, nodes, provider } = (yield* room.Catalog).current()
      const { isOn } = yield* room.Flags
      const spec = provider(input.provider)
      if (spec === null) {
        return yield* new BadArgument({
          message: `The provider '${input.provider}' is not known.`,
          hint: "See 'gateway providers available --search <text>'."
        })
      }
      const settings = room.settingsOf(input, spec)
      const isNode = nodes.some(({ prefix }) => prefix === spec.id)
      const further = room.furtherProblem(spec, connections, { isNode, isOn })
      if (further !== null) return yield* new BadArgument({ message: further.message })
      const problem = room.problemOf(settings, spec, { isNode, hasLockedSecret: false, isOn })
      if (problem !== null) return yield* new BadArgument({ message: `${problem.field} ${problem.message}.` })
      const nowMs = yield* Clock.currentTimeMillis
      const connection: Connection = {
        ...settings,
        ...healthy,
        id: (yield* room.IdGen).next(nowMs),
        source: "db",
        createdAtMs: nowMs,
        updatedAtMs: nowMs
      }
      yield* Effect.catchTag((yield* room.ConnectionRepo).insert(connection), "AlreadyStored", Effect.die)
      return room.connectionView(connection, healthy, nowMs)
    })
  )
