/** Puts the limits of people and teams in force for the accounts of their keys, and follows their changes. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Timers } from "../../platform/Timers.ts"
import type { UsageJournal } from "../../store/usage/UsageJournal.ts"
import type { ApiKeys } from "../../subjects/auth/ApiKeys.ts"
import type { KeyOwnerRepo } from "../../subjects/keys/KeyOwnerRepo.ts"
import type { LimitNotice } from "../../subjects/limits/repo.ts"
import type { People } from "../../subjects/people/People.ts"
import type { Spend, SpendRepo } from "../../subjects/usage/SpendRepo.ts"
import type { KeyAccount } from "./KeyAccount.ts"
import type { Booked, WorkersBooks } from "./LedgerTruth.ts"
import { Meter, type MeterSpec } from "./Meter.ts"
import {
  isOfOwned,
  isSameShared,
  ownedWithin,
  type SharedMeter,
  sharedOf,
  type SharedSpec,
  sharedSpecs
} from "./SharedMeters.ts"

/** Parts of the ledger that the shared limits are made with. */
export interface SharedDeps {
  readonly keys: typeof ApiKeys.Service
  readonly people: typeof People.Service
  readonly owners: typeof KeyOwnerRepo.Service
  readonly spend: typeof SpendRepo.Service
  readonly journal: typeof UsageJournal.Service
  readonly timers: typeof Timers.Service
  readonly accounts: ReadonlyMap<string, KeyAccount>
  readonly waiting: Set<string>
  readonly shared: Map<string, SharedMeter>
  readonly booking: Set<Array<Booked>>
  readonly notices: ReadonlyMap<string, LimitNotice>
  readonly workers: WorkersBooks
  readonly onChanged: ReadonlySet<(apiKeyId: string) => void>
}

const changed = ({ onChanged }: SharedDeps, apiKeyId: string): void => {
  for (const listener of onChanged) listener(apiKeyId)
}

/** Waits until what has happened in this turn is noted. */
export const nextTurn = ({ timers }: Pick<SharedDeps, "timers">): Effect.Effect<void> =>
  Effect.async((resume) => timers.soon(() => resume(Effect.void)))

/** The amount in the unit of a limit. */
const amountIn = ({ unit }: MeterSpec, { costNanoUsd, requests, tokens }: Spend): number => {
  switch (unit) {
    case "usd":
      return costNanoUsd
    case "tokens":
      return tokens
    case "requests":
      return requests
  }
}

/** Puts a meter of a person or a team in force, for all of their keys in one step. */
export const installShared = Effect.fnUntraced(function* (deps: SharedDeps, { ids, spec }: SharedSpec, atMs: number) {
  const { booking, journal, keys, owners, shared, spend } = deps
  const { owner } = spec
  if (owner === undefined) return
  const meter = new Meter(spec)
  const window = meter.at(atMs)
  const since: Array<Booked> = []
  for (const { id } of keys.list()) since.push(...deps.workers.waiting(id))
  booking.add(since)
  const counting = Effect.gen(function* () {
    // Rows of requests that have just ended come to the journal at the end of the turn.
    yield* nextTurn(deps)
    yield* journal.flush
    const owned = ownedWithin(owner, ids, yield* owners.since(window.startMs), window)
    const range = { sinceMs: window.startMs, untilMs: window.endMs }
    const sum = yield* spend.ownedWith(range, owned, () => since.map(({ requestId }) => requestId))
    window.used += amountIn(spec, sum)
    for (const booked of since) {
      if (sum.included.has(booked.requestId) || !isOfOwned(owned, booked)) continue
      for (const charge of booked.charges) meter.at(booked.receivedMs).used += meter.amountOf(charge)
    }
    const last = deps.notices.get(spec.id)
    window.notified = last?.windowStartMs === window.startMs ? last.threshold : null
    shared.set(spec.id, { meter, ids })
    attachShared(deps)
  })
  yield* Effect.ensuring(
    counting,
    Effect.sync(() => void booking.delete(since))
  )
})

const isSameList = (one: ReadonlyArray<Meter>, other: ReadonlyArray<Meter>): boolean =>
  one.length === other.length && one.every((meter, at) => meter === other[at])

/** Gives each key the meters that it shares now. */
const attachShared = (deps: SharedDeps): void => {
  const { accounts, keys, people, shared, waiting } = deps
  const directory = people.directory()
  for (const key of keys.list()) {
    if (key.userId === null && key.teamId === null) continue
    const meters = sharedOf(shared, directory, key)
    const account = accounts.get(key.id)
    if (account === undefined) {
      // Its account is made when it is asked for.
      if (meters.length > 0 && !waiting.has(key.id)) {
        waiting.add(key.id)
        changed(deps, key.id)
      }
    } else if (!isSameList(account.shared, meters)) {
      account.share(meters, key.ownedSinceMs)
      changed(deps, key.id)
    }
  }
}

/** Makes the meters of people and teams anew; those that count the same keep what they have counted. */
export const refreshShared = Effect.fn("KeyLimits.ownersChanged")(function* (deps: SharedDeps) {
  const { people, shared } = deps
  const specs = sharedSpecs(people.directory())
  const atMs = yield* Clock.currentTimeMillis
  for (const [id, known] of shared) {
    const wanted = specs.get(id)
    if (wanted === undefined || !isSameShared(known, wanted)) shared.delete(id)
    else shared.set(id, { ...known, meter: resizedTo(known.meter, wanted.spec) })
  }
  attachShared(deps)
  for (const wanted of specs.values()) if (!shared.has(wanted.spec.id)) yield* installShared(deps, wanted, atMs)
})

/** The same meter where nothing of it has changed. */
const resizedTo = (meter: Meter, spec: MeterSpec): Meter => {
  const { limit, owner, warningThreshold } = meter.spec
  return limit === spec.limit && warningThreshold === spec.warningThreshold && owner?.name === spec.owner?.name
    ? meter
    : meter.resized(spec)
}

/** Gives an account the meters that its key shares now. */
export const shareWith = ({ keys, people, shared }: SharedDeps, account: KeyAccount, apiKeyId: string): void => {
  const key = keys.get(apiKeyId)
  const meters = sharedOf(shared, people.directory(), key)
  if (meters.length > 0 || account.shared.length > 0) account.share(meters, key?.ownedSinceMs ?? null)
}
