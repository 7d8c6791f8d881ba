/**
 * The lines of the usage journal, written by hand: the request path encodes one per request.
 *
 *     {"facts":7,"apiKeyId":null,"requestedModel":"gpt-4.1",…}
 *     [7,"<id>",timestampMs,latencyMs,ttftMs,in,out,cacheRead,cacheWrite,reasoning,costNanoUsd]
 *     [7,"<id>",…,costNanoUsd,"<requestId>",reservedNanoUsd,[calls]]
 *     [7,"<id>",…,[calls],[in,out,cacheRead,cacheWrite,reasoning],{costNotes},"<sessionId>"]
 *
 * The facts that rows share are in a line of their own, in each file before the first row that has them. The last three are left out where the
 * request id is the row's, nothing was reserved, and there are no calls; a fourth has the counts that an upstream reported and that were not
 * accepted, a fifth how the cost came about, a sixth the session. A line may also be the JSON of a whole row, as earlier versions wrote it.
 */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { LedgerCall } from "../../contract/domain/Ledger.ts"
import { ModelPrice } from "../../subjects/pricing/entity.ts"
import { type CostNotes, knownCallers, type TokenCounts, type UsageRow } from "../../contract/domain/Usage.ts"
import type { UsageFacts } from "../../contract/domain/UsageFacts.ts"
import { WireName } from "../../contract/domain/Wire.ts"
import { jsonNumber } from "../../kernel/text/JsonTexts.ts"
import { CostNotesText } from "./UsageColumns.ts"

/** The line of some facts, and where it was written last. */
export interface FactsLine {
  /** JSON of the facts, without their number. */
  readonly json: string
  number: number
  file: number
}

export const factsLine = (facts: UsageFacts): FactsLine => ({
  json: JSON.stringify(facts).slice(1),
  number: 0,
  file: -1
})

let lastParts: ReadonlyArray<string> | null = null
let lastPartsJson = ""

/** Hot for models without a price: their rows share the list of what has none. */
const notesJson = (notes: CostNotes): string => {
  if (notes.computedNanoUsd !== null || notes.facts !== null) return JSON.stringify(notes)
  if (notes.unpricedParts !== lastParts) {
    lastParts = notes.unpricedParts
    lastPartsJson = JSON.stringify(notes)
  }
  return lastPartsJson
}

const countsAndNotes = ({ costNotes, sessionId, told }: UsageRow): string => {
  if (told === null && costNotes === null && sessionId === null) return ""
  const counts =
    told === null ? "null" : JSON.stringify([told.in, told.out, told.cacheRead, told.cacheWrite, told.reasoning])
  if (sessionId !== null) {
    return `,${counts},${costNotes === null ? "null" : notesJson(costNotes)},${JSON.stringify(sessionId)}`
  }
  return costNotes === null ? `,${counts}` : `,${counts},${notesJson(costNotes)}`
}

const rest = (row: UsageRow, idJson: string): string => {
  const { calls, id, requestId, reservedNanoUsd } = row
  return (
    `,${requestId === id ? idJson : JSON.stringify(requestId)},${jsonNumber(reservedNanoUsd)},` +
    `${calls === null ? "null" : JSON.stringify(calls)}${countsAndNotes(row)}]`
  )
}

export class UsageLines {
  #file = 0
  #lastNumber = 0

  /** The lines that follow begin a file, or follow lines that may not be whole. */
  begin(): void {
    this.#file += 1
  }

  /** Hot: the line of a row, after that of its facts where it is missing. Without the last line feed. */
  of(row: UsageRow, facts: FactsLine): string {
    const { tokens } = row
    const before = facts.file === this.#file ? "[" : this.#define(facts)
    const id = JSON.stringify(row.id)
    const after =
      row.requestId === row.id &&
      row.reservedNanoUsd === 0 &&
      row.calls === null &&
      row.told === null &&
      row.costNotes === null &&
      row.sessionId === null
        ? "]"
        : rest(row, id)
    return (
      `${before}${facts.number},${id},${jsonNumber(row.timestampMs)},${jsonNumber(row.latencyMs)},` +
      `${jsonNumber(row.ttftMs)},${jsonNumber(tokens.in)},${jsonNumber(tokens.out)},${jsonNumber(tokens.cacheRead)},` +
      `${jsonNumber(tokens.cacheWrite)},${jsonNumber(tokens.reasoning)},${jsonNumber(row.costNanoUsd)}${after}`
    )
  }

  #define(facts: FactsLine): string {
    this.#lastNumber += 1
    facts.number = this.#lastNumber
    facts.file = this.#file
    return `{"facts":${facts.number},${facts.json}\n[`
  }
}

const MaybeText = Schema.NullOr(Schema.String)
/** Number in which null stands for one that JSON cannot express. */
const Measure = Schema.transform(Schema.NullOr(Schema.Number), Schema.Number, {
  strict: true,
  decode: (value) => value ?? 0,
  encode: (value) => value
})

