/** `gateway inspect list`, `show`, `conversation`, `anatomy`, `diff`, `cache`, `note` and `clear`. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import {
  AttemptView,
  BreakView,
  ChangeView,
  ContextView,
  FindingView,
  RecordView,
  SectionView,
  TurnView
} from "../../../contract/traffic/InspectorRecords.ts"
import { taking } from "../../../cli/flags/Forms.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { columns, filterFlags, filterOf, inspector, Page, record, retries } from "./rows.ts"

const limit = Options.integer("limit").pipe(
  taking(Schema.Int.pipe(Schema.between(1, 1000)), () => "--limit must be a whole number from 1 to 1000."),
  Options.withDescription("How many rows to show, 1 to 1000."),
  Options.withDefault(50)
)
const cursor = Options.text("cursor").pipe(
  Options.withDescription("Where the rows before this one ended, to go on with older ones."),
  Options.optional
)

const byContext = Options.boolean("by-context").pipe(
  Options.withDescription(
    "A line for each system prompt, with its requests, tokens and cost, in place of one for each request."
  )
)

const Contexts = Schema.Struct({ contexts: Schema.Array(ContextView) })

const contextColumns: ReadonlyArray<Column.Column<typeof ContextView.Type>> = [
  Column.text("CONTEXT", ({ contextKey }) => contextKey),
  Column.number("REQUESTS", ({ requests }) => requests),
  Column.number("FAILED", ({ failed }) => failed),
  Column.number("IN", ({ tokensIn }) => tokensIn),
  Column.number("OUT", ({ tokensOut }) => tokensOut),
  Column.number(
    "USD",
    ({ costUsd }) => costUsd,
    (usd) => usd.toFixed(6)
  ),
  Column.time("LAST", ({ lastAt }) => lastAt),
  Column.prose("MODELS", ({ models }) => models.join(", "))
]

export const listFlags = { ...filterFlags, retries, byContext, limit, cursor, ...Client.connection }

export const nothingCaptured =
  "Nothing is captured. Record the gateway's own traffic, or let a capture hand requests in."

interface ListFlags {
  readonly retries: boolean
  readonly byContext: boolean
  readonly limit: number
  readonly cursor: Option.Option<string>
}

export const showList = (given: Parameters<typeof filterOf>[0] & Parameters<typeof Client.target>[0] & ListFlags) =>
  Effect.gen(function* () {
    const filter = yield* filterOf(given)
    const to = yield* Client.target(given)
    const client = yield* inspector(to)
    if (given.byContext) {
      const { groups = [] } = yield* client
        .list({ urlParams: { ...filter, groupBy: "contextKey", limit: 1 } })
        .pipe(Client.orExplain(to))
      return yield* Output.list({
        schema: Contexts,
        value: { contexts: groups },
        rows: groups.toReversed(),
        columns: contextColumns,
        empty: nothingCaptured
      })
    }
    const at = Option.getOrUndefined(given.cursor)
    // One that is asked for by its attempts is opened.
    const isOpen = given.retries || filter.retryOf !== undefined
    const answer = yield* client
      .list({
        urlParams: {
          ...filter,
          retries: isOpen ? "each" : "together",
          limit: given.limit,
          ...(at === undefined ? {} : { cursor: at })
        }
      })
      .pipe(Client.orExplain(to))
    yield* Output.list({
      schema: Page,
      value: answer,
      rows: answer.requests.toReversed(),
      columns,
      empty: nothingCaptured
    })
    const [storm] = isOpen ? [] : answer.requests.filter(({ attempt = 1 }) => attempt > 1)
    if (storm !== undefined) {
      yield* Output.remark(`Retries are counted together: 'gateway inspect list --retry-of ${storm.id}' opens a line.`)
    }
    if (answer.nextCursor !== null) yield* Output.remark(`There are older ones: --cursor ${answer.nextCursor}.`)
  })

export const inspectList = Command.make("list", listFlags, showList)

const headersOf = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `  ${name}: ${value}`)
    .join("\n")

export const pageOf = (shown: typeof RecordView.Type): string =>
  [
    fields([
      [
        "Request",
        `${shown.method} ${shown.scheme}://${shown.host}${shown.path}${shown.httpVersion == null ? "" : ` (${shown.httpVersion})`}`
      ],
      ["Status", `${shown.status}${shown.error === null ? "" : `: ${shown.error}`}`],
      ["Began", shown.timestamp],
      ...(shown.attempt === undefined || shown.attempt === 1
        ? []
        : [["Attempt", `${shown.attempt}, the first was ${shown.retryOf ?? "-"}`] as const]),
      ["Took", shown.totalLatencyMs === null ? "-" : `${Math.round(shown.totalLatencyMs)} ms`],
      ["Source", shown.source],
      ["Process", shown.pid === null ? "-" : `${shown.processName ?? "-"} (${shown.pid})`],
      ["Context", shown.contextKey ?? "-"],
      ["Model", shown.llm?.model ?? "-"],
      [
        "Tokens",
        shown.llm === null
          ? "-"
          : `${shown.llm.tokensIn ?? "-"} in, ${shown.llm.tokensOut ?? "-"} out, ${shown.llm.cacheRead ?? "-"} read from the cache${shown.llm.tokensEstimated ? " (estimated)" : ""}`
      ],
      ["Cost", shown.llm?.costEstimateUsd == null ? "-" : `${shown.llm.costEstimateUsd.toFixed(6)} USD`],
      ["Note", shown.annotation ?? "-"],
      ["Id", shown.id]
    ]),
    "",
    `Sent, ${shown.requestSize} bytes:`,
    headersOf(shown.requestHeaders),
    shown.requestBody ?? (shown.bodyEvicted ? "(the body is no longer kept)" : ""),
    "",
    `Came back, ${shown.responseSize} bytes:`,
    headersOf(shown.responseHeaders),
    shown.responseBody ?? ""
  ].join("\n")

export const inspectShow = Command.make("show", { record, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* inspector(to)
    const shown = yield* client.get({ path: { id: given.record }, urlParams: {} }).pipe(Client.orExplain(to))
    yield* Output.result({ schema: RecordView, value: shown, text: Output.print(pageOf(shown)), name: shown.id })
  })
)

const Conversation = Schema.Struct({
  request: Schema.Array(TurnView),
  response: Schema.Array(TurnView),
  contextKey: Schema.NullOr(Schema.String),
  error: Schema.optionalWith(Schema.String, { exact: true }),
  rawEvents: Schema.optionalWith(Schema.Array(Schema.Unknown), { exact: true }),
  attempts: Schema.optionalWith(Schema.Array(AttemptView), { exact: true })
})

const blockText = (block: unknown): string => {
  if (typeof block !== "object" || block === null) return ""
  const of = block as Readonly<Record<string, unknown>>
  const json = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))
  switch (of["type"]) {
    case "text":
      return json(of["text"])
    case "thinking":
      return `(thinking) ${json(of["text"])}`
    case "tool_use":
      return `→ ${json(of["name"])} ${json(of["input"])}`
    case "tool_result":
      return `← ${json(of["content"])}`
    default:
      return `(${json(of["mediaType"] ?? of["type"])})`
  }
}

const turnText = ({ blocks, role }: typeof TurnView.Type): string =>
  [`${role}:`, ...blocks.map((block) => `  ${blockText(block).replaceAll("\n", "\n  ")}`)].join("\n")

export const conversationText = (shown: typeof Conversation.Type): string => {
  const raw = (shown.rawEvents ?? []).map((event) => JSON.stringify(event))
  const refused = shown.error === undefined ? [] : [`(refused: ${shown.error})`]
  const attempts = (shown.attempts ?? []).map(
    ({ attempt, error, id, status, timestamp }) =>
      `(attempt ${attempt}, ${timestamp}: ${status}${error === null ? "" : `, ${error}`}, ${id})`
  )
  return [...shown.request, ...shown.response].map(turnText).concat(refused, raw, attempts).join("\n")
}

export const inspectConversation = Command.make("conversation", { record, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* inspector(to)
    const shown = yield* client.conversation({ path: { id: given.record } }).pipe(Client.orExplain(to))
    yield* Output.result({
      schema: Conversation,
      value: shown,
      text: Output.print(conversationText(shown)),
      name: given.record
    })
  })
)

const Anatomy = Schema.Struct({
  sections: Schema.Array(SectionView),
  totalTokens: Schema.Number,
  tokensEstimated: Schema.Literal(true)
})

const sectionColumns: ReadonlyArray<Column.Column<typeof SectionView.Type>> = [
  Column.text("KIND", ({ kind }) => kind),
  Column.name("PATH", ({ path }) => path),
  Column.text("NAME", ({ name }) => name),
  Column.number("BYTES", ({ bytes }) => bytes),
  Column.number("TOKENS", ({ tokens }) => tokens)
]

export const inspectAnatomy = Command.make("anatomy", { record, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* inspector(to)
    const shown = yield* client.anatomy({ path: { id: given.record } }).pipe(Client.orExplain(to))
    yield* Output.list({
      schema: Anatomy,
      value: shown,
      rows: shown.sections,
      columns: sectionColumns,
      empty: "The request has no body in JSON."
    })
    yield* Output.remark(`${Output.counted(shown.totalTokens, "token")}, estimated.`)
  })
)

const Diff = Schema.Struct({
  equal: Schema.Boolean,
  changes: Schema.Array(ChangeView),
  omitted: Schema.Number,
  commonPrefix: Schema.Struct({
    bytes: Schema.Number,
    tokens: Schema.Number,
    firstDifference: Schema.NullOr(Schema.String)
  })
})

const shownValue = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value))

export const changeColumns: ReadonlyArray<Column.Column<typeof ChangeView.Type>> = [
  Column.text("CHANGE", ({ op }) => op),
  Column.name("PATH", ({ path }) => path),
  Column.prose("BEFORE", ({ before }) => shownValue(before)),
  Column.prose("AFTER", ({ after }) => shownValue(after))
]

/** The changes as lines. */
export const diffText = ({ changes, equal, omitted }: typeof Diff.Type): string =>
  equal
    ? "The two requests are the same."
    : [
        ...changes.flatMap(({ after, before, op, path }) => [
          `${op} ${path}`,
          ...(before === undefined ? [] : [`  - ${shownValue(before)}`]),
          ...(after === undefined ? [] : [`  + ${shownValue(after)}`])
        ]),
        ...(omitted === 0 ? [] : [`${omitted} more changes are not shown.`])
      ].join("\n")

