/** `/api/providers`: connections, their test, their models, and the check of a key. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { GatewayApi } from "../../api/Api.ts"
import { Conflict, Forbidden, UpstreamFailed } from "../../api/Errors.ts"
import { healthy } from "../../domain/Connection.ts"
import type { Connection, ConnectionSettings } from "../../domain/Connection.ts"
import type { ProviderSpec } from "../../domain/Provider.ts"
import { Flags } from "../../flags/Flags.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { Catalog } from "../../providers/Catalog.ts"
import { connectionMoveProblem } from "../../providers/KeptSecrets.ts"
import { ModelLists } from "../../providers/ModelLists.ts"
import { ProviderCalls } from "../../providers/ProviderCalls.ts"
import { testConnection } from "../../providers/ConnectionTest.ts"
import { Cooldowns } from "../../resilience/cooldown/Cooldowns.ts"
import { Lockouts } from "../../resilience/lockout/Lockouts.ts"
import { QuotaWindows } from "../../routing/quota/QuotaWindows.ts"
import { ConnectionRepo } from "../../store/repo/ConnectionRepo.ts"
import { QuotaGroupRepo } from "../../store/repo/QuotaGroupRepo.ts"
import * as Rules from "../../providers/ConnectionRules.ts"
import { badField, checkUrl, ConfigChanges, notFound, stored } from "./Support.ts"
import { connectionView } from "./Views.ts"

const unknownProvider = (provider: string) =>
  badField("provider", `'${provider}' is neither a known provider nor the prefix of a node`)

const readOnly = new Forbidden({
  message:
    "This connection comes from the environment and is read-only. Change the variable, or add a connection of your own."
})

export const layer = HttpApiBuilder.group(GatewayApi, "providers", (handlers) =>
  Effect.gen(function* () {
    const catalog = yield* Catalog
    const repo = yield* ConnectionRepo
    const groups = yield* QuotaGroupRepo
    const calls = yield* ProviderCalls
    const cooldowns = yield* Cooldowns
    const lockouts = yield* Lockouts
    const lists = yield* ModelLists
    const quotas = yield* QuotaWindows
    const flags = yield* Flags
    const ids = yield* IdGen
    const changes = yield* ConfigChanges

    const specOf = (provider: string) => {
      const spec = catalog.current().provider(provider)
      return spec === null ? unknownProvider(provider) : Effect.succeed(spec)
    }
    const isNode = (spec: ProviderSpec): boolean => catalog.current().nodes.some((node) => node.prefix === spec.id)

    const check = Effect.fnUntraced(function* (
      settings: ConnectionSettings,
      spec: ProviderSpec,
      hasLockedSecret: boolean
    ) {
      const problem = Rules.problemOf(settings, spec, { isNode: isNode(spec), hasLockedSecret, isOn: flags.isOn })
      if (problem !== null) return yield* badField(problem.field, problem.message)
    })

    const checkOnlyOne = (spec: ProviderSpec) => {
      const facts = { isNode: isNode(spec), isOn: flags.isOn }
      const problem = Rules.furtherProblem(spec, catalog.current().connections, facts)
      return problem === null ? Effect.void : new Conflict({ message: problem.message, param: problem.field })
    }

    const find = (id: string) => {
      const connection = catalog.current().connections.find((candidate) => candidate.id === id)
      return connection === undefined ? notFound("connection", id) : Effect.succeed(connection)
    }

    const viewed = (connection: Connection) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) =>
        connectionView(connection, cooldowns.healthOf(connection.id), nowMs, lists.stateOf(connection.id))
      )

    const changeable = Effect.fnUntraced(function* (id: string) {
      const connection = yield* repo.get(id)
      if (connection !== null) return connection
      yield* find(id)
      return yield* readOnly
    })

    return handlers
      .handle("list", () =>
        Effect.map(Effect.forEach(catalog.current().connections, viewed), (connections) => ({ connections }))
      )
      .handle("get", ({ path }) => Effect.map(Effect.flatMap(find(path.id), viewed), (connection) => ({ connection })))
      .handle("create", ({ payload }) =>
        Effect.gen(function* () {
          const spec = yield* specOf(payload.provider)
          const settings = Rules.settingsOf(payload, spec)
          yield* check(settings, spec, false)
          yield* checkOnlyOne(spec)
          const nowMs = yield* Clock.currentTimeMillis
          const connection: Connection = {
            ...settings,
            ...healthy,
            id: ids.next(nowMs),
            source: "db",
            createdAtMs: nowMs,
            updatedAtMs: nowMs
          }
          yield* Effect.catchTag(repo.insert(connection), "AlreadyStored", Effect.die)
          return { connection: yield* viewed(connection) }
        }).pipe(changes.apply, stored)
      )
      .handle("update", ({ path, payload }) =>
        Effect.gen(function* () {
          const before = yield* changeable(path.id)
          const spec = yield* specOf(before.provider)
          if (payload.provider !== undefined && (yield* specOf(payload.provider)).id !== spec.id) {
            return yield* badField("provider", "cannot be changed; add another connection instead")
          }
          const settings = Rules.changed(before, payload)
          yield* check(settings, spec, before.locked)
          const moved = connectionMoveProblem(before, settings, spec)
          if (moved !== null) return yield* badField(moved.field, moved.message)
          const newCredential = payload.apiKey !== undefined || payload.oauth !== undefined
          const connection: Connection = {
            ...before,
            ...settings,
            ...cooldowns.healthOf(before.id),
            updatedAtMs: yield* Clock.currentTimeMillis
          }
          yield* Effect.catchTag(repo.update(connection), "AlreadyStored", Effect.die)
          // What was observed with the former credential says nothing about the new one; else what came in meanwhile is kept.
          if (newCredential) {
            lockouts.clear({ connectionId: connection.id })
            quotas.forgetShown(connection.id)
            yield* cooldowns.reset(connection.id)
          } else yield* repo.updateHealth(connection.id, cooldowns.healthOf(connection.id))
          return { connection: yield* viewed(connection) }
        }).pipe(changes.apply, stored)
      )
      .handle("remove", ({ path }) =>
        Effect.gen(function* () {
          const connection = yield* changeable(path.id)
          yield* repo.remove(connection.id)
          yield* groups.dropConnection(connection.id)
          cooldowns.forget(connection.id)
          lockouts.clear({ connectionId: connection.id })
          quotas.forget(connection.id)
          yield* lists.forget(connection.id)
        }).pipe(changes.apply, stored)
      )
      .handle("test", ({ path, payload }) =>
        Effect.gen(function* () {
          const connection = yield* find(path.id)
          return yield* testConnection({ calls, cooldowns }, connection, payload?.model ?? null)
        })
      )
      .handle("models", ({ path }) =>
        Effect.gen(function* () {
          const result = yield* calls.models(yield* find(path.id), { refresh: false })
          if (result._tag === "Listed") return { models: result.models, error: null }
          // The last list is still what requests are routed by.
          const known = lists.stateOf(path.id)
          if (known === null || known.learnedAtMs === null) return yield* new UpstreamFailed({ message: result.error })
          return { models: known.models, error: result.error }
        })
      )
      .handle("validate", ({ payload }) =>
        Effect.gen(function* () {
          const problem = Rules.gatewayKeyProblem("apiKey", payload.apiKey)
          if (problem !== null) return yield* badField(problem.field, problem.message)
          yield* checkUrl(flags, "baseUrl", payload.baseUrl)
          const result = yield* calls.validate(payload.provider, payload.apiKey, payload.baseUrl ?? null)
          return result ?? (yield* unknownProvider(payload.provider))
        })
      )
  })
)
