/**
 * The ready snapshot of everything a request may be routed to: accounts by provider, combos by name, the listed models.
 * Built once and again on every change, never per request; the request path only reads `current()`.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { LruMap } from "../../kernel/collections/LruMap.ts"
import { type Lane, makeLane } from "../../kernel/Lane.ts"
import { routable, type RoutableCombo } from "../../subjects/combos/entity/RoutableCombo.ts"
import type { Combo } from "../../subjects/combos/entity.ts"
import type { Connection, SecretHeaders } from "../../subjects/connections/entity.ts"
import type { ProviderSpec } from "../../contract/domain/Provider.ts"
import type { ProviderNode } from "../../subjects/nodes/entity.ts"
import type { QuotaGroup } from "../../subjects/quotaGroups/entity.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import { isSecretHeader } from "../../kernel/text/Masking.ts"
import { secretParts } from "../../kernel/secrets/Scrub.ts"
import * as AppConfig from "../../platform/AppConfig.ts"
import * as AliasRepo from "../../subjects/aliases/repo.ts"
import { Snapshots } from "../../store/Snapshots.ts"
import * as ComboRepo from "../../subjects/combos/repo.ts"
import * as ConnectionRepo from "../../subjects/connections/repo.ts"
import * as NodeRepo from "../../subjects/nodes/repo.ts"
import * as ProviderModelRepo from "../../subjects/models/repo.ts"
import type { DeclaredModel } from "../../subjects/models/repo.ts"
import * as QuotaGroupRepo from "../../subjects/quotaGroups/repo.ts"
import type { StoreError } from "../../store/Errors.ts"
import { endpointOf, type UpstreamEndpoint } from "./Endpoints.ts"
import { envConnections, mistakenVariables } from "./EnvConnections.ts"
import { layFacts, type ModelFacts, settleFacts, unknownFacts } from "./ModelFacts.ts"
import { factsOfName } from "./ModelFamilies.ts"
import * as ModelLists from "./ModelLists.ts"
import { isReplaced, renewed, type Replacement } from "./TokenReplacement.ts"
import * as PublishedWindows from "./PublishedWindows.ts"
import * as Registry from "./Registry.ts"

export type { ModelFacts } from "./ModelFacts.ts"

/** One connection with what is needed to call it, worked out beforehand. */
export interface Account {
  readonly connection: Connection
  readonly spec: ProviderSpec
  /** Wires this account speaks, preferred first; only those with a usable endpoint. */
  readonly wires: ReadonlyArray<WireName>
  readonly endpoints: Readonly<Partial<Record<WireName, UpstreamEndpoint>>>
}

const secretHeaders = (headers: SecretHeaders | null): ReadonlyArray<string> =>
  Object.entries(headers ?? {}).flatMap(([name, redacted]) => {
    const value = Redacted.value(redacted)
    // A short value of a plain header (`true`, `v2`) is an ordinary word.
    return value.length >= 8 || isSecretHeader(name, value) ? secretParts(value) : []
  })

/**
 * Everything secret about a connection and the node it belongs to, in clear: only to be taken out of texts, never to be shown or kept.
 */
export const secretsOf = (
  { apiKey, headers, oauth }: Connection,
  node: Pick<ProviderSpec, "ownHeaders"> | null
): ReadonlyArray<string> => [
  ...[apiKey, oauth?.accessToken, oauth?.refreshToken, oauth?.clientSecret].flatMap((secret) =>
    secret === null || secret === undefined ? [] : [Redacted.value(secret)]
  ),
  ...secretHeaders(headers),
  ...secretHeaders(node?.ownHeaders ?? null)
]

export interface CatalogSnapshot {
  /** Active accounts, in the order they are tried: priority, then age. */
  readonly accounts: ReadonlyArray<Account>
  readonly byProvider: ReadonlyMap<string, ReadonlyArray<Account>>
  readonly byConnection: ReadonlyMap<string, Account>
  /** Every provider known by id, alias or node prefix, connected or not. */
  readonly provider: (idOrAlias: string) => ProviderSpec | null
  /** Active combos by name. */
  readonly combos: ReadonlyMap<string, RoutableCombo>
  /** Every connection, active or not, also those from the environment. */
  readonly connections: ReadonlyArray<Connection>
  readonly nodes: ReadonlyArray<ProviderNode>
  /**
   * Operator's declarations about models: provider id → model id → declaration. They take precedence over learned
   * facts.
   */
  readonly declared: ReadonlyMap<string, ReadonlyMap<string, DeclaredModel>>
  /** Alias → the id it stands for. */
  readonly aliases: ReadonlyMap<string, string>
  /** Quota groups by name. */
  readonly quotaGroups: ReadonlyMap<string, QuotaGroup>
}

