/**
 * Bills as the providers' pages export them:
 * - OpenAI's costs (https://platform.openai.com/usage, "Export", seen 2025-10): `start_time`, `amount_value`, `amount_currency`, `line_item`, …
 * - Anthropic's costs (https://support.claude.com/en/articles/9534590-cost-and-usage-reporting-in-console, seen 2026-08): `usage_date_utc`,
 *   `model`, `token_type`, `cost_usd`, `cost_type`, …
 *
 * The columns are documented by the files only, so they are found by name, and others are left alone. Pure.
 */
import { type BillForm, type BillSums, amountOf, dayOf, inUsd, NoBill } from "./Bill.ts"
import { isDay } from "../../../kernel/time/IsoInstant.ts"
import { howToExport } from "./JsonBills.ts"

export type CsvRecord = Readonly<Record<string, string>>

const forms: ReadonlyArray<readonly [form: BillForm, columns: ReadonlyArray<string>]> = [
  ["openai-costs-csv", ["start_time", "amount_value"]],
  ["openai-costs-csv", ["start_time_iso", "amount_value"]],
  ["anthropic-cost-csv", ["usage_date_utc", "cost_usd"]]
]

/** Columns of exports that count tokens. */
const ofUsage = ["input_tokens", "usage_input_tokens_no_cache"]

/** Finds the export that has these columns. */
export const csvFormOf = (columns: ReadonlyArray<string>): BillForm => {
  const has = (names: ReadonlyArray<string>): boolean => names.every((name) => columns.includes(name))
  const found = forms.find(([, names]) => has(names))
  if (found !== undefined) return found[0]
  if (ofUsage.some((name) => columns.includes(name))) throw new NoBill("has tokens and no amounts", howToExport)
  throw new NoBill("is no cost export of OpenAI or Anthropic", howToExport)
}

const seconds = /^\d{1,12}$/
const day = /^\d{4}-\d\d-\d\d/

const dateOf = (text: string): string => {
  if (seconds.test(text)) return dayOf(Number(text) * 1000)
  if (!day.test(text) || !isDay(text.slice(0, 10))) throw new NoBill("has a day that is none")
  return dayOf(Date.parse(text.length === 10 ? `${text}T00:00:00Z` : text))
}

/** Adds the amount of a record to sums. */
export const readCsvRecord = (form: BillForm, record: CsvRecord, sums: BillSums): void => {
  if (form === "openai-costs-csv") {
    inUsd(record["amount_currency"])
    const item = record["line_item"] ?? ""
    sums.add({
      date: dateOf(record["start_time"] || record["start_time_iso"] || ""),
      item: item === "" ? null : item,
      usd: amountOf(record["amount_value"])
    })
    return
  }
  const { cost_type: kind = "", model = "", usage_type: usage = "" } = record
  sums.add({
    date: dateOf(record["usage_date_utc"] ?? ""),
    item: model || kind || usage,
    usd: amountOf(record["cost_usd"])
  })
}
