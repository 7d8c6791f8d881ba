/**
 * A request as a line for a person: time, status, duration, tokens and cost in columns, then what was asked for and what served it. What
 * did not end well has its reason, and the id under which `gateway route decision` explains it.
 */
import { nanoUsdPerUsd } from "../../../contract/domain/Usage.ts"
import type { UsageRow } from "../../../contract/domain/Usage.ts"
import { LocalTimes } from "../../../kernel/time/LocalTimes.ts"
import { type Colour, type LogStyle, painter } from "./LogStyle.ts"
import { clean, pathOnly } from "./Summary.ts"
import type { RequestSummary } from "./Summary.ts"

/** Reasons that the owner can remove, with the command to begin with. */
const advice: Readonly<Record<string, string>> = {
  ALL_ACCOUNTS_INACTIVE: "no account can be used, see 'gateway provider list'"
}

const colourOf = ({ outcome, status }: Pick<UsageRow, "outcome" | "status">): Colour => {
  if (outcome === "aborted") return "yellow"
  if (outcome === "completed") return "green"
  return status >= 500 ? "red" : "yellow"
}

/** `812 ms`, `12.3 s`. */
const duration = (ms: number): string => (ms < 9_999.5 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`)

/** `812`, `12.3k`, `4.5M`. */
const count = (value: number): string => {
  if (value < 10_000) return String(value)
  return value < 999_950 ? `${(value / 1_000).toFixed(1)}k` : `${(value / 1_000_000).toFixed(1)}M`
}

/** Writes the cost to a hundred-thousandth of a dollar; a smaller one that is not zero is not written as zero. */
const cost = ({ costNanoUsd, priced }: UsageRow): string => {
  if (!priced) return "unpriced"
  const usd = costNanoUsd / nanoUsdPerUsd
  return usd > 0 && usd < 0.000_01 ? "<$0.00001" : `$${usd.toFixed(5)}`
}

const servedBy = (row: UsageRow): string => {
  const asked = clean(row.requestedModel)
  if (row.provider === null) return asked === "" ? "" : ` ${asked}`
  const target = `${clean(row.provider)}/${clean(row.model ?? "?")}`
  return asked === target ? ` ${target}` : ` ${asked} → ${target}`
}

const troubles = (row: UsageRow): string => {
  const facts: Array<string> = []
  if (row.attempts > 1) facts.push(`${row.attempts} attempts`)
  if (row.outcome !== "completed") {
    const reason = row.error === null ? "" : clean(row.error)
    facts.push(row.outcome === "aborted" ? "the client left" : (advice[reason] ?? (reason === "" ? "failed" : reason)))
  }
  return facts.length === 0 ? "" : `  ${facts.join(", ")} [${clean(row.requestId)}]`
}

/** The line, without its line feed. */
export const makeTextLine = (style: LogStyle): ((summary: RequestSummary) => string) => {
  const paint = painter(style)
  const times = new LocalTimes()
  return ({ method, path, row }) => {
    const time = paint("dim", times.of(row.timestampMs + row.latencyMs))
    const tokens = `${count(row.tokens.in)} in ${count(row.tokens.out)} out`
    const columns = `${duration(row.latencyMs).padStart(8)}  ${tokens.padStart(17)}  ${cost(row).padStart(9)} `
    const served = servedBy(row)
    const what = served === "" ? ` ${clean(method)} ${pathOnly(path)}` : served
    return `${time} ${paint(colourOf(row), String(row.status))} ${columns}${what}${troubles(row)}`
  }
}