const other = Args.text({ name: "other" }).pipe(Args.withDescription("The id of the request to compare it with."))

export const inspectDiff = Command.make("diff", { record, other, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* inspector(to)
    const shown = yield* client.diff({ path: { id: given.record, other: given.other } }).pipe(Client.orExplain(to))
    yield* Output.list({
      schema: Diff,
      value: shown,
      rows: shown.changes,
      columns: changeColumns,
      empty: "The two requests are the same."
    })
    const { firstDifference, tokens } = shown.commonPrefix
    if (firstDifference !== null) {
      yield* Output.remark(`A cache can serve ${Output.counted(tokens, "token")} for both, up to ${firstDifference}.`)
    }
    if (shown.omitted > 0) yield* Output.remark(`${shown.omitted} more changes are not shown.`)
  })
)

type Break = typeof BreakView.Type

const breakColumns: ReadonlyArray<Column.Column<Break>> = [
  Column.name("REQUEST", ({ requestId }) => requestId),
  Column.text("VERDICT", ({ verdict }) => verdict),
  Column.text("BY", ({ cause }) => cause?.by),
  Column.text("WHAT", ({ cause }) => cause?.rule),
  Column.prose("WHERE", ({ cause }) => cause?.path),
  Column.number("LOST", ({ lostTokens }) => lostTokens),
  Column.number(
    "USD",
    ({ lostUsd }) => lostUsd,
    (usd) => usd.toFixed(4)
  )
]

