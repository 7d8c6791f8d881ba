/** Provider connections: how they are listed, made, changed, removed, and tried. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { CreateConnection, UpdateConnection, ValidateConnection } from "./routes.ts"
import { type Connection, healthy } from "./entity.ts"
import type { ProviderSpec } from "../../contract/domain/Provider.ts"
import { Flags } from "../flags/service.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { Catalog } from "../../plane/providers/Catalog.ts"
import type { ListedModel } from "../../plane/providers/ModelLists.ts"
import { ProviderCalls, type TestFindings } from "../../plane/providers/ProviderCalls.ts"
import { ProxyPlan } from "../../plane/providers/ProxyPlan.ts"
import { Cooldowns } from "../../plane/resilience/cooldown/Cooldowns.ts"
import type { StoreError } from "../../store/Errors.ts"
import { ConnectionRepo } from "./repo.ts"
import { ConfigChanges } from "../ConfigChanges.ts"
import { ConnectionRecords } from "./ConnectionRecords.ts"
import * as Drafts from "./Drafts.ts"
import { answerOf, modelsOf, type ValidationFindings } from "./FirstAnswer.ts"
import * as Rules from "./rules.ts"
import { Events } from "../../observe/Events.ts"
import { testConnection } from "./ConnectionTest.ts"
import { OperatorSpending } from "./OperatorSpending.ts"
import * as Errors from "../Errors.ts"
import { type ObservedConnection, ObservedState } from "./ObservedState.ts"

/** The models of a connection. `error` says why the last question had no answer; the list before it is then given. */
export interface ModelListing {
  readonly models: ReadonlyArray<ListedModel>
  readonly error: string | null
}

/** Stored connection with its problems; without any when `problems` is empty. */
export interface CheckedConnection {
  readonly connection: ObservedConnection
  readonly problems: ReadonlyArray<string>
}

export class Connections extends Context.Tag("gateway/subjects/connections/Connections")<
  Connections,
  {
    /** Every connection, also those from the environment. */
    readonly list: Effect.Effect<ReadonlyArray<ObservedConnection>>
    readonly get: (id: string) => Effect.Effect<ObservedConnection, Errors.EntityNotFound>
    readonly create: (
      input: CreateConnection
    ) => Effect.Effect<
      ObservedConnection,
      Errors.InvalidInput | Errors.StateConflict | Errors.EntityNotFound | StoreError
    >
    readonly update: (
      id: string,
      input: UpdateConnection
    ) => Effect.Effect<ObservedConnection, Errors.EntityNotFound | Errors.ReadOnly | Errors.InvalidInput | StoreError>
    readonly remove: (id: string) => Effect.Effect<void, Errors.EntityNotFound | Errors.ReadOnly | StoreError>
    /** Asks a tiny question; `model` null: one that the connection is known to have. A good answer ends every cooldown. */
    readonly test: (id: string, model: string | null) => Effect.Effect<TestFindings, Errors.EntityNotFound>
    /** `refresh`: the provider is asked however new the known list is. */
    readonly models: (
      id: string,
      options?: { readonly refresh: boolean }
    ) => Effect.Effect<ModelListing, Errors.EntityNotFound | Errors.RemoteFailed>
    /**
     * Checks whether a provider accepts a connection as it would be stored, and asks it the question that the body has. `added` is the provider of
     * the node that the body has. Nothing is stored.
     */
    readonly validate: (
      input: ValidateConnection,
      added: ProviderSpec | null
    ) => Effect.Effect<ValidationFindings, Drafts.DraftRefused>
    /**
     * Checks whether every connection is complete and readable and, unless `offline`, its provider accepts the
     * credential.
     */
    readonly checkAll: (options: {
      readonly offline: boolean
    }) => Effect.Effect<ReadonlyArray<CheckedConnection>, StoreError>
  }
>() {}

const checksAtOnce = 4

const services = Effect.all({
  changes: ConfigChanges,
  catalog: Catalog,
  repo: ConnectionRepo,
  records: ConnectionRecords,
  observed: ObservedState,
  calls: ProviderCalls,
  cooldowns: Cooldowns,
  events: Events,
  flags: Flags,
  ids: IdGen,
  proxies: ProxyPlan,
  spending: OperatorSpending
})
type Services = Effect.Effect.Success<typeof services>

const applied = <A, E, R>(change: Effect.Effect<A, E, R>, { changes }: Services) => changes.apply(change)

const checkLimit = (services: Services, spec: ProviderSpec): Effect.Effect<void, Errors.StateConflict> =>
  Rules.mayAddConnection(spec, services.catalog.current().connections, {
    isNode: Drafts.isNode(services, spec),
    isOn: services.flags.isOn
  })
    ? Effect.void
    : Errors.conflict(
        `The node '${spec.id}' already has a connection. Several need the flag ALLOW_MULTI_CONNECTIONS_PER_COMPAT_NODE.`,
        "provider"
      )

const list = ({ catalog, observed }: Services) => Effect.sync(() => catalog.current().connections.map(observed.of))

const get = Effect.fn("Connections.get")((services: Services, id: string) =>
  Effect.map(Drafts.find(services, id), services.observed.of)
)

