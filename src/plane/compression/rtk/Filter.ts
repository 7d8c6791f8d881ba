/**
 * A filter of the output of a family of commands, as data: which outputs it is for, which lines may go, which never go, and tests of its own.
 * Built-in filters and those of `DATA_DIR/rtk/filters.json` have this one shape (`docs/compression.md`).
 */
import * as Schema from "effect/Schema"
import { exactOptional } from "../../../kernel/Documented.ts"

/** Types of outputs by their form, when the command is not known. */
export const outputTypes = ["test", "build", "diff", "log", "listing", "table", "json"] as const
export type OutputType = (typeof outputTypes)[number]

const Name = Schema.String.pipe(Schema.minLength(1), Schema.maxLength(64))
const Label = Schema.String.pipe(Schema.maxLength(400))
const Pattern = Schema.String.pipe(Schema.minLength(1), Schema.maxLength(1_000))
const Patterns = Schema.Array(Pattern).pipe(Schema.maxItems(64))
const Lines = Schema.Int.pipe(Schema.between(0, 100_000))
export const Match = Schema.Struct({
  /** Patterns of a command without environment, wrapper (`sudo`, `time`) and folder of the program. */
  commands: exactOptional(Patterns),
  /** Patterns of a line among the first ones of an output whose command is not known. */
  patterns: exactOptional(Patterns),
  outputTypes: exactOptional(Schema.Array(Schema.Literal(...outputTypes)))
})

export const Rules = Schema.Struct({
  /** Absent: true. */
  stripAnsi: exactOptional(Schema.Boolean),
  replace: exactOptional(
    Schema.Array(Schema.Struct({ pattern: Pattern, replacement: Schema.String.pipe(Schema.maxLength(1_000)) })).pipe(
      Schema.maxItems(32)
    )
  ),
  /** The whole output becomes the message when a line matches and no line has to be kept; `$1` is the first group. */
  matchOutput: exactOptional(
    Schema.Array(Schema.Struct({ pattern: Pattern, message: Schema.String.pipe(Schema.maxLength(1_000)) })).pipe(
      Schema.maxItems(32)
    )
  ),
  /** Patterns of the lines to keep; only these and those to keep in any case. Empty or absent: all lines. */
  includePatterns: exactOptional(Patterns),
  /** Lines that go, unless they have to be kept. */
  dropPatterns: exactOptional(Patterns),
  /** Lines of success that go although words of failure are in them, such as names of tests that passed. */
  passPatterns: exactOptional(Patterns),
  /** Patterns of runs: of the lines that match, the first and the last stay, and how many there were. */
  collapsePatterns: exactOptional(Patterns),
  /** Runs of equal lines become one line and their number. Absent: true. */
  deduplicate: exactOptional(Schema.Boolean),
  /** Most characters of a line that does not have to be kept. */
  truncateLineAt: exactOptional(Lines),
  headLines: exactOptional(Lines),
  tailLines: exactOptional(Lines),
  /** Absent: the setting's. */
  maxLines: exactOptional(Lines),
  /** Absent: the setting's. */
  maxChars: exactOptional(Schema.Int.pipe(Schema.between(0, 10_000_000))),
  /** Text in place of an output of which nothing remains. */
  onEmpty: exactOptional(Label)
})

export const Preserve = Schema.Struct({
  errorPatterns: exactOptional(Patterns),
  summaryPatterns: exactOptional(Patterns)
})

export const FilterTest = Schema.Struct({
  name: Label,
  command: exactOptional(Schema.String.pipe(Schema.maxLength(2_000))),
  input: Schema.String.pipe(Schema.maxLength(100_000)),
  /** The whole text without the line that says what was left out. */
  expected: Schema.String.pipe(Schema.maxLength(100_000))
})
export type FilterTest = typeof FilterTest.Type

export const Filter = Schema.Struct({
  id: Name.pipe(Schema.pattern(/^[a-z0-9][a-z0-9._-]*$/)),
  label: Label,
  description: Label,
  category: Name,
  /** Priority: of several that match, the one with the greatest is used. */
  priority: Schema.Int.pipe(Schema.between(0, 1_000)),
  match: Match,
  rules: Rules,
  preserve: exactOptional(Preserve),
  tests: exactOptional(Schema.Array(FilterTest).pipe(Schema.maxItems(64)))
})
export type Filter = typeof Filter.Type
