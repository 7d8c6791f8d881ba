/** Provider connections: how they are listed, made, changed, removed, and tried. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type { CreateConnection, UpdateConnection } from "./routes.ts"
import { type Connection, type ConnectionSettings, healthy } from "./entity.ts"
import type { ProviderSpec } from "../../domain/Provider.ts"
import { Flags } from "../flags/service.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { Catalog } from "../../plane/providers/Catalog.ts"
import type { ListedModel } from "../../plane/providers/ModelLists.ts"
import { ProviderCalls, type TestFindings, type ValidationFindings } from "../../plane/providers/ProviderCalls.ts"
import { ProxyPlan } from "../../plane/providers/ProxyPlan.ts"
import { Cooldowns } from "../../plane/resilience/cooldown/Cooldowns.ts"
import type { StoreError } from "../../store/Errors.ts"
import { ConnectionRepo } from "./repo.ts"
import { ConfigChanges } from "../ConfigChanges.ts"
import { ConnectionRecords } from "./ConnectionRecords.ts"
import * as Rules from "./rules.ts"
import { testConnection } from "./ConnectionTest.ts"
import { OperatorSpending } from "./OperatorSpending.ts"
import { connectionMoveProblem } from "./CredentialBinding.ts"
import * as Errors from "../Errors.ts"
import { type ObservedConnection, ObservedState } from "./ObservedState.ts"

/** The models of a connection. `error` says why the last question had no answer; the list before it is then given. */
export interface ModelListing {
  readonly models: ReadonlyArray<ListedModel>
  readonly error: string | null
}

/** A key that may become a connection. */
export interface CandidateKey {
  readonly provider: string
  /** Absent for a provider that needs none. */
  readonly apiKey?: Redacted.Redacted
  readonly baseUrl?: string | null
  /** The proxy to ask by, as if it were assigned to the connection. */
  readonly proxyId?: string | undefined
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
      Errors.UnknownProvider | Errors.InvalidInput | Errors.ConnectionLimitReached | Errors.EntityNotFound | StoreError
    >
    readonly update: (
      id: string,
      input: UpdateConnection
    ) => Effect.Effect<
      ObservedConnection,
      Errors.EntityNotFound | Errors.ConnectionReadOnly | Errors.UnknownProvider | Errors.InvalidInput | StoreError
    >
    readonly remove: (id: string) => Effect.Effect<void, Errors.EntityNotFound | Errors.ConnectionReadOnly | StoreError>
    /** Asks a tiny question; `model` null: one that the connection is known to have. A good answer ends every cooldown. */
    readonly test: (id: string, model: string | null) => Effect.Effect<TestFindings, Errors.EntityNotFound>
    readonly models: (id: string) => Effect.Effect<ModelListing, Errors.EntityNotFound | Errors.ModelsNotListed>
    /** Checks whether a provider accepts a key. Nothing is stored. */
    readonly validateKey: (
      candidate: CandidateKey
    ) => Effect.Effect<ValidationFindings, Errors.UnknownProvider | Errors.InvalidInput | Errors.EntityNotFound>
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

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog
  const repo = yield* ConnectionRepo
  const records = yield* ConnectionRecords
  const observed = yield* ObservedState
  const calls = yield* ProviderCalls
  const cooldowns = yield* Cooldowns
  const flags = yield* Flags
  const ids = yield* IdGen
  const proxies = yield* ProxyPlan
  const { apply } = yield* ConfigChanges
  const spending = yield* OperatorSpending

  const specOf = (provider: string): Effect.Effect<ProviderSpec, Errors.UnknownProvider> => {
    const spec = catalog.current().provider(provider)
    return spec === null ? new Errors.UnknownProvider({ provider }) : Effect.succeed(spec)
  }
  const isNode = (spec: ProviderSpec): boolean => catalog.current().nodes.some((node) => node.prefix === spec.id)

  const check = (settings: ConnectionSettings, spec: ProviderSpec, hasLockedSecret: boolean) =>
    Errors.refuseOne(Rules.problemOf(settings, spec, { isNode: isNode(spec), hasLockedSecret, isOn: flags.isOn }))

  /** Null and absent name none. */
  const checkProxy = (proxyId: string | null | undefined): Effect.Effect<void, Errors.EntityNotFound> =>
    proxyId == null || proxies.has(proxyId)
      ? Effect.void
      : new Errors.EntityNotFound({ entity: "proxy", id: proxyId, field: "proxyId" })

  const checkLimit = (spec: ProviderSpec): Effect.Effect<void, Errors.ConnectionLimitReached> =>
    Rules.mayAddConnection(spec, catalog.current().connections, { isNode: isNode(spec), isOn: flags.isOn })
      ? Effect.void
      : new Errors.ConnectionLimitReached({ prefix: spec.id })

  const find = (id: string): Effect.Effect<Connection, Errors.EntityNotFound> => {
    const connection = catalog.current().connections.find((candidate) => candidate.id === id)
    return connection === undefined
      ? new Errors.EntityNotFound({ entity: "connection", id })
      : Effect.succeed(connection)
  }

  const findStored = Effect.fnUntraced(function* (id: string) {
    const connection = yield* repo.get(id)
    if (connection !== null) return connection
    yield* find(id)
    return yield* new Errors.ConnectionReadOnly({ id })
  })

