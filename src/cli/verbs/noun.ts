/** Describes a noun of the command line, and makes the commands that every noun has: `list`, `show`, `remove`, `enable` and `disable`. */
import type * as Args from "@effect/cli/Args"
import type * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { confirmOnTerminal, yes } from "../asking/confirm.ts"
import type { CliFailure } from "../Failure.ts"
import { pick } from "../flags/Flags.ts"
import type { GroupName, Target } from "../gateway/Client.ts"
import { type Service, serviceOf } from "../gateway/Service.ts"
import { latestVersion } from "../gateway/Versions.ts"
import type * as Column from "../output/Column.ts"
import * as Output from "../output/Output.ts"
import { asking, type ParsedFlags, type Step } from "./asking.ts"

export interface Noun<Group extends GroupName, Answer, Row extends { readonly id: string }> {
  /** Name of one in a sentence, such as `webhook`. */
  readonly what: string
  /** Group of the contract that has them. */
  readonly group: Group
  /** Argument that names one. */
  readonly argument: Args.Args<string>
  /** The command that lists them, for advice. */
  readonly listing: string
  readonly list: (client: Service<Group>) => Effect.Effect<Answer, CliFailure>
  readonly rows: (answer: Answer) => ReadonlyArray<Row>
  /** Name that people know one by. */
  readonly nameOf: (row: Row) => string
  /** Reads one alone, with its version: a change of it is then refused where another changed it in the meantime. */
  readonly one?: (client: Service<Group>, id: string) => Effect.Effect<Row, CliFailure>
  /** Finds the one that a word names; absent: by name, id or the beginning of it. */
  readonly pick?: (rows: ReadonlyArray<Row>, word: string) => Effect.Effect<Row, CliFailure>
}

/** Gives a noun the types of what its list answers. */
export const noun = <const Group extends GroupName, Answer, Row extends { readonly id: string }>(
  about: Noun<Group, Answer, Row>
): Noun<Group, Answer, Row> => about

/** One that was found, among all. */
export interface Found<Group extends GroupName, Row> {
  readonly client: Service<Group>
  readonly found: Row
  readonly name: string
  readonly all: ReadonlyArray<Row>
}

const oneOf = Effect.fnUntraced(function* <const Group extends GroupName, Answer, Row extends { readonly id: string }>(
  noun: Noun<Group, Answer, Row>,
  client: Service<Group>,
  word: string
) {
  const all = noun.rows(yield* noun.list(client))
  const named = all.map((row) => ({ row, id: row.id, name: noun.nameOf(row) }))
  const found =
    noun.pick === undefined ? (yield* pick(noun.what, named, word, noun.listing)).row : yield* noun.pick(all, word)
  return { client, found, name: noun.nameOf(found), all } satisfies Found<Group, Row>
})

/** Finds the one that a word names, with the client to ask for it. What is changed of it is changed of the version that is read here. */
export const findOne = Effect.fnUntraced(function* <
  const Group extends GroupName,
  Answer,
  Row extends { readonly id: string }
>(noun: Noun<Group, Answer, Row>, to: Target, word: string) {
  const one = yield* oneOf(noun, yield* serviceOf(to, noun.group), word)
  if (noun.one === undefined) return one
  const found = yield* noun.one(one.client, one.found.id)
  return { ...one, found, name: noun.nameOf(found) }
})

interface Work<Group extends GroupName, Row, Flags extends Command.Command.Config> extends Found<Group, Row> {
  readonly given: ParsedFlags<Flags>
  readonly to: Target
}

/** Makes a command about the one that its first argument names. */
export const on = <
  const Name extends string,
  const Group extends GroupName,
  Answer,
  Row extends { readonly id: string },
  const Flags extends Command.Command.Config,
  Yielded extends Step
>(
  name: Name,
  noun: Noun<Group, Answer, Row>,
  flags: Flags,
  work: (asked: Work<Group, Row, Flags>) => Generator<Yielded, unknown, never>
) =>
  asking(name, noun.group, { word: noun.argument, ...flags }, function* (client, parsed, to) {
    // The compiler does not see through the flags of a caller.
    const given = parsed as unknown as ParsedFlags<Flags> & { readonly word: string }
    const one = yield* oneOf(noun, client, given.word)
    yield* Effect.gen(() => work({ ...one, given, to }))
  })

