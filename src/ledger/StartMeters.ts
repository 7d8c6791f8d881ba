/**
 * The meters of all keys at a start, with what the log has of their windows. Keys share windows, so that each is summed up once for all of
 * them: a start costs a few statements, however many keys there are.
 */
import * as Effect from "effect/Effect"
import type { StoreError } from "../store/Errors.ts"
import type { KeySpend, SpendRepo } from "../store/repo/SpendRepo.ts"
import { otherModel } from "../store/UsageSumsSql.ts"
import { Meter, type MeterSpec } from "./Meter.ts"

type Spending = Pick<typeof SpendRepo.Service, "sums">

/** Meters whose windows begin and end together. */
interface Shared {
  readonly startMs: number
  readonly endMs: number
  readonly byModel: boolean
  readonly meters: Array<readonly [apiKeyId: string, meter: Meter]>
}

/** Sums by model: models that a period took together may be the one that a limit is for. */
const isOfScope = ({ model, provider }: KeySpend, scope: NonNullable<MeterSpec["scope"]>): boolean =>
  provider === scope.provider && (scope.model === null || model === scope.model || model === otherModel)

const amountOf = ({ unit }: MeterSpec, spend: KeySpend): number => {
  switch (unit) {
    case "usd":
      return spend.costNanoUsd
    case "tokens":
      return spend.tokens
    case "requests":
      return spend.requests
  }
}

/** What of the sums of a key counts for a limit. */
export const usedOf = (spec: MeterSpec, sums: ReadonlyArray<KeySpend>): number => {
  let used = 0
  for (const spend of sums) if (spec.scope === null || isOfScope(spend, spec.scope)) used += amountOf(spec, spend)
  return used
}

const byKey = (rows: ReadonlyArray<KeySpend>): ReadonlyMap<string, ReadonlyArray<KeySpend>> => {
  const found = new Map<string, Array<KeySpend>>()
  for (const row of rows) {
    const known = found.get(row.apiKeyId)
    if (known === undefined) found.set(row.apiKeyId, [row])
    else known.push(row)
  }
  return found
}

/** Nothing may be booked meanwhile. */
export const metersAtStart = Effect.fnUntraced(function* (
  spend: Spending,
  limited: ReadonlyMap<string, ReadonlyArray<MeterSpec>>,
  atMs: number
): Effect.fn.Return<ReadonlyMap<string, ReadonlyArray<Meter>>, StoreError> {
  const windows = new Map<string, Shared>()
  const all = new Map<string, ReadonlyArray<Meter>>()
  for (const [apiKeyId, specs] of limited) {
    const meters = specs.map((spec) => new Meter(spec))
    all.set(apiKeyId, meters)
    for (const meter of meters) {
      const { endMs, startMs } = meter.at(atMs)
      const byModel = meter.spec.scope !== null
      const name = `${startMs} ${endMs} ${byModel}`
      const known = windows.get(name)
      if (known === undefined) windows.set(name, { startMs, endMs, byModel, meters: [[apiKeyId, meter]] })
      else known.meters.push([apiKeyId, meter])
    }
  }
  for (const { byModel, endMs, meters, startMs } of windows.values()) {
    const sums = byKey(yield* spend.sums({ sinceMs: startMs, untilMs: endMs }, byModel))
    for (const [apiKeyId, meter] of meters) meter.at(atMs).used += usedOf(meter.spec, sums.get(apiKeyId) ?? [])
  }
  return all
})
