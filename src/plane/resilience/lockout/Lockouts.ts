/**
 * Locked models (`LockoutStates`). Locks are in memory only: a restart forgets them, the settings stay. Models whose quota is used up are
 * kept in the store.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StoreError } from "../../../store/Errors.ts"
import * as SettingsRepo from "../../../subjects/settings/repo.ts"
import { makeSignal } from "../../../kernel/collections/Signal.ts"
import { Replica } from "../../state/Replica.ts"
import { makeWriteBehind } from "../WriteBehind.ts"
import * as Settings from "../Settings.ts"
import { keyOf } from "./LockoutStates.ts"
import { QuotaHold, type QuotaHolds, makeQuotaHolds } from "./QuotaHolds.ts"
import { type LockoutChange, type LockoutStates, makeLockoutStates } from "./LockoutStates.ts"

export type { LockoutFailure, LockoutView } from "./LockoutStates.ts"
export { capacity } from "./LockoutStates.ts"

export class Lockouts extends Context.Tag("gateway/plane/resilience/lockout/Lockouts")<
  Lockouts,
  LockoutStates & {
    /** Calls `listener` with each model whose lock has changed, until the returned function is called. */
    readonly listen: (listener: (change: LockoutChange) => void) => () => void
    /** Waits until the holds outlive a crash. */
    readonly flush: Effect.Effect<void>
  }
>() {}

const namespace = "model_holds"
const decode = (stored: unknown) => Schema.decodeUnknownOption(QuotaHold)(stored)

export const make = Effect.gen(function* () {
  const settings = yield* Settings.Settings
  const repo = yield* SettingsRepo.SettingsRepo
  const stored = yield* repo.list(namespace)
  const initial = Array.from(stored).flatMap(([id, value]) =>
    Option.toArray(Option.map(decode(value), (hold) => [id, hold] as const))
  )
  const writeBehind = yield* makeWriteBehind("The hold", (id) => {
    const hold = holds.get(id)
    return hold === undefined ? Effect.asVoid(repo.remove(namespace, id)) : repo.set(namespace, id, hold)
  })
  const signal = makeSignal<LockoutChange>()
  let changed = 0
  const changes = (): number => changed
  let isReady = false
  const holdChanged = (id: string): void => {
    writeBehind.touch(id)
    changed += 1
    if (!isReady) return
    const { reason = null, untilMs = null } = holds.get(id) ?? {}
    signal.tell({ ...keyOf(id), untilMs, reason })
  }
  const holds: QuotaHolds = makeQuotaHolds(initial, holdChanged)
  isReady = true
  const states = makeLockoutStates(
    () => settings.current().modelLockout,
    holds,
    (change) => {
      changed += 1
      signal.tell(change)
    }
  )
  const { shared } = yield* Replica
  return Lockouts.of({
    ...states,
    fail: shared("lockout.fail", states.fail),
    hold: shared("lockout.hold", states.hold),
    succeed: shared("lockout.succeed", states.succeed, changes),
    clear: shared("lockout.clear", states.clear),
    listen: signal.listen,
    flush: writeBehind.flush
  })
})

export const layer: Layer.Layer<Lockouts, StoreError, Settings.Settings | SettingsRepo.SettingsRepo> = Layer.scoped(
  Lockouts,
  make
)
