/**
 * What strategies remember between requests: turns, decks, credits, who is kept and who answered last, by combo name, `auto` id or
 * requested id. State in memory, written to the store soon after, so that a restart goes on where it was.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { makeKeeper } from "../resilience/Keeper.ts"
import type { StoreError } from "../store/Errors.ts"
import { RouterMemoryRepo } from "../store/repo/RouterMemoryRepo.ts"
import { blankMemory, type StrategyMemory } from "./engine/Strategy.ts"
import type { Target } from "./ModelResolver.ts"
import { readStates } from "./StoredStates.ts"

/** Keys kept at most; beyond it the one that was longest unchanged goes. */
export const capacity = 1_000

/** Longer keys are not remembered: clients choose them. */
const maxKeyLength = 500

export class RouterMemory extends Context.Tag("gateway/routing/RouterMemory")<
  RouterMemory,
  {
    /** Hot: blank for a key that nobody has seen. */
    readonly of: (key: string) => StrategyMemory
    /** Hot: in force at once, in the store soon after. */
    readonly keep: (key: string, memory: StrategyMemory) => void
    /** Hot: the part of `of` that says who answered last. */
    readonly state: (key: string) => Pick<StrategyMemory, "lastKnownGood">
    /** Hot: a target has answered wholly. */
    readonly served: (key: string, target: Target) => void
    /** Done when everything kept before is in the store. */
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

export const make = Effect.gen(function* () {
  const repo = yield* RouterMemoryRepo
  const { corrupt, states } = yield* readStates(what, StoredMemory, yield* repo.list)
  const memories = new Map<string, StrategyMemory>(states)

  const keeper = yield* makeKeeper(what, (key) => {
    const memory = memories.get(key)
    return memory === undefined ? repo.remove(key) : repo.save(key, JSON.stringify(memory))
  })

  const dropOldest = (): void => {
    for (const oldest of memories.keys()) {
      if (memories.size <= capacity) return
      memories.delete(oldest)
      keeper.touch(oldest)
    }
  }

  for (const key of corrupt) keeper.touch(key)
  dropOldest()

  const of = (key: string): StrategyMemory => memories.get(key) ?? blankMemory

  const keep = (key: string, memory: StrategyMemory): void => {
    if (of(key) === memory || key.length > maxKeyLength) return
    memories.delete(key)
    memories.set(key, memory)
    dropOldest()
    keeper.touch(key)
  }

  return RouterMemory.of({
    of,
    keep,
    state: of,
    served: (key, { account, model }) => {
      const memory = of(key)
      const connectionId = account.connection.id
      const good = memory.lastKnownGood
      if (good?.connectionId === connectionId && good.model === model) return
      keep(key, { ...memory, lastKnownGood: { connectionId, model } })
    },
    flush: keeper.flush
  })
})

export const layer: Layer.Layer<RouterMemory, StoreError, RouterMemoryRepo> = Layer.scoped(RouterMemory, make)