  const list = Effect.sync(() => catalog.current().connections.map(observed.of))

  const get = Effect.fn("Connections.get")((id: string) => Effect.map(find(id), observed.of))

  const create = Effect.fn("Connections.create")(function* (input: CreateConnection) {
    yield* Errors.refuseOne(Rules.twoLimitsProblem(input))
    const spec = yield* specOf(input.provider)
    const settings = Rules.settingsOf(input, spec)
    yield* check(settings, spec, false)
    yield* checkLimit(spec)
    yield* checkProxy(input.proxyId)
    const nowMs = yield* Clock.currentTimeMillis
    const connection: Connection = {
      ...settings,
      ...healthy,
      id: ids.next(nowMs),
      source: "db",
      createdAtMs: nowMs,
      updatedAtMs: nowMs
    }
    const { proxyId = null } = input
    // Before the connection is there, so that no call of it leaves by another route.
    if (proxyId !== null) yield* proxies.assign("connection", connection.id, proxyId)
    yield* Effect.catchTag(repo.insert(connection), "AlreadyStored", Effect.die).pipe(
      Effect.onError(() =>
        proxyId === null ? Effect.void : Effect.ignoreLogged(proxies.assign("connection", connection.id, null))
      )
    )
    return observed.of(connection)
  }, apply)

  const update = Effect.fn("Connections.update")(function* (id: string, input: UpdateConnection) {
    const before = yield* findStored(id)
    const spec = yield* specOf(before.provider)
    if (input.provider !== undefined && (yield* specOf(input.provider)).id !== spec.id) {
      return yield* Errors.invalid("provider", "cannot be changed; add another connection instead")
    }
    yield* Errors.refuseOne(Rules.twoLimitsProblem(input))
    const settings = Rules.changed(before, input)
    yield* check(settings, spec, before.locked)
    yield* checkProxy(input.proxyId)
    yield* Errors.refuseOne(connectionMoveProblem(before, settings, spec))
    const connection: Connection = { ...before, ...settings, updatedAtMs: yield* Clock.currentTimeMillis }
    if (input.proxyId !== undefined) yield* proxies.assign("connection", id, input.proxyId)
    yield* records.replace(connection, { hasNewCredential: input.apiKey !== undefined || input.oauth !== undefined })
    return observed.of(connection)
  }, apply)

  const remove = Effect.fn("Connections.remove")(function* (id: string) {
    const connection = yield* findStored(id)
    yield* records.remove(connection.id)
  }, apply)

  const test = Effect.fn("Connections.test")(function* (id: string, model: string | null) {
    return yield* testConnection({ calls, cooldowns, spending }, yield* find(id), model)
  })

  const models = Effect.fn("Connections.models")(function* (id: string) {
    const connection = yield* find(id)
    const result = yield* calls.models(connection, { refresh: false })
    if (result._tag === "Listed") return { models: result.models, error: null }
    // The last list is still what requests are routed by.
    const { modelList } = observed.of(connection)
    if (modelList === null || modelList.learnedAtMs === null) {
      return yield* new Errors.ModelsNotListed({ reason: result.error })
    }
    return { models: modelList.models, error: result.error }
  })

  const validateKey = Effect.fn("Connections.validateKey")(function* (candidate: CandidateKey) {
    const { apiKey, baseUrl, provider, proxyId } = candidate
    yield* Errors.refuseOne(Rules.gatewayKeyProblem("apiKey", apiKey ?? null))
    yield* Errors.refuseOne(Rules.addressProblem("baseUrl", baseUrl, flags.isOn))
    yield* checkProxy(proxyId)
    const result = yield* calls.validate({
      provider,
      apiKey: apiKey ?? null,
      baseUrl: baseUrl ?? null,
      proxyId: proxyId ?? null
    })
    if (result === null) return yield* new Errors.UnknownProvider({ provider })
    const { answered, ...found } = result
    yield* spending.book(answered)
    return found
  })

  const rejection = (connection: Connection): Effect.Effect<ReadonlyArray<string>> =>
    Effect.map(
      Effect.tap(calls.check(connection), (result) => spending.book(result?.answered ?? [])),
      (result) =>
        result === null || result.valid ? [] : [result.error ?? "The provider does not accept its credential."]
    )

  const checkAll = Effect.fn("Connections.checkAll")(function* ({ offline }: { readonly offline: boolean }) {
    const { connections, provider } = catalog.current()
    const locked = new Set((yield* repo.list).filter((stored) => stored.locked).map(({ id }) => id))
    return yield* Effect.forEach(
      connections,
      (connection) => {
        const spec = provider(connection.provider)
        const missing = Rules.unusable(connection, spec, locked.has(connection.id))
        return Effect.map(
          offline || missing.length > 0 ? Effect.succeed(missing) : rejection(connection),
          (problems): CheckedConnection => ({ connection: observed.of(connection), problems })
        )
      },
      { concurrency: checksAtOnce }
    )
  })

  return Connections.of({ list, get, create, update, remove, test, models, validateKey, checkAll })
})

export const layer: Layer.Layer<
  Connections,
  never,
  | Catalog
  | ConfigChanges
  | ConnectionRecords
  | ConnectionRepo
  | Cooldowns
  | Flags
  | IdGen
  | ObservedState
  | OperatorSpending
  | ProviderCalls
  | ProxyPlan
> = Layer.effect(Connections, make)
