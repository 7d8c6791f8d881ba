/** `gateway budget tokens …`: how many tokens API keys may use. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { SetTokenLimit, TokenLimitView } from "../routes.ts"
import { confirm, yes } from "../../../cli/asking/confirm.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { body, pick } from "../../../cli/flags/Flags.ts"
import { FiniteNumber, notOf, worded } from "../../../cli/flags/Forms.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { findKey, keyNames } from "./budgets.ts"
import { asking } from "../../../cli/verbs/asking.ts"

interface Row {
  readonly key: string
  readonly limit: TokenLimitView
}

const scopeOf = ({ scopeType, scopeValue }: TokenLimitView): string => scopeValue ?? scopeType

const columns: ReadonlyArray<Column.Column<Row>> = [
  Column.name("KEY", ({ key }) => key),
  Column.text("OF", ({ limit }) => scopeOf(limit)),
  Column.text("WINDOW", ({ limit }) => limit.resetInterval),
  Column.number("LIMIT", ({ limit }) => limit.tokenLimit),
  Column.number("USED", ({ limit }) => limit.tokensUsed),
  Column.number("LEFT", ({ limit }) => limit.remaining),
  Column.yesNo("ENABLED", ({ limit }) => limit.enabled),
  Column.time("RESETS", ({ limit }) => limit.nextResetAt),
  Column.id("ID", ({ limit }) => limit.id)
]

const Limits = Schema.Struct({ limits: Schema.Array(TokenLimitView) })

export const tokensList = asking("list", "limits", {}, function* (client, given, to) {
  const { limits } = yield* client.tokenLimits({ urlParams: {} })
  const names = yield* keyNames(to)
  yield* Output.list({
    schema: Limits,
    value: { limits },
    rows: limits.map((limit) => ({ key: names.get(limit.apiKeyId) ?? limit.apiKeyId, limit })),
    columns,
    empty: "No key has a token limit. Set one with 'gateway budget tokens set <key> 1000000'."
  })
})

/** `openai` is a provider, `openai/gpt-4o` a model. */
const scopeFrom = (of: string | undefined) =>
  of === undefined
    ? { scopeType: "global" as const }
    : { scopeType: of.includes("/") ? ("model" as const) : ("provider" as const), scopeValue: of }

export const tokensSet = Command.make(
  "set",
  {
    key: Args.text({ name: "key" }).pipe(Args.withDescription("The API key.")),
    tokens: Args.text({ name: "tokens" }).pipe(
      Args.withDescription("Most tokens of prompts and answers in a window."),
      Args.withSchema(worded(FiniteNumber, notOf("<tokens>", "a number of tokens")))
    ),
    of: Options.text("of").pipe(
      Options.withDescription("<provider> or <provider>/<model>; without it all are counted."),
      Options.optional
    ),
    every: Options.choice("every", ["daily", "weekly", "monthly"]).pipe(
      Options.withDescription("How often it is renewed; monthly without it."),
      Options.optional
    ),
    tz: Options.text("tz").pipe(Options.withDescription("Time zone of its windows."), Options.optional),
    ...Client.connection
  },
  (given) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const { id, name } = yield* findKey(to, given.key)
      const payload = yield* body(
        SetTokenLimit,
        {
          apiKeyId: id,
          tokenLimit: given.tokens,
          ...scopeFrom(Option.getOrUndefined(given.of)),
          resetInterval: Option.getOrUndefined(given.every),
          tz: Option.getOrUndefined(given.tz)
        },
        { apiKeyId: "<key>", tokenLimit: "<tokens>", scopeValue: "--of", resetInterval: "--every", tz: "--tz" }
      )
      const client = yield* Client.group(to, "limits")
      const answer = yield* client.setTokenLimit({ payload }).pipe(Client.orExplain(to))
      const { limit } = answer
      const words = `${Column.thousands(limit.tokenLimit)} tokens ${limit.resetInterval} (${scopeOf(limit)})`
      yield* Output.result({
        schema: Schema.Struct({ limit: TokenLimitView }),
        value: answer,
        text: Output.note(`The key '${name}' may use ${words}.`),
        name
      })
    })
)

export const tokensRemove = asking(
  "remove",
  "limits",
  {
    limit: Args.text({ name: "limit" }).pipe(Args.withDescription("Its id or the beginning of it.")),
    yes
  },
  function* (client, given) {
    const { limits } = yield* client.tokenLimits({ urlParams: {} })
    const named = limits.map((limit) => ({ id: limit.id, name: scopeOf(limit), limit }))
    const found = yield* pick("token limit", named, given.limit, "gateway budget tokens list")
    yield* confirm(given, `Remove the limit of ${Column.thousands(found.limit.tokenLimit)} tokens (${found.name})?`)
    yield* client.removeTokenLimit({ urlParams: { id: found.id } })
    yield* Output.done({ removed: found.id, name: found.name }, "The token limit was removed.", found.id)
  }
)
