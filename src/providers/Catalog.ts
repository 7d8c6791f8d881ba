/**
 * The ready snapshot of everything a request may be routed to: accounts by provider, combos by name, the listed models.
 * Built once and again on every change, never per request; the request path only reads `current()`.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Combo } from "../domain/Combo.ts"
import type { Connection } from "../domain/Connection.ts"
import type { ProviderSpec } from "../domain/Provider.ts"
import type { ProviderNode } from "../domain/ProviderNode.ts"
import type { WireName } from "../domain/Wire.ts"
import * as AppConfig from "../platform/AppConfig.ts"
import * as ComboRepo from "../store/repo/ComboRepo.ts"
import * as ConnectionRepo from "../store/repo/ConnectionRepo.ts"
import * as NodeRepo from "../store/repo/NodeRepo.ts"
import * as ProviderModelRepo from "../store/repo/ProviderModelRepo.ts"
import type { DeclaredModel } from "../store/repo/ProviderModelRepo.ts"
import type { StoreError } from "../store/Errors.ts"
import { endpointOf, type UpstreamEndpoint } from "./Endpoints.ts"
import { envConnections } from "./EnvConnections.ts"
import * as ModelLists from "./ModelLists.ts"
import * as Registry from "./Registry.ts"

/** One connection with what is needed to call it, worked out beforehand. */
export interface Account {
  readonly connection: Connection
  readonly spec: ProviderSpec
  /** Wires this account speaks, preferred first; only those with a usable endpoint. */
  readonly wires: ReadonlyArray<WireName>
  readonly endpoints: Readonly<Partial<Record<WireName, UpstreamEndpoint>>>
}

/** Everything secret about a connection, in clear: only to be taken out of texts, never to be shown or kept. */
export const secretsOf = ({ apiKey, headers, oauth }: Connection): ReadonlyArray<string> => [
  ...(apiKey === null ? [] : [Redacted.value(apiKey)]),
  ...(oauth === null ? [] : [Redacted.value(oauth.accessToken)]),
  ...Object.values(headers ?? {})
]

export interface CatalogSnapshot {
  /** Active accounts, in the order they are tried: priority, then age. */
  readonly accounts: ReadonlyArray<Account>
  readonly byProvider: ReadonlyMap<string, ReadonlyArray<Account>>
  readonly byConnection: ReadonlyMap<string, Account>
  /** Every provider known by id, alias or node prefix, connected or not. */
  readonly provider: (idOrAlias: string) => ProviderSpec | null
  /** Active combos by name. */
  readonly combos: ReadonlyMap<string, Combo>
  /** Every connection, active or not, also those from the environment. */
  readonly connections: ReadonlyArray<Connection>
  readonly nodes: ReadonlyArray<ProviderNode>
  /** What the operator declared about models: provider id → model id → declaration. It wins over what was learned. */
  readonly declared: ReadonlyMap<string, ReadonlyMap<string, DeclaredModel>>
}

/** What is known of a model where a request must be written for it. Null: not known. */
export interface ModelFacts {
  /** Tokens. */
  readonly maxOutputTokens: number | null
  readonly reasoning: boolean | null
}

export class Catalog extends Context.Tag("gateway/providers/Catalog")<
  Catalog,
  {
    /** Hot: the snapshot in force. */
    readonly current: () => CatalogSnapshot
    /** Reads the store again and swaps the snapshot. */
    readonly refresh: Effect.Effect<void, StoreError>
    /** Models an account can be asked for without a round trip: declared, learned, then the registry's. */
    readonly modelsOf: (account: Account) => ReadonlyArray<string>
    /** Everything known about an account's models, by id. */
    readonly describe: (account: Account) => ReadonlyMap<string, ModelLists.ListedModel>
    readonly factsOf: (account: Account, model: string) => ModelFacts
  }
>() {}

const byPriority = (a: Connection, b: Connection): number =>
  a.priority - b.priority || a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1)

const accountOf = (connection: Connection, spec: ProviderSpec): Account => {
  const endpoints: Partial<Record<WireName, UpstreamEndpoint>> = {}
  const wires: Array<WireName> = []
  for (const wire of connection.wires ?? spec.wires) {
    const endpoint = endpointOf(spec, connection, wire)
    if (endpoint._tag === "Left") continue
    endpoints[wire] = endpoint.right
    wires.push(wire)
  }
  return { connection, spec, wires, endpoints }
}

