/** Tools that put several answers of the management together: combos, quotas, models. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { field } from "../../../kernel/Documented.ts"
import { pageOf } from "../../../kernel/Page.ts"
import type { Tool } from "../../../agents/mcp/Tool.ts"
import { isArray, type Json, type JsonObject, numberOr, objectOr, stringOr } from "../../../wire/json/Json.ts"
import type { Plane } from "../../management/Management.ts"
import { schemasOf } from "../OperationSchemas.ts"
import { askedOf, optional, schemaTool, ToolFailure } from "../SchemaTool.ts"

const Text = Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(300))
const Count = Schema.Number
const listOf = (value: Json | undefined): ReadonlyArray<JsonObject> => (isArray(value) ? value.map(objectOr) : [])

const ComboMetrics = Schema.Struct({
  combo: field(Schema.String, "The combo's name."),
  requests: field(Count, "Its requests among the last ones of the log."),
  completed: field(Count, "Those that were completed."),
  failed: field(Count, "Those that failed."),
  costUsd: field(Count, "What they cost, in USD."),
  meanLatencyMs: field(Schema.NullOr(Count), "Mean milliseconds of the completed ones; null: there are none."),
  fallbacks: field(Count, "Requests that needed more than one call."),
  byTarget: field(
    Schema.Array(
      Schema.Struct({
        target: field(Schema.String, "Provider and model."),
        requests: field(Count, "Requests that it served.")
      })
    ),
    "What served them, the most first."
  ),
  scanned: field(Count, "Rows of the log that were looked through.")
})

/** Rows of the log that are read for a combo. */
const rowsRead = 1_000

const metricsOf = (combo: string, rows: ReadonlyArray<JsonObject>, scanned: number): typeof ComboMetrics.Type => {
  const own = rows.filter((row) => row["combo"] === combo)
  const completed = own.filter(({ outcome }) => outcome === "completed")
  const targets = new Map<string, number>()
  for (const { model, provider } of own) {
    const target = `${String(provider)}/${String(model)}`
    targets.set(target, (targets.get(target) ?? 0) + 1)
  }
  const sum = (all: ReadonlyArray<JsonObject>, name: string): number =>
    all.reduce((total, row) => total + (numberOr(row[name]) ?? 0), 0)
  return {
    combo,
    requests: own.length,
    completed: completed.length,
    failed: own.filter(({ outcome }) => outcome === "failed").length,
    costUsd: sum(own, "costUsd"),
    meanLatencyMs: completed.length === 0 ? null : Math.round(sum(completed, "latencyMs") / completed.length),
    fallbacks: own.filter(({ attempts }) => (numberOr(attempts) ?? 0) > 1).length,
    byTarget: [...targets]
      .map(([target, requests]) => ({ target, requests }))
      .toSorted((a, b) => b.requests - a.requests),
    scanned
  }
}

const comboMetrics = (ask: Plane["ask"]): Tool =>
  schemaTool({
    name: "get_combo_metrics",
    title: "Show how a combo does",
    description: `Requests, failures, cost and targets of a combo among the last ${rowsRead} requests of the log.`,
    scopes: ["read:combos"],
    effect: "read",
    input: Schema.Struct({ combo: field(Text, "Id or name of the combo.") }),
    output: ComboMetrics,
    run: ({ combo }, call) =>
      Effect.gen(function* () {
        const get = askedOf(ask, call)
        const { combos } = yield* get("combos.list")
        const found = listOf(combos).find(({ id, name }) => id === combo || name === combo)
        if (found === undefined) return yield* new ToolFailure({ message: `There is no combo '${combo}'.` })
        const { logs } = yield* get("usage.logs", { query: { limit: String(rowsRead) } })
        const rows = listOf(logs)
        return metricsOf(String(found["name"]), rows, rows.length)
      })
  })

