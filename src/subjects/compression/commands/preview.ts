/** `gateway compression preview`, `show` and `rules`. */
import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { CompressionAnalytics, CompressionPreview, CompressionRules } from "../routes.ts"
import { CompressionEngine, CompressionSettings } from "../entity.ts"
import { taking } from "../../../cli/flags/Forms.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const engine = Options.choice("engine", CompressionEngine.literals).pipe(
  Options.withDescription("What the text passes; without it, what the settings say."),
  Options.optional
)

const combo = Options.text("combo").pipe(
  Options.withDescription("A compression combo instead of an engine, by name or id."),
  Options.optional
)

const text = Args.text({ name: "text" }).pipe(
  Args.withDescription("Something that a user said earlier in a conversation.")
)

/** The last user turn is never touched: what is shown is before it. */
const conversationOf = (said: string) => ({
  messages: [
    { role: "user", content: said },
    { role: "assistant", content: "ok" },
    { role: "user", content: "go on" }
  ]
})

const textOf = ({ body }: typeof CompressionPreview.Type): string => {
  const [first] = (body as { readonly messages: ReadonlyArray<{ readonly content: string }> }).messages
  return first?.content ?? ""
}

export const compressionPreview = asking("preview", "compression", { text, engine, combo }, function* (client, given) {
  const payload = {
    body: conversationOf(given.text),
    ...Option.match(given.engine, { onNone: () => ({}), onSome: (name) => ({ engine: name }) }),
    ...Option.match(given.combo, { onNone: () => ({}), onSome: (name) => ({ combo: name }) })
  }
  const value = yield* client.preview({ payload })
  const { mode, savedPercent, tokensAfter, tokensBefore } = value
  const summary = `${mode}: ${tokensBefore} -> ${tokensAfter} tokens (${savedPercent} % saved)`
  yield* Output.result({
    schema: CompressionPreview,
    value,
    text: Output.print(`${textOf(value)}\n\n${summary}`),
    name: mode
  })
})

const days = Options.integer("days").pipe(
  taking(Schema.Int.pipe(Schema.between(1, 366)), () => "--days must be a whole number from 1 to 366."),
  Options.withDescription("Days to sum up, today included, 1 to 366."),
  Options.withDefault(30)
)

type SavedRow = (typeof CompressionAnalytics.Type)["totals"] & { readonly name: string }

const savedColumns: ReadonlyArray<Column.Column<SavedRow>> = [
  Column.text("MODE", ({ name }) => name),
  Column.number("REQUESTS", ({ requests }) => requests),
  Column.number("SMALLER", ({ changed }) => changed),
  Column.number("TOKENS SAVED", ({ savedTokens }) => savedTokens),
  Column.number("SAVED %", ({ savedPercent }) => savedPercent)
]

export const compressionStats = asking("stats", "compression", { days }, function* (client, given) {
  const value = yield* client.analytics({ urlParams: { days: given.days } })
  const rows: ReadonlyArray<SavedRow> = [
    ...value.byMode.map(({ mode, ...saved }) => ({ ...saved, name: mode })),
    { ...value.totals, name: "all" }
  ]
  yield* Output.list({
    schema: CompressionAnalytics,
    value,
    rows: value.byMode.length === 0 ? [] : rows,
    columns: savedColumns,
    empty: "No request was compressed."
  })
})

const usedBy = ({ combo: named, engine: used }: CompressionSettings): string => named ?? used

export const compressionShow = asking("show", "compression", {}, function* (client) {
  const value = yield* client.settings()
  const { autoTriggerTokens, enabled } = value
  const used = usedBy(value)
  const from = autoTriggerTokens === 0 ? "for all requests" : `for requests of at least ${autoTriggerTokens} tokens`
  yield* Output.result({
    schema: CompressionSettings,
    value,
    text: Output.print(enabled ? `On: ${used}, ${from}.` : `Off. It would be: ${used}, ${from}.`),
    name: used
  })
})

const off = Options.boolean("off").pipe(Options.withDescription("Switch it off."))
const from = Options.integer("from-tokens").pipe(
  Options.withDescription("Only requests of at least so many tokens; without it, all."),
  Options.optional
)

export const compressionSet = asking("set", "compression", { engine, combo, off, from }, function* (client, given) {
  const payload = {
    enabled: !given.off,
    ...Option.match(given.engine, { onNone: () => ({}), onSome: (name) => ({ engine: name }) }),
    ...Option.match(given.combo, { onNone: () => ({}), onSome: (name) => ({ combo: name }) }),
    ...Option.match(given.from, { onNone: () => ({}), onSome: (autoTriggerTokens) => ({ autoTriggerTokens }) })
  }
  const value = yield* client.setSettings({ payload })
  const told = value.enabled ? `Requests are made smaller: ${usedBy(value)}.` : "Requests are left as they are."
  yield* Output.result({ schema: CompressionSettings, value, text: Output.print(told), name: usedBy(value) })
})

type Rule = (typeof CompressionRules.Type)["rules"][number]

const ruleColumns: ReadonlyArray<Column.Column<Rule>> = [
  Column.name("LANGUAGE", ({ language }) => language),
  Column.text("RULE", ({ name }) => name),
  Column.text("FROM", ({ minIntensity }) => minIntensity),
  Column.prose("WORDS", ({ words }) => words.join(", ")),
  Column.text("BECOME", ({ replacement }) => (replacement === "" ? "-" : replacement))
]

export const compressionRules = asking("rules", "compression", {}, function* (client) {
  const value = yield* client.rules()
  yield* Output.list({
    schema: CompressionRules,
    value,
    rows: value.rules,
    columns: ruleColumns,
    empty: "There is no rule."
  })
})