/** Puts a snapshot together. Pure, so that its rules can be tested without a store. */
export const snapshot = (
  connections: ReadonlyArray<Connection>,
  nodes: ReadonlyArray<ProviderNode>,
  combos: ReadonlyArray<Combo>,
  declaredModels: ReadonlyArray<DeclaredModel> = []
): CatalogSnapshot => {
  const declared = new Map<string, Map<string, DeclaredModel>>()
  for (const model of declaredModels) {
    const ofProvider = declared.get(model.provider)
    if (ofProvider === undefined) declared.set(model.provider, new Map([[model.modelId, model]]))
    else ofProvider.set(model.modelId, model)
  }
  const nodeSpecs = new Map(nodes.map((node) => [node.prefix, Registry.fromNode(node)]))
  const provider = (idOrAlias: string): ProviderSpec | null => nodeSpecs.get(idOrAlias) ?? Registry.find(idOrAlias)

  const accounts: Array<Account> = []
  const byProvider = new Map<string, Array<Account>>()
  for (const connection of connections.toSorted(byPriority)) {
    const spec = connection.isActive ? provider(connection.provider) : null
    if (spec === null) continue
    const account = accountOf(connection, spec)
    if (account.wires.length === 0) continue
    accounts.push(account)
    const siblings = byProvider.get(spec.id)
    if (siblings === undefined) byProvider.set(spec.id, [account])
    else siblings.push(account)
  }
  return {
    accounts,
    byProvider,
    byConnection: new Map(accounts.map((account) => [account.connection.id, account])),
    provider,
    combos: new Map(combos.filter((combo) => combo.isActive).map((combo) => [combo.name, combo])),
    connections,
    nodes,
    declared
  }
}

export const make = Effect.gen(function* () {
  const config = yield* AppConfig.AppConfig
  const connectionRepo = yield* ConnectionRepo.ConnectionRepo
  const nodeRepo = yield* NodeRepo.NodeRepo
  const comboRepo = yield* ComboRepo.ComboRepo
  const modelRepo = yield* ProviderModelRepo.ProviderModelRepo
  const modelLists = yield* ModelLists.ModelLists

  const fromEnvironment = config.envConnections
    ? envConnections(config.environment, yield* Clock.currentTimeMillis)
    : []

  const load = Effect.gen(function* () {
    const stored = yield* connectionRepo.list
    const nodes = yield* nodeRepo.list
    const combos = yield* comboRepo.list
    return snapshot([...stored, ...fromEnvironment], nodes, combos, yield* modelRepo.list)
  })

  let current = yield* load
  const refresh = Effect.map(load, (next) => {
    current = next
  }).pipe(Effect.withSpan("Catalog.refresh"))

  const modelsOf = (account: Account): ReadonlyArray<string> => {
    const { defaultModel, models } = account.connection
    const learned = modelLists.known(account.connection.id)
    const listed = models.length > 0 ? models : learned.length > 0 ? learned : account.spec.models
    const known = defaultModel === null || listed.includes(defaultModel) ? listed : [defaultModel, ...listed]
    const declared = current.declared.get(account.spec.id)
    if (declared === undefined) return known
    const all = new Set([...known, ...declared.keys()])
    return [...all].filter((model) => declared.get(model)?.hidden !== true)
  }

  const describe = (account: Account): ReadonlyMap<string, ModelLists.ListedModel> => {
    const known = new Map(modelLists.details(account.connection.id).map((listed) => [listed.id, listed]))
    for (const [id, declared] of current.declared.get(account.spec.id) ?? []) {
      const learned = known.get(id)
      known.set(id, {
        id,
        name: declared.name ?? learned?.name ?? null,
        contextLength: declared.contextLength ?? learned?.contextLength ?? null,
        maxOutputTokens: declared.maxOutputTokens ?? learned?.maxOutputTokens ?? null
      })
    }
    return known
  }

  const factsOf = (account: Account, model: string): ModelFacts => {
    const declared = current.declared.get(account.spec.id)?.get(model)
    const learned = modelLists.details(account.connection.id).find((listed) => listed.id === model)
    return {
      maxOutputTokens: declared?.maxOutputTokens ?? learned?.maxOutputTokens ?? null,
      reasoning: declared?.capabilities.reasoning ?? null
    }
  }

  return Catalog.of({ current: () => current, refresh, modelsOf, describe, factsOf })
})

export const layer: Layer.Layer<
  Catalog,
  StoreError,
  | AppConfig.AppConfig
  | ConnectionRepo.ConnectionRepo
  | NodeRepo.NodeRepo
  | ProviderModelRepo.ProviderModelRepo
  | ComboRepo.ComboRepo
  | ModelLists.ModelLists
> = Layer.effect(Catalog, make)
