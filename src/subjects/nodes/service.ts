/** Provider nodes: endpoints the operator added, and their connections. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { CreateNode, UpdateNode } from "./routes.ts"
import type { ProviderNode } from "./entity.ts"
import type { ProviderSpec } from "../../contract/domain/Provider.ts"
import { fromNode } from "../../plane/providers/Registry.ts"
import { Flags } from "../flags/service.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { Catalog } from "../../plane/providers/Catalog.ts"
import { Breakers } from "../../plane/resilience/breaker/Breakers.ts"
import { Lockouts } from "../../plane/resilience/lockout/Lockouts.ts"
import type { StoreError } from "../../store/Errors.ts"
import { ConnectionRepo } from "../connections/repo.ts"
import { NodeRepo } from "./repo.ts"
import { ConfigChanges } from "../ConfigChanges.ts"
import { ConnectionRecords } from "../connections/ConnectionRecords.ts"
import { addressProblem, gatewayKeyProblem } from "../connections/rules.ts"
import { nodeMove } from "../connections/CredentialBinding.ts"
import * as Errors from "../Errors.ts"
import * as Rules from "./rules.ts"

export class ProviderNodes extends Context.Tag("gateway/subjects/nodes/ProviderNodes")<
  ProviderNodes,
  {
    readonly list: Effect.Effect<ReadonlyArray<ProviderNode>>
    readonly get: (id: string) => Effect.Effect<ProviderNode, Errors.EntityNotFound | StoreError>
    /** The provider that a new node would be, after every check of saving it. Nothing is stored. */
    readonly draft: (input: CreateNode) => Effect.Effect<ProviderSpec, Errors.InvalidInput | Errors.StateConflict>
    readonly create: (
      input: CreateNode
    ) => Effect.Effect<ProviderNode, Errors.InvalidInput | Errors.StateConflict | StoreError>
    /** `apiKey` becomes the key of the node's one connection; a change of address needs it. */
    readonly update: (
      id: string,
      input: UpdateNode
    ) => Effect.Effect<ProviderNode, Errors.EntityNotFound | Errors.InvalidInput | Errors.StateConflict | StoreError>
    /** Removes the node and its connections, which would lead nowhere without it. */
    readonly remove: (id: string) => Effect.Effect<void, Errors.EntityNotFound | StoreError>
  }
>() {}

const prefixTaken = (prefix: string) => () => Errors.conflict(`Another node has the prefix '${prefix}'.`, "prefix")

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog
  const repo = yield* NodeRepo
  const connections = yield* ConnectionRepo
  const records = yield* ConnectionRecords
  const breakers = yield* Breakers
  const lockouts = yield* Lockouts
  const flags = yield* Flags
  const ids = yield* IdGen
  const { apply } = yield* ConfigChanges

  const find = Effect.fnUntraced(function* (id: string) {
    return (yield* repo.get(id)) ?? (yield* new Errors.EntityNotFound({ entity: "provider node", id }))
  })
  const connectionsOf = (prefix: string) =>
    catalog.current().connections.filter((connection) => connection.provider === prefix)

  const checkPrefix = (prefix: string): Effect.Effect<void, Errors.InvalidInput | Errors.StateConflict> =>
    Rules.prefixProblem(prefix) ?? Effect.void

  const checkAddress = (baseUrl: string) => Errors.refuseOne(addressProblem("baseUrl", baseUrl, flags.isOn))

  const checkType = (type: ProviderNode["type"]) => Errors.refuseOne(Rules.typeProblem(type, flags.isOn))

  const get = Effect.fn("ProviderNodes.get")(find)

  /** Settings of a new node, after every check that saving makes of its content. */
  const checkedSettings = Effect.fnUntraced(function* (input: CreateNode) {
    yield* checkPrefix(input.prefix)
    yield* checkAddress(input.baseUrl)
    yield* checkType(input.type)
    return Rules.settingsOf(input)
  })

  const draft = Effect.fn("ProviderNodes.draft")(function* (input: CreateNode) {
    const settings = yield* checkedSettings(input)
    if (catalog.current().nodes.some(({ prefix }) => prefix === settings.prefix)) {
      return yield* prefixTaken(settings.prefix)()
    }
    return fromNode({ ...settings, id: settings.prefix, createdAtMs: 0, updatedAtMs: 0 })
  })

  const create = Effect.fn("ProviderNodes.create")(function* (input: CreateNode) {
    const settings = yield* checkedSettings(input)
    const nowMs = yield* Clock.currentTimeMillis
    const node: ProviderNode = {
      ...settings,
      id: ids.next(nowMs),
      createdAtMs: nowMs,
      updatedAtMs: nowMs
    }
    yield* Effect.catchTag(repo.insert(node), "AlreadyStored", prefixTaken(node.prefix))
    return node
  }, apply)

  const update = Effect.fn("ProviderNodes.update")(function* (id: string, input: UpdateNode) {
    const before = yield* find(id)
    const node: ProviderNode = { ...Rules.changed(before, input), updatedAtMs: yield* Clock.currentTimeMillis }
    if (node.prefix !== before.prefix) {
      yield* checkPrefix(node.prefix)
      if (connectionsOf(before.prefix).length > 0) {
        return yield* Errors.conflict(`The prefix '${before.prefix}' has connections and cannot be changed.`, "prefix")
      }
    }
    yield* checkAddress(node.baseUrl)
    if (node.type !== before.type) yield* checkType(node.type)
    const { apiKey } = input
    yield* Errors.refuseOne(gatewayKeyProblem("apiKey", apiKey ?? null))
    const ofNode = (yield* connections.list).filter(({ provider }) => provider === before.prefix)
    const move = nodeMove(before, node, ofNode, apiKey !== undefined)
    if (move._tag === "Refused") return yield* new Errors.InvalidInput({ problems: [move.problem] })
    // The key first: a process that dies in between must not leave the old one with the new address.
    if (move.rekeyed !== null && apiKey !== undefined) {
      const connection = { ...move.rekeyed, apiKey, updatedAtMs: node.updatedAtMs }
      yield* records.replace(connection, { hasNewCredential: true })
    }
    yield* Effect.catchTag(repo.update(node), "AlreadyStored", prefixTaken(node.prefix))
    return node
  }, apply)

  const remove = Effect.fn("ProviderNodes.remove")(function* (id: string) {
    const node = yield* find(id)
    yield* Effect.forEach(connectionsOf(node.prefix), (connection) => records.remove(connection.id), { discard: true })
    yield* repo.remove(node.id)
    // A later node of this prefix is another provider.
    lockouts.clear({ provider: node.prefix })
    yield* breakers.reset(node.prefix)
  }, apply)

  return ProviderNodes.of({ list: Effect.sync(() => catalog.current().nodes), get, draft, create, update, remove })
})

export const layer: Layer.Layer<
  ProviderNodes,
  never,
  Breakers | Catalog | ConfigChanges | ConnectionRecords | ConnectionRepo | Flags | IdGen | Lockouts | NodeRepo
> = Layer.effect(ProviderNodes, make)
