/** A provider's bill beside the ledger, by day and model, with what explains a difference. Pure. */
import type { CallReason } from "../../../contract/domain/CallReason.ts"
import type { Billed } from "./Bill.ts"

/** Calls for which another amount may have been billed. */
interface Explained {
  readonly reason: CallReason
  readonly calls: number
  readonly costUsd: number
  readonly requestIds: ReadonlyArray<string>
}

/** Calls that were booked for a model on a day. */
interface Booked {
  readonly date: string
  readonly model: string
  readonly calls: number
  readonly costUsd: number
  readonly source: "calls" | "sums"
  readonly reasons: ReadonlyArray<Explained>
}

export interface Row {
  /** The day in UTC. */
  readonly date: string
  /** The model, or the service in the provider's words; null: all of the day. */
  readonly model: string | null
  readonly billedUsd: number
  readonly ledgerUsd: number
  /** Amount in USD billed beyond the ledger. */
  readonly differenceUsd: number
  readonly calls: number
  readonly reasons: ReadonlyArray<Explained>
  /** Possible reason of the difference, as text; empty where there is none. */
  readonly why: string
}

/**
 * Reduces names of the same model to one key: providers write `gpt-4o-mini-2024-07-18, cached input`, `evals | gpt-4o-mini, input`,
 * `Claude Haiku 4.5` and `claude-haiku-4-5-20251001` for models that a client may call `gpt-4o-mini` and `claude-haiku-4-5`.
 */
export const modelKey = (item: string): string => {
  const last = item.slice(item.lastIndexOf("|") + 1).trim()
  const comma = last.lastIndexOf(",")
  // "gpt-audio-mini audio, input": what follows the model is the kind of tokens.
  const name = comma === -1 ? last : (last.slice(0, comma).trim().split(" ")[0] ?? "")
  const words = name
    .slice(name.lastIndexOf("/") + 1)
    .toLowerCase()
    .replace(/[-@ ]20\d{2}-?[01]\d-?[0-3]\d$/, "")
    .replace(/-latest$/, "")
    .split(/[-. ]+/)
  // "Claude Haiku 3" is `claude-3-haiku`.
  return words[0] === "claude" ? words.toSorted().join("-") : words.join("-")
}

const words: Readonly<Record<CallReason, (calls: string) => string>> = {
  unpriced: (calls) => `${calls} without a known price, booked as 0`,
  voided: (calls) => `${calls} whose answer was not used, booked as 0`,
  estimated: (calls) => `${calls} without reported usage, estimated`,
  aborted: (calls) => `${calls} that the client left, estimated`,
  failed: (calls) => `${calls} that failed or broke off`
}

const counted = (calls: number): string => `${calls.toLocaleString("en-US")} ${calls === 1 ? "call" : "calls"}`

/** Removes the rounding errors of sums of doubles behind the twelfth decimal. */
export const tidy = (usd: number): number => Number(usd.toFixed(12)) + 0

/** Less than this is rounding. */
const leastUsd = 1e-6
const halfCentUsd = 0.005

interface Pair {
  readonly date: string
  model: string | null
  billedUsd: number
  /** Amounts of the export. */
  lines: number
  readonly booked: Array<Booked>
}

const merged = (reasons: ReadonlyArray<Explained>): ReadonlyArray<Explained> => {
  const all = new Map<CallReason, Explained>()
  for (const one of reasons) {
    const known = all.get(one.reason)
    all.set(
      one.reason,
      known === undefined
        ? one
        : {
            reason: one.reason,
            calls: known.calls + one.calls,
            costUsd: known.costUsd + one.costUsd,
            requestIds: [...known.requestIds, ...one.requestIds].slice(0, 5)
          }
    )
  }
  return [...all.values()]
}

const elsewhere = "not through this gateway, or with another key of the account"

const whyOf = (
  { billedUsd, booked, lines }: Pair,
  ledgerUsd: number,
  reasons: ReadonlyArray<Explained>,
  inCents: boolean
): string => {
  const difference = billedUsd - ledgerUsd
  if (Math.abs(difference) < leastUsd) return ""
  if (inCents && Math.abs(difference) <= lines * halfCentUsd + leastUsd) return "rounded to cents on the bill"
  const found = reasons.map(({ calls, reason }) => words[reason](counted(calls)))
  if (booked.some(({ source }) => source === "sums")) found.push("only sums are left of that day")
  if (found.length > 0) return found.join("; ")
  if (booked.length === 0) return elsewhere
  if (lines === 0) return "not on the bill"
  if (difference > 0) return `${elsewhere}, or at another price than 'gateway pricing' has`
  return "at another price than 'gateway pricing' has (a discount, batch, or free tokens)"
}

/**
 * Compares bill and ledger by day, the latest first, then by item. `byDay`: the export names no models, so that only
 * days are compared.
 */
export const reconcile = (
  billed: ReadonlyArray<Billed>,
  booked: ReadonlyArray<Booked>,
  inCents: boolean
): { readonly rows: ReadonlyArray<Row>; readonly byDay: boolean } => {
  const byDay = billed.every(({ item }) => item === null)
  const pairs = new Map<string, Pair>()
  const pairOf = (date: string, item: string | null, shown: string | null): Pair => {
    const key = JSON.stringify([date, byDay || item === null ? null : modelKey(item)])
    const known = pairs.get(key)
    if (known !== undefined) return known
    const pair: Pair = { date, model: byDay ? null : shown, billedUsd: 0, lines: 0, booked: [] }
    pairs.set(key, pair)
    return pair
  }
  // The ledger's names are the ones that other commands know.
  for (const each of booked) pairOf(each.date, each.model, each.model).booked.push(each)
  for (const { date, item, lines, usd } of billed) {
    const pair = pairOf(date, item, item ?? "(not named)")
    pair.billedUsd += usd
    pair.lines += lines
  }
  const rows = [...pairs.values()]
    .filter(({ billedUsd, booked: calls }) => billedUsd !== 0 || calls.length > 0)
    .map((pair): Row => {
      const ledgerUsd = pair.booked.reduce((sum, { costUsd }) => sum + costUsd, 0)
      const reasons = merged(pair.booked.flatMap((each) => each.reasons))
      return {
        date: pair.date,
        model: pair.model,
        billedUsd: tidy(pair.billedUsd),
        ledgerUsd: tidy(ledgerUsd),
        differenceUsd: tidy(pair.billedUsd - ledgerUsd),
        calls: pair.booked.reduce((sum, { calls }) => sum + calls, 0),
        reasons,
        why: whyOf(pair, ledgerUsd, reasons, inCents)
      }
    })
    .toSorted((one, other) => other.date.localeCompare(one.date) || other.billedUsd - one.billedUsd)
  return { rows, byDay }
}

/** Sums of all rows. */
export const totalsOf = (rows: ReadonlyArray<Row>) => {
  const sum = (amount: (row: Row) => number): number => tidy(rows.reduce((all, row) => all + amount(row), 0))
  return {
    billedUsd: sum(({ billedUsd }) => billedUsd),
    ledgerUsd: sum(({ ledgerUsd }) => ledgerUsd),
    differenceUsd: sum(({ differenceUsd }) => differenceUsd)
  }
}

/** The first and the last day of a bill. */
export const daysOf = (billed: ReadonlyArray<Billed>): { readonly from: string; readonly to: string } | null => {
  const dates = billed.map(({ date }) => date).toSorted()
  const [from] = dates
  const to = dates.at(-1)
  return from === undefined || to === undefined ? null : { from, to }
}
