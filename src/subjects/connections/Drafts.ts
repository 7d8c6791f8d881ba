/**
 * A connection as it would be stored: every check of its content that saving makes, and nothing stored. Creating, changing and validating
 * begin here, so that what was validated is what is stored.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { CreateConnection, UpdateConnection, ValidateConnection } from "./routes.ts"
import { type Connection, type ConnectionSettings, healthy } from "./entity.ts"
import type { ProviderSpec } from "../../contract/domain/Provider.ts"
import type { StoreError } from "../../store/Errors.ts"
import type * as Flags from "../flags/service.ts"
import type * as Catalog from "../../plane/providers/Catalog.ts"
import { candidateId, type Draft } from "../../plane/providers/ProviderCalls.ts"
import type * as ProxyPlan from "../../plane/providers/ProxyPlan.ts"
import * as Errors from "../Errors.ts"
import { connectionMoveProblem } from "./CredentialBinding.ts"
import type * as ConnectionRepo from "./repo.ts"
import * as Rules from "./rules.ts"

export interface DraftServices {
  readonly catalog: Pick<typeof Catalog.Catalog.Service, "current">
  readonly flags: Pick<typeof Flags.Flags.Service, "isOn">
  readonly proxies: Pick<typeof ProxyPlan.ProxyPlan.Service, "has">
  readonly repo: Pick<typeof ConnectionRepo.ConnectionRepo.Service, "get">
}

type Stored = Effect.Effect.Success<ReturnType<DraftServices["repo"]["get"]>> & {}

export const specOf = (
  { catalog }: Pick<DraftServices, "catalog">,
  provider: string
): Effect.Effect<ProviderSpec, Errors.InvalidInput> => {
  const spec = catalog.current().provider(provider)
  return spec === null ? Errors.unknownProvider(provider) : Effect.succeed(spec)
}

export const isNode = ({ catalog }: Pick<DraftServices, "catalog">, spec: ProviderSpec): boolean =>
  catalog.current().nodes.some((node) => node.prefix === spec.id)

/** Finds any connection, also one from the environment. */
export const find = (
  { catalog }: Pick<DraftServices, "catalog">,
  id: string
): Effect.Effect<Connection, Errors.EntityNotFound> => {
  const connection = catalog.current().connections.find((candidate) => candidate.id === id)
  return connection === undefined ? new Errors.EntityNotFound({ entity: "connection", id }) : Effect.succeed(connection)
}

/** Finds one that can be changed: those from the environment cannot. */
export const findStored = Effect.fnUntraced(function* (services: Pick<DraftServices, "catalog" | "repo">, id: string) {
  const connection = yield* services.repo.get(id)
  if (connection !== null) return connection
  yield* find(services, id)
  return yield* new Errors.ReadOnly({
    code: "forbidden",
    message:
      "This connection comes from the environment and is read-only. Change the variable, or add a connection of your own."
  })
})

/** Null and absent name none. */
const checkProxy = (
  { proxies }: DraftServices,
  proxyId: string | null | undefined
): Effect.Effect<void, Errors.EntityNotFound> =>
  proxyId == null || proxies.has(proxyId)
    ? Effect.void
    : new Errors.EntityNotFound({ entity: "proxy", id: proxyId, field: "proxyId" })

/** Settings of a new connection of a provider. `isOfNode`: an operator has added that provider. */
export const newSettings = Effect.fnUntraced(function* (
  services: DraftServices,
  input: CreateConnection,
  { isOfNode, spec }: { readonly spec: ProviderSpec; readonly isOfNode: boolean }
) {
  yield* Errors.refuseOne(Rules.twoLimitsProblem(input))
  const settings = Rules.settingsOf(input, spec)
  const facts = { isNode: isOfNode, hasLockedSecret: false, isOn: services.flags.isOn }
  yield* Errors.refuseOne(Rules.problemOf(settings, spec, facts))
  yield* checkProxy(services, input.proxyId)
  return settings
})

/** Settings of a stored connection after a change. */
export const changedSettings = Effect.fnUntraced(function* (
  services: DraftServices,
  before: Stored,
  input: UpdateConnection
) {
  const spec = yield* specOf(services, before.provider)
  if (input.provider !== undefined && (yield* specOf(services, input.provider)).id !== spec.id) {
    return yield* Errors.invalid("provider", "cannot be changed; add another connection instead")
  }
  yield* Errors.refuseOne(Rules.twoLimitsProblem(input))
  const settings = Rules.changed(before, input)
  const facts = { isNode: isNode(services, spec), hasLockedSecret: before.locked, isOn: services.flags.isOn }
  yield* Errors.refuseOne(Rules.problemOf(settings, spec, facts))
  yield* checkProxy(services, input.proxyId)
  yield* Errors.refuseOne(connectionMoveProblem(before, settings, spec))
  return { settings, spec }
})

const candidate = (settings: ConnectionSettings): Connection => ({
  ...settings,
  ...healthy,
  id: candidateId,
  source: "db",
  createdAtMs: 0,
  updatedAtMs: 0
})

/** A proxy that is named counts before an assigned one; null takes the assigned one away. */
const byProxy = (connection: Connection, proxyId: string | null | undefined): Connection =>
  proxyId === undefined ? connection : { ...connection, unsavedProxyId: proxyId }

const fresh = Effect.fnUntraced(function* (
  services: DraftServices,
  input: Omit<ValidateConnection, "connectionId" | "node" | "question">,
  added: ProviderSpec | null
) {
  const provider = input.provider ?? added?.id
  if (provider === undefined) {
    return yield* Errors.invalid("provider", "is missing; name a provider, or the connection that is to be changed")
  }
  if (added !== null && provider !== added.id) {
    return yield* Errors.invalid("provider", `must be '${added.id}', the prefix of the node, or be left out`)
  }
  const spec = added ?? (yield* specOf(services, provider))
  const isOfNode = added !== null || isNode(services, spec)
  const settings = yield* newSettings(services, { ...input, provider }, { spec, isOfNode })
  return { connection: byProxy(candidate(settings), input.proxyId), spec, isStoredLogin: false }
})

export type DraftRefused = Errors.InvalidInput | Errors.EntityNotFound | Errors.ReadOnly | StoreError

/**
 * The draft that a body means: a new connection, or a stored one after a change. `added` is the provider of a node that is not stored. Stored
 * secrets go to their own address only.
 */
export const draftOf = Effect.fn("Connections.draftOf")(function* (
  services: DraftServices,
  { connectionId, node: _node, ...input }: Omit<ValidateConnection, "question">,
  added: ProviderSpec | null
): Effect.fn.Return<Draft, DraftRefused> {
  if (connectionId === undefined) return yield* fresh(services, input, added)
  if (added !== null) {
    return yield* Errors.invalid("node", "is for a new connection; that of a stored one is changed by itself")
  }
  const before = yield* findStored(services, connectionId)
  const { settings, spec } = yield* changedSettings(services, before, input)
  const isStoredLogin = settings.oauth !== null && settings.oauth === before.oauth
  const connection: Connection = { ...before, ...settings, updatedAtMs: yield* Clock.currentTimeMillis }
  return { connection: byProxy(connection, input.proxyId), spec, isStoredLogin }
})