const ConnectionQuota = Schema.Struct({
  connectionId: field(Schema.String, "Id of the connection."),
  name: field(Schema.String, "Its name."),
  provider: field(Schema.String, "Its provider."),
  isActive: field(Schema.Boolean, "Whether it is switched on."),
  testStatus: field(Schema.String, "What is known of its health."),
  plan: field(Schema.NullOr(Schema.String), "Plan of the account; null: unknown."),
  quotas: field(
    Schema.Record({ key: Schema.String, value: Schema.Unknown }),
    "By window: used, total, remaining, remainingPercentage, resetAt; empty: none is known."
  )
})

const mostConnections = 100

const checkQuota = (ask: Plane["ask"]): Tool =>
  schemaTool({
    name: "check_quota",
    title: "Show what is left of quotas",
    description: "The quotas of connections as they were declared, or learned from the providers' answers.",
    scopes: ["read:quota"],
    effect: "read",
    input: Schema.Struct({
      connectionId: field(optional(Text), "Only this connection."),
      provider: field(optional(Text), "Only connections of this provider.")
    }),
    output: Schema.Struct({
      connections: field(Schema.Array(ConnectionQuota), `At most ${mostConnections} of them.`)
    }),
    run: ({ connectionId, provider }, call) =>
      Effect.gen(function* () {
        const get = askedOf(ask, call)
        const { connections } = yield* get("providers.list")
        const wanted = listOf(connections).filter(
          (one) =>
            (connectionId === undefined || one["id"] === connectionId) &&
            (provider === undefined || one["provider"] === provider)
        )
        if (wanted.length === 0 && (connectionId ?? provider) !== undefined) {
          return yield* new ToolFailure({ message: `There is no connection of '${connectionId ?? provider ?? ""}'.` })
        }
        const views = yield* Effect.forEach(wanted.slice(0, mostConnections), (one) =>
          Effect.map(get("usage.connection", { path: { connectionId: String(one["id"]) } }), ({ plan, quotas }) => ({
            connectionId: String(one["id"]),
            name: String(one["name"]),
            provider: String(one["provider"]),
            isActive: one["isActive"] === true,
            testStatus: String(one["testStatus"]),
            plan: stringOr(plan),
            quotas: objectOr(quotas)
          }))
        )
        return { connections: views }
      })
  })

const usualModels = 50

const listModels = (ask: Plane["ask"]): Tool =>
  schemaTool({
    name: "list_models_catalog",
    category: "models",
    title: "List what can be asked for",
    description:
      "Models of connections, combos, automatic ids and aliases, with prices, windows and health. `query` keeps ids that have all of its words.",
    scopes: ["read:models"],
    effect: "read",
    input: Schema.Struct({
      query: field(optional(Text), "Words that are in the id, such as `gpt mini`."),
      limit: field(optional(Schema.Int.pipe(Schema.between(1, 1_000))), `Most entries; absent: ${usualModels}.`),
      cursor: field(optional(Schema.String.pipe(Schema.maxLength(1_000))), "The `nextCursor` of the page before.")
    }),
    output: schemasOf("modelCatalog.list").output,
    run: ({ cursor, limit = usualModels, query = "" }, call) =>
      Effect.gen(function* () {
        const { models } = yield* askedOf(ask, call)("modelCatalog.list")
        const words = query.toLowerCase().split(/\s+/)
        const found = listOf(models).filter(({ id }) => words.every((word) => String(id).toLowerCase().includes(word)))
        const page = pageOf(found, ({ id }) => String(id), { limit, ...(cursor === undefined ? {} : { cursor }) })
        if (page === null)
          return yield* new ToolFailure({ message: "'cursor' is not one that this list gave out.", isBadInput: true })
        return { models: page.items, nextCursor: page.nextCursor, total: found.length }
      })
  })

export const metricsTools = (ask: Plane["ask"]): ReadonlyArray<Tool> => [
  comboMetrics(ask),
  checkQuota(ask),
  listModels(ask)
]
