/**
 * Where a command's words go: results on stdout, as a table for people or as pure JSON for programs; remarks on stderr.
 */
import * as Terminal from "@effect/platform/Terminal"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { harmlessJson, harmlessLines } from "../../kernel/TerminalText.ts"
import { type Column, table } from "./Table.ts"

/** A remark for the person; never part of the result. */
export const note = (text: string): Effect.Effect<void> => Console.error(harmlessLines(text))

/** A line of the result. */
export const print = (text: string): Effect.Effect<void> => Console.log(harmlessLines(text))

const terminalColumns = Effect.gen(function* () {
  const terminal = yield* Terminal.Terminal
  return (yield* terminal.isTTY) ? yield* terminal.columns : null
})

/** A value as JSON, written by the schema of the contract. */
export const json = <A, I>(schema: Schema.Schema<A, I>, value: A): Effect.Effect<void> =>
  Effect.flatMap(Effect.orDie(Schema.encode(schema)(value)), (encoded) => print(harmlessJson(encoded, 2)))

/** A value as one line of JSON, for output that goes on. */
export const jsonLine = <A, I>(schema: Schema.Schema<A, I>, value: A): Effect.Effect<void> =>
  Effect.flatMap(Effect.orDie(Schema.encode(schema)(value)), (encoded) => print(harmlessJson(encoded)))

/** Rows as a table, or a sentence when there are none. */
export const rows = <Row>(
  all: ReadonlyArray<Row>,
  columns: ReadonlyArray<Column<Row>>,
  whenEmpty: string
): Effect.Effect<void, never, Terminal.Terminal> =>
  all.length === 0 ? note(whenEmpty) : Effect.flatMap(terminalColumns, (width) => print(table(all, columns, width)))

/** Words for a person out of the contract's values. */
export const orDash = (value: string | number | null | undefined): string =>
  value === null || value === undefined || value === "" ? "-" : String(value)
export const yesNo = (value: boolean): string => (value ? "yes" : "no")
/** `1 row`, `2 rows`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`
/** An ISO time to the second, as people read it. */
export const shortTime = (iso: string | null): string => (iso === null ? "-" : iso.slice(0, 19).replace("T", " "))