const Breaks = Schema.Struct({ breaks: Schema.Array(BreakView), lostTokens: Schema.Number, lostUsd: Schema.Number })
const Cache = Schema.Struct({ cache: FindingView })

const finding = ({
  cause,
  comparedWith,
  expectedTokens,
  lostTokens,
  lostUsd,
  tokens,
  verdict
}: typeof FindingView.Type) =>
  fields([
    ["Verdict", verdict],
    ["By", cause?.by ?? "-"],
    ["What", cause?.rule ?? "-"],
    ["Where", cause?.path ?? "-"],
    ["Before", cause?.before ?? "-"],
    ["After", cause?.after ?? "-"],
    ["Compared with", comparedWith ?? "-"],
    ["Expected", `${expectedTokens} tokens from the cache`],
    ["Reported", `${tokens.cacheRead} read, ${tokens.cacheWrite} written, of ${tokens.in}`],
    ["Lost", `${lostTokens} tokens${lostUsd === null ? "" : `, ${lostUsd.toFixed(4)} USD`}`]
  ])

const maybeRecord = Args.text({ name: "request" }).pipe(
  Args.withDescription("The id of a captured request; without it all broken caches are listed."),
  Args.optional
)

export const inspectCache = Command.make("cache", { record: maybeRecord, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* inspector(to)
    if (Option.isSome(given.record)) {
      const id = given.record.value
      const shown = yield* client.cache({ path: { id } }).pipe(Client.orExplain(to))
      return yield* Output.result({ schema: Cache, value: shown, text: Output.print(finding(shown.cache)), name: id })
    }
    const shown = yield* client.cacheBreaks({ urlParams: {} }).pipe(Client.orExplain(to))
    yield* Output.list({
      schema: Breaks,
      value: shown,
      rows: shown.breaks,
      columns: breakColumns,
      empty: "No prompt cache was broken."
    })
    if (shown.breaks.length > 0) {
      yield* Output.remark(`Lost: ${Output.counted(shown.lostTokens, "token")}, ${shown.lostUsd.toFixed(4)} USD.`)
    }
  })
)

const note = Args.text({ name: "text" }).pipe(Args.withDescription("What to write to it; '' removes the note."))

export const inspectNote = Command.make("note", { record, note, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* inspector(to)
    const annotation = given.note === "" ? null : given.note
    const shown = yield* client
      .annotate({ path: { id: given.record }, payload: { annotation } })
      .pipe(Client.orExplain(to))
    yield* Output.result({
      schema: RecordView,
      value: shown,
      text: Output.note(annotation === null ? "The note is removed." : "The note is written."),
      name: shown.id
    })
  })
)

export const inspectClear = Command.make("clear", Client.connection, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* inspector(to)
    yield* client.clear().pipe(Client.orExplain(to))
    yield* Output.done({ cleared: true }, "All captured requests are forgotten; recorded sessions stay.", "cleared")
  })
)
