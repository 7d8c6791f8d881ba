/** `/api/provider-nodes`: endpoints the operator added. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { GatewayApi } from "../../api/Api.ts"
import { Conflict } from "../../api/Errors.ts"
import type { ProviderNode } from "../../domain/ProviderNode.ts"
import { Flags } from "../../flags/Flags.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { Catalog } from "../../providers/Catalog.ts"
import { gatewayKeyProblem } from "../../providers/ConnectionRules.ts"
import { nodeMove } from "../../providers/KeptSecrets.ts"
import * as Registry from "../../providers/Registry.ts"
import { Breakers } from "../../resilience/breaker/Breakers.ts"
import { Cooldowns } from "../../resilience/cooldown/Cooldowns.ts"
import { Lockouts } from "../../resilience/lockout/Lockouts.ts"
import { ConnectionRepo } from "../../store/repo/ConnectionRepo.ts"
import { NodeRepo } from "../../store/repo/NodeRepo.ts"
import { QuotaGroupRepo } from "../../store/repo/QuotaGroupRepo.ts"
import { unmaskHeaders } from "../../kernel/Masking.ts"
import { badField, checkUrl, ConfigChanges, notFound, stored } from "./Support.ts"
import { nodeView } from "./Views.ts"

/** First parts of model ids that mean something else already. */
const reserved = new Set(["auto", "combo", "qtsd"])

const checkPrefix = (prefix: string) => {
  if (reserved.has(prefix.toLowerCase())) return badField("prefix", `'${prefix}' is reserved`)
  return Registry.find(prefix) === null
    ? Effect.void
    : new Conflict({ message: `'${prefix}' is a provider of the registry.`, param: "prefix" })
}

const prefixTaken = (prefix: string) =>
  new Conflict({ message: `Another node has the prefix '${prefix}'.`, param: "prefix" })

export const layer = HttpApiBuilder.group(GatewayApi, "providerNodes", (handlers) =>
  Effect.gen(function* () {
    const catalog = yield* Catalog
    const repo = yield* NodeRepo
    const connections = yield* ConnectionRepo
    const groups = yield* QuotaGroupRepo
    const breakers = yield* Breakers
    const cooldowns = yield* Cooldowns
    const lockouts = yield* Lockouts
    const flags = yield* Flags
    const ids = yield* IdGen
    const changes = yield* ConfigChanges

    const find = Effect.fnUntraced(function* (id: string) {
      return (yield* repo.get(id)) ?? (yield* notFound("provider node", id))
    })
    const connectionsOf = (prefix: string) =>
      catalog.current().connections.filter((connection) => connection.provider === prefix)

    return handlers
      .handle("list", () => Effect.sync(() => ({ nodes: catalog.current().nodes.map(nodeView) })))
      .handle("get", ({ path }) => Effect.map(find(path.id), (node) => ({ node: nodeView(node) })).pipe(stored))
      .handle("create", ({ payload }) =>
        Effect.gen(function* () {
          yield* checkPrefix(payload.prefix)
          yield* checkUrl(flags, "baseUrl", payload.baseUrl)
          const nowMs = yield* Clock.currentTimeMillis
          const node: ProviderNode = {
            id: ids.next(nowMs),
            name: payload.name,
            prefix: payload.prefix,
            type: payload.type,
            baseUrl: payload.baseUrl,
            wires: payload.wires ?? null,
            headers: payload.headers ?? null,
            chatPath: payload.chatPath ?? null,
            modelsPath: payload.modelsPath ?? null,
            createdAtMs: nowMs,
            updatedAtMs: nowMs
          }
          yield* repo.insert(node)
          return { node: nodeView(node) }
        }).pipe(
          Effect.catchTag("AlreadyStored", () => prefixTaken(payload.prefix)),
          changes.apply,
          stored
        )
      )
      .handle("update", ({ path, payload: { apiKey, ...settings } }) =>
        Effect.gen(function* () {
          const before = yield* find(path.id)
          const node: ProviderNode = {
            ...before,
            ...settings,
            headers: settings.headers === undefined ? before.headers : unmaskHeaders(settings.headers, before.headers),
            updatedAtMs: yield* Clock.currentTimeMillis
          }
          if (node.prefix !== before.prefix) {
            yield* checkPrefix(node.prefix)
            if (connectionsOf(before.prefix).length > 0) {
              return yield* new Conflict({
                message: `The prefix '${before.prefix}' has connections and cannot be changed.`,
                param: "prefix"
              })
            }
          }
          yield* checkUrl(flags, "baseUrl", node.baseUrl)
          const ours = gatewayKeyProblem("apiKey", apiKey ?? null)
          if (ours !== null) return yield* badField(ours.field, ours.message)
          const ofNode = (yield* connections.list).filter(({ provider }) => provider === before.prefix)
          const move = nodeMove(before, node, ofNode, apiKey !== undefined)
          if (move._tag === "Refused") return yield* badField(move.problem.field, move.problem.message)
          // The key first: a process that dies in between must not leave the old one with the new address.
          if (move.rekeyed !== null && apiKey !== undefined) {
            const { id } = move.rekeyed
            const connection = { ...move.rekeyed, ...cooldowns.healthOf(id), apiKey, updatedAtMs: node.updatedAtMs }
            yield* Effect.catchTag(connections.update(connection), "AlreadyStored", Effect.die)
            lockouts.clear({ connectionId: id })
            yield* cooldowns.reset(id)
          }
          yield* repo.update(node)
          return { node: nodeView(node) }
        }).pipe(
          Effect.catchTag("AlreadyStored", () => prefixTaken(settings.prefix ?? "")),
          changes.apply,
          stored
        )
      )
      .handle("remove", ({ path }) =>
        Effect.gen(function* () {
          const node = yield* find(path.id)
          // Without its node a connection leads nowhere; both go.
          for (const { id } of connectionsOf(node.prefix)) {
            yield* connections.remove(id)
            yield* groups.dropConnection(id)
            cooldowns.forget(id)
          }
          yield* repo.remove(node.id)
          // A later node of this prefix is another provider.
          lockouts.clear({ provider: node.prefix })
          yield* breakers.reset(node.prefix)
        }).pipe(changes.apply, stored)
      )
  })
)