interface Listed<Printed, I, Row> {
  /** Part of the answer that programs are shown. */
  readonly schema: Schema.Schema<Printed, I>
  readonly columns: ReadonlyArray<Column.Column<Row>>
  /** Sentence when there are none, with what to do next. */
  readonly empty: string
}

/** Makes the command that lists them. */
export const listOf = <
  const Group extends GroupName,
  Printed,
  I,
  Answer extends Printed,
  Row extends { readonly id: string }
>(
  noun: Pick<Noun<Group, Answer, Row>, "group" | "list" | "rows">,
  { columns, empty, schema }: Listed<Printed, I, Row>
) =>
  asking("list", noun.group, {}, function* (client) {
    const value = yield* noun.list(client)
    yield* Output.list({
      schema,
      value,
      rows: noun.rows(value),
      columns,
      empty
    })
  })

interface Shown<Group extends GroupName, Row, Answer, I> {
  readonly schema: Schema.Schema<Answer, I>
  readonly ask: (client: Service<Group>, id: string, row: Row) => Effect.Effect<Answer, CliFailure>
  /** Page for people. */
  readonly text: (answer: Answer) => string
}

/** Makes the command that shows one. */
export const showOf = <const Group extends GroupName, Answer, Row extends { readonly id: string }, One, I>(
  noun: Noun<Group, Answer, Row>,
  { ask, schema, text }: Shown<Group, Row, One, I>
) =>
  on("show", noun, {}, function* ({ client, found, name, to }) {
    const value = yield* ask(client, found.id, found)
    yield* Output.result({ schema, value, text: Output.print(text(value)), name, version: latestVersion(to) })
  })

interface Removed<Group extends GroupName, Row> {
  readonly ask: (client: Service<Group>, id: string) => Effect.Effect<unknown, CliFailure>
  /** Question on a terminal before it; absent: none. */
  readonly question?: (row: Row) => string
  /** Record for programs, beside the id. */
  readonly record?: (row: Row) => { readonly [field: string]: unknown }
  readonly sentence: (row: Row) => string
  /** Printed by `-o name`; absent: the name. */
  readonly shown?: (row: Row) => string
}

/** Makes the command that removes one. */
export const removeOf = <const Group extends GroupName, Answer, Row extends { readonly id: string }>(
  noun: Noun<Group, Answer, Row>,
  { ask, question, record, sentence, shown = noun.nameOf }: Removed<Group, Row>
) =>
  on("remove", noun, question === undefined ? {} : { yes }, function* ({ client, found, given }) {
    if (question !== undefined) yield* confirmOnTerminal(given as unknown as { readonly yes: boolean }, question(found))
    yield* ask(client, found.id)
    yield* Output.done({ removed: found.id, ...record?.(found) }, sentence(found), shown(found))
  })

interface Switched<Group extends GroupName, Row, Answer, I> {
  readonly schema: Schema.Schema<Answer, I>
  readonly ask: (client: Service<Group>, id: string, isOn: boolean) => Effect.Effect<Answer, CliFailure>
  /** Sentences for people. */
  readonly enabled: (row: Row) => string
  readonly disabled: (row: Row) => string
  /** Refuses one that cannot be switched. */
  readonly check?: (row: Row) => Effect.Effect<unknown, CliFailure>
}

/** Makes the two commands that switch one on and off. */
export const switchesOf = <const Group extends GroupName, Answer, Row extends { readonly id: string }, One, I>(
  noun: Noun<Group, Answer, Row>,
  { ask, check, disabled, enabled, schema }: Switched<Group, Row, One, I>
) => {
  const switching = (word: "enable" | "disable") =>
    on(word, noun, {}, function* ({ client, found, name }) {
      if (check !== undefined) yield* check(found)
      const isOn = word === "enable"
      const value = yield* ask(client, found.id, isOn)
      yield* Output.result({ schema, value, text: Output.note(isOn ? enabled(found) : disabled(found)), name })
    })
  return { enable: switching("enable"), disable: switching("disable") }
}
