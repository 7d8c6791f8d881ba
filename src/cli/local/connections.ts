/** Provider connections, straight from this machine's database and environment. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { ConnectionView, CreateConnection, ValidateConnection } from "../../subjects/connections/routes.ts"
import { pickConnection } from "../pickConnection.ts"
import { exclusively, locally, locallyWithNodes, type LocalModule } from "./localServices.ts"

/** Result of a test of one connection. */
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

export interface Models {
  readonly ids: ReadonlyArray<string>
  /** Reason for which the provider does not list them; null when it does. */
  readonly error: string | null
}

/** A provider that the operator added, as far as commands name it. */
export interface NodeName {
  readonly prefix: string
  readonly name: string
}

export const idsOf = (listing: {
  readonly models: ReadonlyArray<{ readonly id: string }>
  readonly error: string | null
}): Models => ({
  ids: listing.models.map(({ id }) => id),
  error: listing.error
})

/** Connections that are asked at the same time. */
export const testsAtOnce = 4

/** Selects the one connection that is named, else every active one. */
export const wanted = (all: ReadonlyArray<ConnectionView>, idOrName: string | null) =>
  idOrName === null
    ? Effect.succeed(all.filter(({ isActive }) => isActive))
    : Effect.map(pickConnection(all, idOrName), (one) => [one])

/** Makes the views of connections at this time. */
const viewer = ({ connectionView }: LocalModule) =>
  Effect.map(
    Clock.currentTimeMillis,
    (nowMs) => (observed: Parameters<LocalModule["connectionView"]>[0]) => connectionView(observed, nowMs)
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
      return yield* Effect.forEach(
        yield* wanted((yield* connections.list).map(view), idOrName),
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

/** Asks one connection a tiny question. */
export const testConnection = (id: string) =>
  locally((room) => Effect.flatMap(room.Connections, (connections) => connections.test(id, null)))

/** Checks whether a provider accepts a connection as it would be stored. Nothing is stored. */
export const validateConnection = (input: ValidateConnection) =>
  locallyWithNodes((room) =>
    Effect.gen(function* () {
      const added = input.node === undefined ? null : yield* (yield* room.ProviderNodes).draft(input.node)
      return yield* (yield* room.Connections).validate(input, added)
    })
  )

/** The models of a connection, asked of its provider. */
export const modelsOf = (id: string) =>
  locally((room) => Effect.flatMap(room.Connections, (connections) => Effect.map(connections.models(id), idsOf)))

/** Providers that the operator added. */
export const listNodes = locally((room) =>
  Effect.map(room.Catalog, (catalog): ReadonlyArray<NodeName> => catalog.current().nodes)
)

/** Stores a connection. */
export const addConnection = (input: CreateConnection) =>
  exclusively((room) =>
    Effect.gen(function* () {
      const added = yield* (yield* room.Connections).create(input)
      return (yield* viewer(room))(added)
    })
  )