const facts = {
  apiKeyId: MaybeText,
  principal: Schema.optionalWith(Schema.NullOr(Schema.Literal(...knownCallers)), { default: () => null }),
  requestedModel: Schema.String,
  combo: MaybeText,
  provider: MaybeText,
  connectionId: MaybeText,
  model: MaybeText,
  sourceWire: WireName,
  targetWire: Schema.NullOr(WireName),
  streamed: Schema.Boolean,
  outcome: Schema.Literal("completed", "failed", "aborted"),
  status: Measure,
  attempts: Measure,
  priced: Schema.Boolean,
  price: Schema.optionalWith(Schema.NullOr(ModelPrice), { default: () => null }),
  usageSource: Schema.Literal("upstream", "estimated"),
  error: MaybeText,
  // Lines of earlier versions have none.
  batchId: Schema.optionalWith(MaybeText, { default: () => null }),
  answeredFrom: Schema.optionalWith(Schema.NullOr(Schema.Literal("cache", "coalesced")), { default: () => null }),
  egress: Schema.optionalWith(MaybeText, { default: () => null }),
  tags: Schema.optionalWith(MaybeText, { default: () => null })
}

const Facts = Schema.Struct({ ...facts, facts: Schema.Number })

const WholeRow = Schema.Struct({
  ...facts,
  id: Schema.String,
  requestId: Schema.String,
  timestampMs: Measure,
  latencyMs: Measure,
  ttftMs: Schema.NullOr(Schema.Number),
  tokens: Schema.Struct({ in: Measure, out: Measure, cacheRead: Measure, cacheWrite: Measure, reasoning: Measure }),
  told: Schema.optionalWith(Schema.Null, { default: () => null }),
  costNanoUsd: Measure,
  costNotes: Schema.optionalWith(Schema.Null, { default: () => null }),
  sessionId: Schema.optionalWith(Schema.Null, { default: () => null }),
  reservedNanoUsd: Schema.optionalWith(Measure, { default: () => 0 }),
  calls: Schema.optionalWith(Schema.NullOr(Schema.Array(LedgerCall)), { default: () => null })
})

const decode = Schema.decodeUnknownEither(Schema.Union(Facts, WholeRow))

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

const notesOf = Schema.decodeUnknownOption(CostNotesText)
const callsOf = Schema.decodeUnknownOption(Schema.Array(LedgerCall))

const measure = (value: unknown): number => (typeof value === "number" ? value : 0)

const countsOf = ([read, out, cacheRead, cacheWrite, reasoning]: ReadonlyArray<unknown>): TokenCounts => ({
  in: measure(read),
  out: measure(out),
  cacheRead: measure(cacheRead),
  cacheWrite: measure(cacheWrite),
  reasoning: measure(reasoning)
})

/**
 * Reads a row by hand, because there may be a hundred thousand of them. Null when it is no row, or its facts are
 * missing.
 */
const rowOf = (line: ReadonlyArray<unknown>, known: ReadonlyMap<unknown, UsageFacts>): UsageRow | null => {
  const [number, id, timestampMs, latencyMs, ttftMs, read, out, cacheRead, cacheWrite, reasoning, cost, ...more] = line
  const [requestId, reserved, calls, told, costNotes, sessionId] = more
  const shared = known.get(number)
  if (shared === undefined || typeof id !== "string") return null
  return {
    ...shared,
    id,
    requestId: typeof requestId === "string" ? requestId : id,
    timestampMs: measure(timestampMs),
    latencyMs: measure(latencyMs),
    ttftMs: typeof ttftMs === "number" ? ttftMs : null,
    tokens: countsOf([read, out, cacheRead, cacheWrite, reasoning]),
    told: Array.isArray(told) ? countsOf(told) : null,
    costNanoUsd: measure(cost),
    costNotes: Option.getOrNull(notesOf(costNotes)),
    sessionId: typeof sessionId === "string" ? sessionId : null,
    reservedNanoUsd: measure(reserved),
    calls: Array.isArray(calls) ? Option.getOrNull(callsOf(calls)) : null
  }
}

export interface ReadLines {
  readonly rows: ReadonlyArray<UsageRow>
  /** Lines that are no rows: a write that was cut short by a kill or a full disk. */
  readonly tornLines: number
}

/** The rows of one file. */
export const readLines = (lines: ReadonlyArray<string>): ReadLines => {
  const known = new Map<number, UsageFacts>()
  const rows: Array<UsageRow> = []
  let tornLines = 0
  const take = (row: UsageRow | null): void => {
    if (row === null) tornLines += 1
    else rows.push(row)
  }
  for (const line of lines) {
    const value = parsed(line)
    if (Array.isArray(value)) {
      take(rowOf(value, known))
      continue
    }
    const decoded = Either.getOrNull(decode(value))
    if (decoded !== null && "facts" in decoded) {
      const { facts: number, ...defined } = decoded
      known.set(number, defined)
    } else take(decoded)
  }
  return { rows, tornLines }
}