export class Catalog extends Context.Tag("gateway/plane/providers/Catalog")<
  Catalog,
  {
    /** Hot: the snapshot in force. */
    readonly current: () => CatalogSnapshot
    /** Reads the store again and swaps the snapshot. */
    readonly refresh: Effect.Effect<void, StoreError>
    /** Adds a listener that is called after every refresh, synchronously; returns the function that removes it. */
    readonly onChange: (listener: () => void) => () => void
    /** Puts renewed tokens into the snapshot, unless an operator's are there; synchronous. A reload does not bring back the old ones. */
    readonly replaceTokens: (connectionId: string, replacement: Replacement) => void
    /** Models an account can be asked for without a round trip: declared, learned, then the registry's. */
    readonly modelsOf: (account: Account) => ReadonlyArray<string>
    /**
     * Hot: collects everything known about an account's model: declared, learned, derived from its name, published; in this
     * order.
     */
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

/**
 * Objects made of rows and lists, for as long as those stay the same objects: most of them do from one snapshot to the
 * next.
 */
const madeAccounts = new WeakMap<Connection, Account>()
const madeSpecs = new WeakMap<ProviderNode, ProviderSpec>()
const madeCombos = new WeakMap<Combo, RoutableCombo>()
const madeDeclared = new WeakMap<ReadonlyArray<DeclaredModel>, CatalogSnapshot["declared"]>()

const knownAccount = (connection: Connection, spec: ProviderSpec): Account => {
  const made = madeAccounts.get(connection)
  if (made?.spec === spec) return made
  const account = accountOf(connection, spec)
  madeAccounts.set(connection, account)
  return account
}

const knownSpec = (node: ProviderNode): ProviderSpec => {
  const made = madeSpecs.get(node)
  if (made !== undefined) return made
  const spec = Registry.fromNode(node)
  madeSpecs.set(node, spec)
  return spec
}

const knownCombo = (combo: Combo): RoutableCombo => {
  const made = madeCombos.get(combo)
  if (made !== undefined) return made
  const decoded = routable(combo)
  madeCombos.set(combo, decoded)
  return decoded
}

const knownDeclared = (models: ReadonlyArray<DeclaredModel>): CatalogSnapshot["declared"] => {
  const made = madeDeclared.get(models)
  if (made !== undefined) return made
  const declared = new Map<string, Map<string, DeclaredModel>>()
  for (const model of models) {
    const ofProvider = declared.get(model.provider)
    if (ofProvider === undefined) declared.set(model.provider, new Map([[model.modelId, model]]))
    else ofProvider.set(model.modelId, model)
  }
  madeDeclared.set(models, declared)
  return declared
}

/** Names of models that are declared beside the connections. */
export interface NamedModels {
  readonly declaredModels?: ReadonlyArray<DeclaredModel>
  readonly aliases?: ReadonlyArray<AliasRepo.ModelAlias>
  readonly quotaGroups?: ReadonlyArray<QuotaGroup>
}

/** The snapshot as it would be with a combo that is not stored, in the place of a stored one of its id. An inactive one is not there. */
export const withCombo = (current: CatalogSnapshot, combo: Combo): CatalogSnapshot => {
  const combos = new Map([...current.combos].filter(([name, { id }]) => id !== combo.id && name !== combo.name))
  if (combo.isActive) combos.set(combo.name, knownCombo(combo))
  return { ...current, combos }
}

/** Puts a snapshot together. Pure, so that its rules can be tested without a store. */
export const snapshot = (
  connections: ReadonlyArray<Connection>,
  nodes: ReadonlyArray<ProviderNode>,
  combos: ReadonlyArray<Combo>,
  { aliases = [], declaredModels = [], quotaGroups = [] }: NamedModels = {}
): CatalogSnapshot => {
  const nodeSpecs = new Map(nodes.map((node) => [node.prefix, knownSpec(node)]))
  const provider = (idOrAlias: string): ProviderSpec | null => nodeSpecs.get(idOrAlias) ?? Registry.find(idOrAlias)

  const accounts: Array<Account> = []
  const byProvider = new Map<string, Array<Account>>()
  for (const connection of connections.toSorted(byPriority)) {
    const spec = connection.isActive ? provider(connection.provider) : null
    if (spec === null) continue
    const account = knownAccount(connection, spec)
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
    combos: new Map(combos.filter((combo) => combo.isActive).map((combo) => [combo.name, knownCombo(combo)])),
    connections,
    nodes,
    declared: knownDeclared(declaredModels),
    aliases: new Map(aliases.map(({ alias, model }) => [alias, model])),
    quotaGroups: new Map(quotaGroups.map((group) => [group.name, group]))
  }
}

/** The connection with new tokens in the place of the replaced ones; with any others it stays as it is. */
const withTokens = (connection: Connection, replacement: Replacement): Connection =>
  connection.oauth !== null && isReplaced(replacement, connection.oauth)
    ? { ...connection, oauth: renewed(connection.oauth, replacement) }
    : connection

/** The snapshot with one connection changed in what does not concern its place among the others. */
const withConnection = (before: CatalogSnapshot, connection: Connection): CatalogSnapshot => {
  const connections = before.connections.map((other) => (other.id === connection.id ? connection : other))
  const account = before.byConnection.get(connection.id)
  if (account === undefined) return { ...before, connections }
  const changed = accountOf(connection, account.spec)
  const swapped = (accounts: ReadonlyArray<Account>) => accounts.map((other) => (other === account ? changed : other))
  return {
    ...before,
    connections,
    accounts: swapped(before.accounts),
    byProvider: new Map(before.byProvider).set(account.spec.id, swapped(before.byProvider.get(account.spec.id) ?? [])),
    byConnection: new Map(before.byConnection).set(connection.id, changed)
  }
}

/** Ids may be whatever clients make up, so what is remembered has a limit. */
const factsPerAccount = 10_000

const declaredFacts = ({ capabilities, contextLength, maxOutputTokens, name }: DeclaredModel): ModelFacts => ({
  ...unknownFacts,
  name,
  contextLength,
  maxOutputTokens,
  vision: capabilities.vision ?? null,
  reasoning: capabilities.reasoning ?? null,
  toolCalling: capabilities.toolCalling ?? null,
  structuredOutput: capabilities.structuredOutput ?? null,
  noThinkingAlias: capabilities.noThinkingAlias ?? null
})

const services = Effect.all({
  config: AppConfig.AppConfig,
  connectionRepo: ConnectionRepo.ConnectionRepo,
  nodeRepo: NodeRepo.NodeRepo,
  comboRepo: ComboRepo.ComboRepo,
  modelRepo: ProviderModelRepo.ProviderModelRepo,
  aliasRepo: AliasRepo.AliasRepo,
  groupRepo: QuotaGroupRepo.QuotaGroupRepo,
  modelLists: ModelLists.ModelLists
})
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly fromEnvironment: ReadonlyArray<Connection>
  readonly replacements: Map<string, Replacement>
  readonly listeners: Set<() => void>
  readonly published: PublishedWindows.PublishedWindows
  readonly reading: Lane
  current: CatalogSnapshot
  /** Sources of the remembered facts and lists. */
  rememberedFrom: { declared: CatalogSnapshot["declared"]; revision: number }
  factsByAccount: WeakMap<Account, LruMap<string, ModelFacts>>
  modelsByAccount: WeakMap<Account, ReadonlyArray<string>>
}

