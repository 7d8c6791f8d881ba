/**
 * Memory of strategies between requests: turns, decks, credits, the kept target and the one that answered last, by combo name,
 * `auto` id or requested id. State in memory, written to the store soon after, so that a restart goes on where it was; after a
 * crash the usage rows restore a rotation.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import { makeWriteBehind } from "../../resilience/WriteBehind.ts"
import { Replica } from "../../state/Replica.ts"
import type { StoreError } from "../../../store/Errors.ts"
import { RouterMemoryRepo } from "../../../subjects/routing/RouterMemoryRepo.ts"
import { UsageRepo } from "../../../subjects/usage/repo.ts"
import { blankMemory, type StrategyMemory } from "../candidate/Strategy.ts"
import { caughtUp, mostUnsaved } from "./RotationCatchUp.ts"
import { readStates } from "../health/StoredStates.ts"

/** Keys kept at most; beyond it the one that was longest unchanged goes. */
export const capacity = 1_000

/** Longer keys are not remembered: clients choose them. */
const maxKeyLength = 500

export class RouterMemory extends Context.Tag("gateway/plane/routing/decide/RouterMemory")<
  RouterMemory,
  {
    /** Hot: blank for an unknown key. */
    readonly of: (key: string) => StrategyMemory
    /** Hot: keeps a memory; in force at once, in the store soon after. */
    readonly keep: (key: string, memory: StrategyMemory) => void
    /** Waits until everything that was added before is in the store. */
    readonly flush: Effect.Effect<void>
  }
>() {}

const StoredMemory = Schema.Struct({
  turns: Schema.NonNegativeInt,
  sticky: Schema.NullOr(Schema.Struct({ key: Schema.String, left: Schema.Finite })),
  deck: Schema.Array(Schema.String),
  lastDealt: Schema.NullOr(Schema.String),
  lastKnownGood: Schema.NullOr(Schema.Struct({ connectionId: Schema.String, model: Schema.String })),
  credits: Schema.Record({ key: Schema.String, value: Schema.Finite })
})

const what = "The memory of strategies"

type KnownGood = StrategyMemory["lastKnownGood"]

const isSameTarget = (one: KnownGood, other: KnownGood): boolean =>
  one?.connectionId === other?.connectionId && one?.model === other?.model

export const make = Effect.gen(function* () {
  const repo = yield* RouterMemoryRepo
  const usage = yield* UsageRepo
  const stored = yield* repo.list
  const { corrupt, states } = yield* readStates(what, StoredMemory, stored)
  const { rows } = yield* usage.page({ limit: mostUnsaved, cursor: null })
  const memories = new LruMap<string, StrategyMemory>({ capacity, onRemove: (key) => writeBehind.touch(key) })

  const writeBehind = yield* makeWriteBehind(what, (key) => {
    const memory = memories.peek(key)
    return memory === undefined ? repo.remove(key) : repo.save(key, JSON.stringify(memory))
  })

  for (const key of corrupt) writeBehind.touch(key)
  const known = caughtUp(states, new Map(stored.map(({ key, updatedAtMs }) => [key, updatedAtMs])), rows)
  for (const [key, memory] of known) memories.set(key, memory)

  const of = (key: string): StrategyMemory => memories.peek(key) ?? blankMemory

  const put = (key: string, memory: StrategyMemory): void => {
    memories.set(key, memory)
    writeBehind.touch(key)
  }
  // Turns are each process's own: a rotation of them all would have to ask. Which target answered is everybody's.
  const { isShared, shared } = yield* Replica
  const answered = shared("router.answered", (key: string, lastKnownGood: StrategyMemory["lastKnownGood"]) =>
    put(key, { ...of(key), lastKnownGood })
  )
  const keep = (key: string, memory: StrategyMemory): void => {
    const before = of(key)
    if (before === memory || key.length > maxKeyLength) return
    if (isShared && !isSameTarget(before.lastKnownGood, memory.lastKnownGood)) answered(key, memory.lastKnownGood)
    put(key, memory)
  }

  return RouterMemory.of({
    of,
    keep,
    flush: writeBehind.flush
  })
})

/** Give it the usage journal: that first brings in the rows of a run that died. */
export const layer: Layer.Layer<RouterMemory, StoreError, RouterMemoryRepo | UsageRepo> = Layer.scoped(
  RouterMemory,
  make
)