const create = Effect.fn("Connections.create")(function* (services: Services, input: CreateConnection) {
  const spec = yield* Drafts.specOf(services, input.provider)
  const settings = yield* Drafts.newSettings(services, input, { spec, isOfNode: Drafts.isNode(services, spec) })
  yield* checkLimit(services, spec)
  const nowMs = yield* Clock.currentTimeMillis
  const connection: Connection = {
    ...settings,
    ...healthy,
    id: services.ids.next(nowMs),
    source: "db",
    createdAtMs: nowMs,
    updatedAtMs: nowMs
  }
  const { proxyId = null } = input
  // Before the connection is there, so that no call of it leaves by another route.
  if (proxyId !== null) yield* services.proxies.assign("connection", connection.id, proxyId)
  yield* Effect.catchTag(services.repo.insert(connection), "AlreadyStored", Effect.die).pipe(
    Effect.onError(() =>
      proxyId === null ? Effect.void : Effect.ignoreLogged(services.proxies.assign("connection", connection.id, null))
    )
  )
  return services.observed.of(connection)
}, applied)

const update = Effect.fn("Connections.update")(function* (services: Services, id: string, input: UpdateConnection) {
  const before = yield* Drafts.findStored(services, id)
  const { settings } = yield* Drafts.changedSettings(services, before, input)
  const connection: Connection = { ...before, ...settings, updatedAtMs: yield* Clock.currentTimeMillis }
  if (input.proxyId !== undefined) yield* services.proxies.assign("connection", id, input.proxyId)
  yield* services.records.replace(connection, {
    hasNewCredential: input.apiKey !== undefined || input.oauth !== undefined
  })
  return services.observed.of(connection)
}, applied)

const remove = Effect.fn("Connections.remove")(function* (services: Services, id: string) {
  const connection = yield* Drafts.findStored(services, id)
  yield* services.records.remove(connection.id)
}, applied)

const test = Effect.fn("Connections.test")(function* (services: Services, id: string, model: string | null) {
  return yield* testConnection(services, yield* Drafts.find(services, id), model)
})

const models = Effect.fn("Connections.models")(function* (
  services: Services,
  id: string,
  options: { readonly refresh: boolean }
) {
  const connection = yield* Drafts.find(services, id)
  const result = yield* services.calls.models(connection, options)
  if (result._tag === "Listed") return { models: result.models, error: null }
  // The last list is still what requests are routed by.
  const { modelList } = services.observed.of(connection)
  if (modelList === null || modelList.learnedAtMs === null) {
    return yield* new Errors.RemoteFailed({ code: "bad_gateway", message: result.error })
  }
  return { models: modelList.models, error: result.error }
})

const validate = Effect.fn("Connections.validate")(function* (
  services: Services,
  input: ValidateConnection,
  added: ProviderSpec | null
) {
  const { calls, spending } = services
  const { question, ...settings } = input
  const draft = yield* Drafts.draftOf(services, settings, added)
  const { answered, listed, ...found } = yield* calls.validate(draft)
  yield* spending.book(answered)
  const models = modelsOf({ listed }, draft.spec.id, spending)
  if (question === undefined || !found.valid) return { ...found, models, answer: null }
  const put = yield* calls.put(draft, question)
  yield* spending.book(put.answered === null ? [] : [put.answered])
  return { ...found, models, answer: answerOf(question.model, put, spending) }
})

const rejection = ({ calls, spending }: Services, connection: Connection): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(
    Effect.tap(calls.check(connection), (result) => spending.book(result?.answered ?? [])),
    (result) =>
      result === null || result.valid ? [] : [result.error ?? "The provider does not accept its credential."]
  )

const checkAll = Effect.fn("Connections.checkAll")(function* (
  services: Services,
  { offline }: { readonly offline: boolean }
) {
  const { connections, provider } = services.catalog.current()
  const locked = new Set((yield* services.repo.list).filter((stored) => stored.locked).map(({ id }) => id))
  return yield* Effect.forEach(
    connections,
    (connection) => {
      const spec = provider(connection.provider)
      const missing = Rules.unusable(connection, spec, locked.has(connection.id))
      return Effect.map(
        offline || missing.length > 0 ? Effect.succeed(missing) : rejection(services, connection),
        (problems): CheckedConnection => ({ connection: services.observed.of(connection), problems })
      )
    },
    { concurrency: checksAtOnce }
  )
})

export const make = Effect.gen(function* () {
  const all = yield* services

  return Connections.of({
    list: list(all),
    get: (id) => get(all, id),
    create: (connection) => create(all, connection),
    update: (id, input) => update(all, id, input),
    remove: (id) => remove(all, id),
    test: (id, model) => test(all, id, model),
    models: (id, options = { refresh: false }) => models(all, id, options),
    validate: (input, added) => validate(all, input, added),
    checkAll: (options) => checkAll(all, options)
  })
})

export const layer: Layer.Layer<
  Connections,
  never,
  | Catalog
  | ConfigChanges
  | ConnectionRecords
  | ConnectionRepo
  | Events
  | Cooldowns
  | Flags
  | IdGen
  | ObservedState
  | OperatorSpending
  | ProviderCalls
  | ProxyPlan
> = Layer.effect(Connections, make)