const withRenewed = (
  { replacements }: Pick<Deps, "replacements">,
  stored: ReadonlyArray<Connection>
): ReadonlyArray<Connection> => {
  if (replacements.size === 0) return stored
  const kept = new Set(stored.map(({ id }) => id))
  for (const id of replacements.keys()) if (!kept.has(id)) replacements.delete(id)
  return stored.map((connection) => {
    const replacement = replacements.get(connection.id)
    return replacement === undefined ? connection : withTokens(connection, replacement)
  })
}

const onChange = ({ listeners }: Deps, listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

const replaceTokens = (deps: Deps, connectionId: string, replacement: Replacement): void => {
  const connection = deps.current.connections.find(({ id }) => id === connectionId)
  const changed = connection === undefined ? connection : withTokens(connection, replacement)
  if (changed === undefined || changed === connection) return
  deps.replacements.set(connectionId, replacement)
  deps.current = withConnection(deps.current, changed)
}

/** An account may outlive its snapshot, and declarations and learned lists change under it. */
const forgetWhenOld = (deps: Deps): void => {
  const revision = deps.modelLists.revision()
  if (deps.rememberedFrom.declared === deps.current.declared && deps.rememberedFrom.revision === revision) return
  deps.factsByAccount = new WeakMap()
  deps.modelsByAccount = new WeakMap()
  deps.rememberedFrom = { declared: deps.current.declared, revision }
}

const listModels = (deps: Deps, account: Account): ReadonlyArray<string> => {
  const { defaultModel, models } = account.connection
  const learned = deps.modelLists.known(account.connection.id)
  const listed = models.length > 0 ? models : learned.length > 0 ? learned : account.spec.models
  const known = defaultModel === null || listed.includes(defaultModel) ? listed : [defaultModel, ...listed]
  const declared = deps.current.declared.get(account.spec.id)
  if (declared === undefined) return known
  const all = new Set([...known, ...declared.keys()])
  return [...all].filter((model) => declared.get(model)?.hidden !== true)
}

const modelsOf = (deps: Deps, account: Account): ReadonlyArray<string> => {
  forgetWhenOld(deps)
  const remembered = deps.modelsByAccount.get(account)
  if (remembered !== undefined) return remembered
  const models = listModels(deps, account)
  deps.modelsByAccount.set(account, models)
  return models
}

const gather = (deps: Deps, account: Account, model: string): ModelFacts => {
  const { modelLists, published } = deps
  const declared = deps.current.declared.get(account.spec.id)?.get(model)
  const learned = modelLists.find(account.connection.id, model) ?? unknownFacts
  const undeclared = layFacts(learned, factsOfName(model))
  const known = declared === undefined ? undeclared : layFacts(declaredFacts(declared), undeclared)
  return settleFacts({
    ...known,
    // The family's fact does not count for a model that is known not to reason.
    noThinkingAlias:
      declared?.capabilities.noThinkingAlias ?? (known.reasoning === false ? false : known.noThinkingAlias),
    contextLength: known.contextLength ?? published.find(account.spec.id, model)
  })
}

const factsOf = (deps: Deps, account: Account, model: string): ModelFacts => {
  forgetWhenOld(deps)
  let ofAccount = deps.factsByAccount.get(account)
  if (ofAccount === undefined) {
    ofAccount = new LruMap({ capacity: factsPerAccount })
    deps.factsByAccount.set(account, ofAccount)
  }
  const remembered = ofAccount.peek(model)
  if (remembered !== undefined) return remembered
  const facts = gather(deps, account, model)
  ofAccount.set(model, facts)
  return facts
}

/** Reads what is stored. The snapshot is put together in the turn in which it is put in force, so that no tokens are renewed in between. */
const load = Effect.fnUntraced(function* (deps: Omit<Deps, "current" | "reading" | "rememberedFrom" | "published">) {
  const stored = yield* deps.connectionRepo.list
  const nodes = yield* deps.nodeRepo.list
  const combos = yield* deps.comboRepo.list
  const declaredModels = yield* deps.modelRepo.list
  const aliases = yield* deps.aliasRepo.list
  const quotaGroups = yield* deps.groupRepo.list
  return () =>
    snapshot([...withRenewed(deps, stored), ...deps.fromEnvironment], nodes, combos, {
      declaredModels,
      aliases,
      quotaGroups
    })
})

/** One after the other: what was read before a change would be put in force after it. */
const refresh = (deps: Deps): Effect.Effect<void, StoreError> =>
  Effect.map(load(deps), (next) => {
    deps.current = next()
    for (const listener of deps.listeners) listener()
  }).pipe(deps.reading.inTurn, Effect.withSpan("Catalog.refresh"))

export const make = Effect.gen(function* () {
  const all = yield* services
  const { envConnections: isRead, environment } = all.config
  const fromEnvironment = isRead ? envConnections(environment, yield* Clock.currentTimeMillis) : []
  const mistaken = isRead ? mistakenVariables(environment) : []
  if (mistaken.length > 0) {
    yield* Effect.logWarning(
      `Not used, because they hold a key of a gateway and not of a provider: ${[...new Set(mistaken)].join(", ")}`
    )
  }
  const empty = {
    ...all,
    fromEnvironment,
    replacements: new Map<string, Replacement>(),
    listeners: new Set<() => void>(),
    factsByAccount: new WeakMap<Account, LruMap<string, ModelFacts>>(),
    modelsByAccount: new WeakMap<Account, ReadonlyArray<string>>()
  }
  const first = (yield* load(empty))()
  const deps: Deps = {
    ...empty,
    reading: makeLane(1),
    current: first,
    rememberedFrom: { declared: first.declared, revision: all.modelLists.revision() },
    published: yield* PublishedWindows.load
  }
  yield* (yield* Snapshots).register(
    ["connections", "provider_nodes", "combos", "model_aliases", "provider_models", "quota_groups", "model_lists"],
    () => refresh(deps)
  )

  return Catalog.of({
    current: () => deps.current,
    refresh: refresh(deps),
    onChange: (listener) => onChange(deps, listener),
    replaceTokens: (connectionId, replacement) => replaceTokens(deps, connectionId, replacement),
    modelsOf: (account) => modelsOf(deps, account),
    factsOf: (account, model) => factsOf(deps, account, model)
  })
})

export const layer: Layer.Layer<Catalog, StoreError, Effect.Effect.Context<typeof services>> = Layer.effect(
  Catalog,
  make
)
