/**
 * Bills as the providers' APIs answer them, one page or several in a list:
 * - `GET /v1/organization/costs` of OpenAI, https://platform.openai.com/docs/api-reference/usage/costs (read 2026-09)
 * - `GET /v1/organizations/cost_report` of Anthropic, https://platform.claude.com/docs/en/api/admin/cost_report (read 2026-09). Its amounts are in
 *   cents, as decimal texts.
 *
 * Both have buckets of a day in UTC, and name what was billed only when they are asked to group by it. Pure.
 */
import { type BillForm, type BillSums, amountOf, dayOf, inUsd, NoBill } from "./Bill.ts"

type Json = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null)

const howToExport =
  "Export costs, not usage: OpenAI's GET /v1/organization/costs?group_by=line_item, Anthropic's GET /v1/organizations/cost_report?group_by[]=description, or the CSV of their cost pages."

const noExport = (): NoBill => new NoBill("is no cost export of OpenAI or Anthropic", howToExport)
const usageOnly = (): NoBill => new NoBill("has tokens and no amounts", howToExport)

const openAi = (bucket: Json, result: Json, sums: BillSums): void => {
  const amount = isRecord(result["amount"]) ? result["amount"] : {}
  inUsd(amount["currency"])
  sums.add({
    date: dayOf(Number(bucket["start_time"]) * 1000),
    item: textOf(result["line_item"]),
    usd: amountOf(amount["value"])
  })
}

const centsPerUsd = 100

const anthropic = (bucket: Json, result: Json, sums: BillSums): void => {
  inUsd(result["currency"])
  sums.add({
    date: dayOf(Date.parse(String(bucket["starting_at"]))),
    item: textOf(result["model"]) ?? textOf(result["description"]) ?? textOf(result["cost_type"]),
    usd: amountOf(result["amount"]) / centsPerUsd
  })
}

const formOf = (bucket: Json): BillForm | null =>
  typeof bucket["start_time"] === "number"
    ? "openai-costs-json"
    : typeof bucket["starting_at"] === "string"
      ? "anthropic-cost-json"
      : null

export interface JsonBill {
  readonly form: BillForm
  /** The report goes on behind what was exported. */
  readonly goesOn: boolean
}

/** Adds the amounts of an answer, or of a list of answers, to sums. */
export const readJsonBill = (answer: unknown, sums: BillSums): JsonBill => {
  const pages = Array.isArray(answer) ? answer : [answer]
  let form: BillForm | null = null
  for (const page of pages) {
    if (!isRecord(page) || !Array.isArray(page["data"])) throw noExport()
    for (const bucket of page["data"]) {
      const found = isRecord(bucket) ? formOf(bucket) : null
      if (!isRecord(bucket) || found === null || !Array.isArray(bucket["results"])) throw noExport()
      if (form !== null && found !== form) throw new NoBill("mixes the exports of two providers")
      form = found
      for (const result of listOf(bucket["results"])) {
        if (!isRecord(result)) throw noExport()
        if (result["amount"] === undefined) throw usageOnly()
        if (found === "openai-costs-json") openAi(bucket, result, sums)
        else anthropic(bucket, result, sums)
      }
    }
  }
  if (form === null) throw new NoBill("has no day in it", "Export days that have begun.")
  const last = pages.at(-1)
  return { form, goesOn: isRecord(last) && last["has_more"] === true }
}

export { howToExport }
