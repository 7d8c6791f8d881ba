/** The end of a company's month: it is closed, and its bill is held against the ledger, and against what the provider says. */
import { writeFileSync } from "node:fs"
import { assert } from "vitest"
import type { Company } from "./Company.ts"

const dayMs = 86_400_000

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command as the operator does. */
export type Operate = (...args: ReadonlyArray<string>) => Promise<Ended>

/** An account that a provider keeps of its answers. */
export interface Account {
  readonly calls: number
  readonly costUsd: number
}

export interface Month {
  /** As `2026-11`. */
  readonly name: string
  /** How far a clock must be moved until it is the second day of the next. */
  readonly untilNextMs: number
  /** The day on which the work was done, at midnight. */
  readonly dayMs: number
}

export const monthOf = (now: Date): Month => ({
  name: now.toISOString().slice(0, 7),
  untilNextMs: Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 2) - now.getTime(),
  dayMs: Math.floor(now.getTime() / dayMs) * dayMs
})

interface Row {
  readonly costUsd: number
  readonly person?: string | null
  readonly team?: string | null
}

/** Closes a month that is over, and compares the bill with the ledger and with the providers' account of all answers. */
export const closed = async (
  company: Company,
  operate: Operate,
  month: string,
  account: Account
): Promise<ReadonlyArray<Row>> => {
  const closing = await operate("cost", "close", month, "--yes")
  assert.strictEqual(closing.code, 0, closing.stderr)
  const { bills } = await company.manage("GET", "/api/bills/closed")
  assert.deepInclude(bills[0], { month, intact: true })
  const bill = await company.manage("GET", `/api/bills?month=${month}&by=person,team`)
  assert.match(bill.checksum, /^[0-9a-f]{64}$/)
  const { logs } = await company.manage("GET", "/api/usage/logs?limit=1000&outcome=completed")
  const ledgerUsd = logs.reduce((sum: number, row: Row) => sum + row.costUsd, 0)
  assert.lengthOf(logs, account.calls)
  assert.closeTo(bill.total.costUsd, ledgerUsd, 1e-9)
  assert.closeTo(bill.total.costUsd, account.costUsd, 1e-9)
  return bill.rows
}

/** Compares the bill of a provider, as the file that it gives of the day, with the ledger. */
export const reconciled = async (
  operate: Operate,
  file: string,
  provider: string,
  costUsd: number,
  { dayMs: startMs }: Month
): Promise<void> => {
  const amount = { value: costUsd, currency: "usd" }
  const results = [{ amount, line_item: "m, output" }]
  const bucket = { object: "bucket", start_time: startMs / 1_000, results }
  writeFileSync(file, JSON.stringify({ object: "page", data: [bucket], has_more: false }))
  const checked = await operate("cost", "reconcile", file, "--provider", provider, "--json")
  assert.strictEqual(checked.code, 0, checked.stderr)
  assert.closeTo(JSON.parse(checked.stdout).total.differenceUsd, 0, 1e-9)
}
