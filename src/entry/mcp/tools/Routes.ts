/** Tools about routing: why a request goes where, and which combo suits a task. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { WireName } from "../../../contract/domain/Wire.ts"
import { field } from "../../../kernel/Documented.ts"
import type { Tool } from "../../../agents/mcp/Tool.ts"
import { isArray, type Json, type JsonObject, numberOr, objectOr, stringOr } from "../../../wire/json/Json.ts"
import type { Plane } from "../../management/Management.ts"
import { schemasOf } from "../OperationSchemas.ts"
import { askedOf, optional, schemaTool, ToolFailure } from "../SchemaTool.ts"

const Text = Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(1_000))
const Any = Schema.Record({ key: Schema.String, value: Schema.Unknown })

const ExplainInput = Schema.Struct({
  requestId: field(optional(Text), "The `X-Gateway-Request-Id` of a request that was made: why it went where it went."),
  model: field(optional(Text), "Without `requestId`: a model id as a client would send it, also a combo or `auto`."),
  wire: field(optional(WireName), "The wire format of `body`; absent: `chat`."),
  body: field(optional(Any), "The rest of the request, as a client would send it."),
  headers: field(optional(Schema.Record({ key: Schema.String, value: Schema.String })), "Its headers."),
  seed: field(optional(Schema.Int), "Of what is left to chance; the same one gives the same decision.")
})

const explain = (ask: Plane["ask"]): Tool =>
  schemaTool({
    name: "explain_route",
    title: "Explain where a request goes, or went",
    description:
      "With `requestId` the decision of a request that was made; else with `model` the decision as it would be made now. Nothing is sent to a provider.",
    scopes: ["read:health", "read:usage"],
    effect: "read",
    input: ExplainInput,
    output: schemasOf("routing.decision").output,
    run: ({ requestId, ...asked }, call) => {
      const get = askedOf(ask, call)
      if (requestId !== undefined) return get("routing.decision", { path: { requestId } })
      if (asked.model === undefined)
        return new ToolFailure({ message: "Give 'requestId', or 'model'.", isBadInput: true })
      return get("routing.explain", { body: asked as unknown as JsonObject })
    }
  })

const TaskInput = Schema.Struct({
  task: field(Text, "What is to be done, in words, as it would be said to a model."),
  maxTokens: field(optional(Schema.Int.pipe(Schema.between(1, 1_000_000))), "Most tokens of the answer.")
})

const ComboForTask = Schema.Struct({
  combo: field(Schema.String, "The combo; clients use it as a model id."),
  strategy: field(Schema.String, "How it orders its targets."),
  first: field(Schema.NullOr(Schema.String), "The target it would call first; null: none can be called now."),
  usable: field(Schema.Number, "Targets that can be called now."),
  score: field(
    Schema.NullOr(Schema.Number),
    "How `auto` rates the first target for this task, from 0 to 1; null: it does not."
  )
})

const BestCombo = Schema.Struct({
  best: field(Schema.NullOr(ComboForTask), "The first of them that can serve; null: none can."),
  combos: field(Schema.Array(ComboForTask), "Active combos, the best first.")
})
type Rated = typeof ComboForTask.Type

/** Deciding is work: no more combos than these are compared. */
const mostCombos = 50

const listOf = (value: Json | undefined): ReadonlyArray<JsonObject> => (isArray(value) ? value.map(objectOr) : [])

/** `auto`'s scores by target, as `order` spells them, and by provider and model alone. */
const scoresOf = (decision: JsonObject): ReadonlyMap<string, number> => {
  const scores = new Map<string, number>()
  for (const { connectionId, model, provider, score } of listOf(decision["candidates"])) {
    const rated = numberOr(score)
    if (rated === null) continue
    const name = `${String(provider)}/${String(model)}`
    scores.set(name, Math.max(rated, scores.get(name) ?? 0))
    scores.set(`${name}@${String(connectionId)}`, rated)
  }
  return scores
}

const firstOf = (decision: JsonObject): string | null => {
  const { order } = decision
  return isArray(order) ? stringOr(order[0]) : null
}

const usableOf = (decision: JsonObject): number =>
  listOf(decision["candidates"]).filter(({ excluded }) => (excluded ?? null) === null).length

const better = (a: Rated, b: Rated): number =>
  Number(b.first !== null) - Number(a.first !== null) || (b.score ?? -1) - (a.score ?? -1) || b.usable - a.usable

const bestCombo = (ask: Plane["ask"]): Tool =>
  schemaTool({
    name: "best_combo_for_task",
    title: "Find the best combo for a task",
    description:
      "Compares the active combos by the target each would call first for this task, as `auto` rates targets. Nothing is sent to a provider.",
    scopes: ["read:health", "read:combos"],
    effect: "read",
    input: TaskInput,
    output: BestCombo,
    run: ({ maxTokens, task }, call) =>
      Effect.gen(function* () {
        const get = askedOf(ask, call)
        const body = {
          messages: [{ role: "user", content: task }],
          ...(maxTokens === undefined ? {} : { max_tokens: maxTokens })
        }
        const decided = (model: string) =>
          get("routing.explain", { body: { model, body, seed: 1 } }).pipe(
            Effect.map(({ decision }) => objectOr(decision)),
            Effect.catchAll(() => Effect.succeed<JsonObject>({}))
          )
        const scores = scoresOf(yield* decided("auto"))
        const { combos } = yield* get("combos.list")
        const active = listOf(combos)
          .filter(({ isActive }) => isActive === true)
          .slice(0, mostCombos)
        const rated = yield* Effect.forEach(active, ({ name, strategy }) =>
          Effect.map(decided(String(name)), (decision): Rated => {
            const first = firstOf(decision)
            return {
              combo: String(name),
              strategy: String(strategy),
              first,
              usable: usableOf(decision),
              score: first === null ? null : (scores.get(first) ?? null)
            }
          })
        )
        const sorted = rated.toSorted(better)
        return { best: sorted.find(({ first }) => first !== null) ?? null, combos: sorted }
      })
  })

export const routeTools = (ask: Plane["ask"]): ReadonlyArray<Tool> => [explain(ask), bestCombo(ask)]
