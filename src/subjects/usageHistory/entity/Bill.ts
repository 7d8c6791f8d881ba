/** Bill of a provider, as its exports have it: by day in UTC and by item, which is a model or another service. Pure. */

/** One amount of an export. */
export interface BillLine {
  /** The day in UTC, such as `2035-01-31`. */
  readonly date: string
  /** The model or service in the provider's words; null: the export does not say. */
  readonly item: string | null
  readonly usd: number
}

/** The exports that are read. */
export type BillForm = "openai-costs-json" | "openai-costs-csv" | "anthropic-cost-json" | "anthropic-cost-csv"

export const billForms: Readonly<Record<BillForm, { readonly provider: string; readonly words: string }>> = {
  "openai-costs-json": { provider: "openai", words: "OpenAI's costs API" },
  "openai-costs-csv": { provider: "openai", words: "OpenAI's cost export" },
  "anthropic-cost-json": { provider: "anthropic", words: "Anthropic's cost report API" },
  "anthropic-cost-csv": { provider: "anthropic", words: "Anthropic's cost export" }
}

/** Billed amount of one item on one day. */
export interface Billed {
  readonly date: string
  readonly item: string | null
  usd: number
  lines: number
}

/** More days and items together than an account has. */
const mostItems = 50_000
const maxItemChars = 200

/** An export cannot be read as a bill; `message` follows the name of the file. */
export class NoBill extends Error {
  readonly hint: string | undefined
  constructor(message: string, hint?: string) {
    super(message)
    this.hint = hint
  }
}

/** Adds up lines as they are read, so that a large export takes no more memory than its days and items. */
export class BillSums {
  readonly #sums = new Map<string, Billed>()
  /** All amounts are in whole cents. */
  inCents = true

  add({ date, item, usd }: BillLine): void {
    if (Math.abs(usd * 100 - Math.round(usd * 100)) > 1e-7) this.inCents = false
    const name = item === null || item.trim() === "" ? null : item.trim().slice(0, maxItemChars)
    const key = JSON.stringify([date, name])
    const known = this.#sums.get(key)
    if (known !== undefined) {
      known.usd += usd
      known.lines += 1
    } else if (this.#sums.size < mostItems) this.#sums.set(key, { date, item: name, usd, lines: 1 })
    else throw new NoBill(`has more than ${mostItems} days and items`, "Export fewer days at once.")
  }

  get all(): ReadonlyArray<Billed> {
    return [...this.#sums.values()]
  }
}

const amount = /^-?\d{1,12}(?:\.\d{0,60})?(?:[eE][+-]?\d{1,2})?$/

/** An amount as exports write it; an empty one is nothing. */
export const amountOf = (value: unknown): number => {
  if (value === null || value === undefined || value === "") return 0
  const text = typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : ""
  if (!amount.test(text)) throw new NoBill("has an amount that is no number")
  return Number(text)
}

/** Other currencies cannot be compared with the ledger's USD. */
export const inUsd = (currency: unknown): void => {
  if (currency === null || currency === undefined || currency === "") return
  if (typeof currency !== "string" || currency.trim().toLowerCase() !== "usd") {
    throw new NoBill("is not in USD", "The ledger is in USD; only bills in USD can be compared with it.")
  }
}

const latest = 8_640_000_000_000_000

/** The day of a time in epoch milliseconds. */
export const dayOf = (ms: number): string => {
  if (!Number.isFinite(ms) || Math.abs(ms) > latest) throw new NoBill("has a day that is none")
  return new Date(ms).toISOString().slice(0, 10)
}
