/**
 * Use of keys' limits at the start of the gateway. Keys share windows, so each window is summed up once for all of them, and only keys that
 * have used something take memory: a start costs a few statements, however many keys there are.
 */
import * as Effect from "effect/Effect"
import type { StoreError } from "../../store/Errors.ts"
import type { KeySpend, SpendRepo } from "../../subjects/usage/SpendRepo.ts"
import { otherModel } from "../../store/usage/UsageSumsSql.ts"
import { Meter, type MeterSpec } from "./Meter.ts"
import { type LimitWindow, windowAt } from "./Windows.ts"

/** Windows that are summed up for all keys at once. Further ones, of keys with times of their own, are summed up key by key. */
const mostShared = 32

/** Returns the use in the unit of the limit; null where the window was not summed up. */
export type UsedAtStart = (apiKeyId: string, spec: MeterSpec, window: LimitWindow) => number | null

/** Models that a period took together may be the one that a limit is for. */
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

/** Sums the part of a key's use that counts for a limit. */
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

const nameOf = (spec: MeterSpec, { endMs, startMs }: LimitWindow): string =>
  `${startMs} ${endMs} ${spec.scope === null ? "all" : "by model"}`

/** `limited` has the limits of every key that has some; nothing may be booked meanwhile. */
export const usedAtStart = Effect.fnUntraced(function* (
  spend: Pick<typeof SpendRepo.Service, "sums">,
  limited: Iterable<ReadonlyArray<MeterSpec>>,
  atMs: number
): Effect.fn.Return<UsedAtStart, StoreError> {
  const windows = new Map<string, { readonly window: LimitWindow; readonly byModel: boolean }>()
  for (const specs of limited) {
    for (const spec of specs) {
      const window = windowAt(spec.rule, atMs)
      const name = nameOf(spec, window)
      if (windows.size < mostShared && !windows.has(name)) windows.set(name, { window, byModel: spec.scope !== null })
    }
  }
  const sums = new Map<string, ReadonlyMap<string, ReadonlyArray<KeySpend>>>()
  for (const [name, { byModel, window }] of windows) {
    sums.set(name, byKey(yield* spend.sums({ sinceMs: window.startMs, untilMs: window.endMs }, byModel)))
  }
  return (apiKeyId, spec, window) => {
    const ofWindow = sums.get(nameOf(spec, window))
    return ofWindow === undefined ? null : usedOf(spec, ofWindow.get(apiKeyId) ?? [])
  }
})

/** The meters of a key that were summed up, as they were at the start. */
export const metersAtStart = (
  apiKeyId: string,
  specs: ReadonlyArray<MeterSpec>,
  used: UsedAtStart,
  startMs: number
): ReadonlyArray<Meter> =>
  specs.flatMap((spec) => {
    const meter = new Meter(spec)
    const window = meter.at(startMs)
    const amount = used(apiKeyId, spec, window)
    if (amount === null) return []
    window.used = amount
    return [meter]
  })
