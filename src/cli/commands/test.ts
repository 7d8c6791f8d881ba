/** `gateway test`: one small question through the whole gateway, as a client asks it. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { DecisionView } from "../../subjects/routing/routes.ts"
import { UsageLog } from "../../subjects/usage/routes.ts"
import * as Client from "../gateway/Client.ts"
import { attemptColumns, headline } from "../output/decision.ts"
import * as Output from "../output/Output.ts"
import { fields } from "../output/Table.ts"
import { usdText } from "../../kernel/text/UsdText.ts"

/** Most tokens of an answer: reasoning models need some before their text. */
const maxTokens = 512

const Result = Schema.Struct({
  model: Schema.String,
  status: Schema.Number,
  requestId: Schema.NullOr(Schema.String),
  answer: Schema.NullOr(Schema.String),
  error: Schema.NullOr(Schema.String),
  usage: Schema.NullOr(UsageLog),
  decision: Schema.NullOr(DecisionView)
})

const lines = ({ answer, model, usage }: typeof Result.Type): ReadonlyArray<readonly [string, string]> => [
  ["Asked", model],
  ...(answer === null ? [] : [["Answer", answer] as const]),
  ...(usage === null
    ? []
    : [
        ["Served by", usage.provider === null ? "none" : `${usage.provider}/${usage.model ?? ""}`] as const,
        ["Took", `${usage.latencyMs} ms, first content after ${usage.ttftMs ?? "-"} ms`] as const,
        ["Tokens", `${usage.tokens.in} in, ${usage.tokens.out} out`] as const,
        [
          "Cost",
          usage.priced ? usdText(usage.costUsd) : "no price is known; 'gateway model pricing set' sets one"
        ] as const
      ])
]

export const testCommand = Command.make(
  "test",
  {
    model: Args.text({ name: "model" }).pipe(
      Args.withDescription("A model id, alias or combo; 'auto' without one."),
      Args.withDefault("auto")
    ),
    say: Options.text("say").pipe(
      Options.withDescription("What is asked."),
      Options.withDefault("Answer with one word: hello")
    ),
    ...Client.connection
  },
  ({ model, say, ...given }) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const asked = yield* Client.ask(to, { model, max_tokens: maxTokens, messages: [{ role: "user", content: say }] })
      const { requestId } = asked
      const routing = yield* Client.group(to, "routing")
      const found = requestId === null ? null : yield* Effect.option(routing.decision({ path: { requestId } }))
      const usage = yield* Client.group(to, "usage")
      const rows = requestId === null ? null : yield* Effect.option(usage.logs({ urlParams: { requestId, limit: 1 } }))
      const value = {
        model,
        status: asked.status,
        requestId,
        answer: asked.answer,
        error: asked.error,
        usage: rows?._tag === "Some" ? (rows.value.logs[0] ?? null) : null,
        decision: found?._tag === "Some" ? found.value.decision : null
      }
      const text = Effect.gen(function* () {
        const { decision } = value
        yield* Output.print(fields([...lines(value), ...(decision === null ? [] : headline(decision))]))
        if (decision === null) return
        yield* Output.print("")
        yield* Output.rows(decision.attempts, attemptColumns, "No target was called.")
      })
      yield* Output.result({ schema: Result, value, text, name: value.usage?.model ?? model })
      if (asked.error !== null) yield* Client.refused(to, asked.facts, asked.error)
    })
)
