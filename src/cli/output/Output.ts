/** Output of a command: results on stdout in the format that was asked for (`-o`), notes on stderr. */
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { harmless, harmlessJson, harmlessLines } from "../../kernel/text/TerminalText.ts"
import { type Column, dataOf, nameColumn } from "./Column.ts"
import { csv, csvOfObjects, fieldName } from "./Csv.ts"
import { OutputFormat } from "./Format.ts"
import { Screen } from "./Screen.ts"
import { shownOf, table } from "./Table.ts"

export { orDash } from "./Column.ts"

/** A remark for the person; never part of the result. */
export const note = (text: string): Effect.Effect<void> => Console.error(harmlessLines(text))

/** A remark that belongs to a table; programs that read other formats have no use for it. */
export const remark = (text: string): Effect.Effect<void> =>
  Effect.flatMap(OutputFormat, (format) => (format === "table" || format === "wide" ? note(text) : Effect.void))

/** A line of the result. */
export const print = (text: string): Effect.Effect<void> => Console.log(harmlessLines(text))

/** Text that has its line ends and was made harmless before. */
const printWhole = (text: string): Effect.Effect<void> => Console.log(text.replace(/\n$/, ""))

const encoded = <A, I>(schema: Schema.Schema<A, I>, value: A): Effect.Effect<unknown> =>
  Effect.orDie(Schema.encode(schema)(value))

/** The rows of an answer: what its only list holds, else the answer itself. */
const rowsOf = (answer: unknown): ReadonlyArray<unknown> => {
  if (!Predicate.isRecord(answer)) return [answer]
  const lists = Object.values(answer).filter((value) => Array.isArray(value))
  return lists.length === 1 ? (lists[0] ?? []) : [answer]
}

const printJson = (format: "json" | "jsonl", answer: unknown): Effect.Effect<void> =>
  format === "json"
    ? print(harmlessJson(answer, 2))
    : Effect.forEach(rowsOf(answer), (row) => print(harmlessJson(row)), { discard: true })

/** A value as JSON, written by the schema of the contract. `jsonl` has the rows of its list, one a line. */
export const json = <A, I>(schema: Schema.Schema<A, I>, value: A): Effect.Effect<void> =>
  Effect.gen(function* () {
    const format = yield* OutputFormat
    yield* printJson(format === "jsonl" ? "jsonl" : "json", yield* encoded(schema, value))
  })

/** A value as one line of JSON, for output that goes on. */
export const jsonLine = <A, I>(schema: Schema.Schema<A, I>, value: A): Effect.Effect<void> =>
  Effect.flatMap(encoded(schema, value), (answer) => print(harmlessJson(answer)))

/** Rows as a table, as csv or by their names; a sentence when there are none. */
export const rows = <Row>(
  all: ReadonlyArray<Row>,
  columns: ReadonlyArray<Column<Row>>,
  whenEmpty: string
): Effect.Effect<void> =>
  Effect.gen(function* () {
    const format = yield* OutputFormat
    const nowMs = yield* Clock.currentTimeMillis
    const shown = shownOf(all, columns, nowMs, true)
    if (format === "csv") {
      const records = all.map((row) => columns.map((column) => dataOf(column, row, shown)))
      return yield* printWhole(csv([columns.map(({ header }) => fieldName(header)), ...records]))
    }
    if (format === "name") {
      const column = nameColumn(columns)
      if (column === undefined) return
      return yield* Effect.forEach(all, (row) => print(harmless(String(dataOf(column, row, shown) ?? ""))), {
        discard: true
      })
    }
    if (all.length === 0) return yield* note(whenEmpty)
    const screen = yield* Screen
    yield* print(table(all, columns, { columns: screen.columns(), nowMs, wide: format === "wide" }))
  })

/** Rows below others, for people only; nothing when there are none. */
export const section = <Row>(all: ReadonlyArray<Row>, columns: ReadonlyArray<Column<Row>>): Effect.Effect<void> =>
  Effect.gen(function* () {
    const format = yield* OutputFormat
    if (all.length === 0 || (format !== "table" && format !== "wide")) return
    yield* print("")
    yield* rows(all, columns, "")
  })

interface List<A, I, Row> {
  /** The answer as the contract has it: the whole of `json`. Its only list is the rows of `jsonl`. */
  readonly schema: Schema.Schema<A, I>
  readonly value: A
  /** Rows of the other formats. */
  readonly rows: ReadonlyArray<Row>
  readonly columns: ReadonlyArray<Column<Row>>
  /** Text when there are no rows, with what to do next. */
  readonly empty: string
}

/** Prints a list in the format that was asked for. */
export const list = <A, I, Row>({ columns, empty, rows: all, schema, value }: List<A, I, Row>): Effect.Effect<void> =>
  Effect.gen(function* () {
    const format = yield* OutputFormat
    if (format !== "json" && format !== "jsonl") return yield* rows(all, columns, empty)
    yield* printJson(format, yield* encoded(schema, value))
  })

interface Result<A, I, R> {
  /** The answer as the contract has it: the whole of `json`, one line of `jsonl`. */
  readonly schema: Schema.Schema<A, I>
  readonly value: A
  /** Prints the text for people: a page of fields, or a sentence on stderr. */
  readonly text: Effect.Effect<void, never, R>
  /** Printed by `-o name`: what the next command would take. */
  readonly name: string
  /** The rows that are the answer in `csv`, printed by `rows`; otherwise it is the fields of the record. */
  readonly csv?: Effect.Effect<void>
  /** Version of the object, for `--if-match`; absent: it has none. */
  readonly version?: string | undefined
}

/** Returns the one object that an answer wraps, such as `{key: {…}}`, else the answer. */
const unwrapped = (answer: unknown): object => {
  if (!Predicate.isRecord(answer)) return { value: answer }
  const [only, ...others] = Object.values(answer)
  return others.length === 0 && Predicate.isRecord(only) ? only : answer
}

/** Prints one record, or what a change has made, in the format that was asked for. */
export const result = <A, I, R>({
  csv: csvRows,
  name,
  schema,
  text,
  value,
  version
}: Result<A, I, R>): Effect.Effect<void, never, R> =>
  Effect.gen(function* () {
    const format = yield* OutputFormat
    if (format === "table" || format === "wide") {
      yield* text
      if (version !== undefined) yield* note(`Version ${version.replaceAll('"', "")}`)
      return
    }
    if (format === "csv" && csvRows !== undefined) return yield* csvRows
    if (format === "name") return yield* print(harmless(name))
    const answer = yield* encoded(schema, value)
    if (format === "csv") return yield* printWhole(csvOfObjects([unwrapped(answer)]))
    const whole = version === undefined || !Predicate.isRecord(answer) ? answer : { ...answer, etag: version }
    yield* print(format === "json" ? harmlessJson(whole, 2) : harmlessJson(whole))
  })

/** Says what a change did: a sentence for people, the record for programs. */
export const done = (
  record: { readonly [field: string]: unknown },
  sentence: string,
  name: string
): Effect.Effect<void> => result({ schema: Schema.Unknown, value: record, text: note(sentence), name })

/** Words for a person out of the contract's values. */
export const yesNo = (value: boolean): string => (value ? "yes" : "no")
/** `1 row`, `2 rows`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`
/** An ISO time to the second, as people read it. */
export const shortTime = (iso: string | null): string => (iso === null ? "-" : iso.slice(0, 19).replace("T", " "))
