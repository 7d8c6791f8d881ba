/**
 * The blocks of memories in sessions: in memory, and behind that in the store, so that a session goes on after a restart as it was. A store that
 * fails costs the provider's prompt cache, never a request.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FiberSet from "effect/FiberSet"
import type { PlacedBlock } from "../../subjects/memory/entity.ts"
import type { StoreError } from "../../store/Errors.ts"
import type { MemoryBlockRepo } from "../../subjects/memory/MemoryBlockRepo.ts"
import type { UserTurn } from "./Recall.ts"
import { keptMs, makeBlocks, maxBytes, maxTurns } from "./Blocks.ts"

type Run = Effect.Effect.Success<ReturnType<typeof FiberSet.makeRuntime<never>>>

export interface SessionBlocks {
  /** Hot. Null: nothing is put there; undefined: it is not decided, or not loaded. */
  readonly at: (turn: string, nowMs: number) => PlacedBlock | null | undefined
  /** Brings what the store has of the turns into memory. Where it has none, only the last turn is still to be decided. */
  readonly load: (turns: ReadonlyArray<UserTurn>, nowMs: number) => Effect.Effect<void>
  /** Hot: decides for a turn; the store is written in the background. */
  readonly put: (apiKeyId: string | null, turn: string, block: PlacedBlock | null, nowMs: number) => void
  /** Hot: the turns are in a request. */
  readonly used: (turns: ReadonlyArray<string>, nowMs: number) => void
  /** No block holds the memory from now on. */
  readonly forget: (memoryId: string) => Effect.Effect<void, StoreError>
  /** Removes from the store what is too old, or too much. */
  readonly sweep: (nowMs: number) => Effect.Effect<void, StoreError>
}

/** Turns of one request that are looked for in the store, the latest. */
export const mostLoaded = 2_000
/** The bounds of the store are looked after once in so many writes, and hourly. */
const trimEvery = 100

const logged = (what: string) => Effect.catchAll((error: StoreError) => Effect.logWarning(what, error))

/** `run` runs what is behind requests. */
export const makeSessionBlocks = (repo: Context.Tag.Service<typeof MemoryBlockRepo>, run: Run): SessionBlocks => {
  const blocks = makeBlocks()
  let writes = 0

  /** Runs a write in a later turn of the event loop: a request does not wait for the store. */
  const behind = (write: Effect.Effect<void>): void => void run(Effect.zipRight(Effect.yieldNow(), write))

  const sweep = (nowMs: number) => repo.trim({ beforeMs: nowMs - keptMs, maxBlocks: maxTurns, maxBytes })

  const save = (apiKeyId: string | null, turn: string, block: PlacedBlock, nowMs: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      // A memory that it holds was changed meanwhile.
      if (blocks.at(turn, nowMs) !== block) return Effect.void
      writes += 1
      const saved = repo.save({ turn, apiKeyId, block, lastUsedAtMs: nowMs })
      return writes % trimEvery === 0 ? Effect.zipRight(saved, sweep(nowMs)) : saved
    }).pipe(logged("The place of memories in a session was not stored"))

  const load: SessionBlocks["load"] = (turns, nowMs) =>
    Effect.suspend(() => {
      const unknown = turns.filter(({ name }) => blocks.at(name, nowMs) === undefined).slice(-mostLoaded)
      if (unknown.length === 0) return Effect.void
      const names = unknown.map(({ name }) => name)
      return Effect.map(repo.ofTurns(names, nowMs - keptMs), (found) => {
        for (const { isLast, name } of unknown) {
          const block = found.get(name) ?? null
          if (block !== null || !isLast) blocks.put(name, block, nowMs)
        }
      })
    }).pipe(logged("The places of memories in a session could not be read; it goes on without them"))

  return {
    at: blocks.at,
    load,
    put: (apiKeyId, turn, block, nowMs) => {
      blocks.put(turn, block, nowMs)
      if (block !== null) behind(save(apiKeyId, turn, block, nowMs))
    },
    used: (turns, nowMs) => {
      const due = turns.filter((turn) => blocks.isDue(turn, nowMs))
      if (due.length > 0) behind(logged("The use of memories in a session was not noted")(repo.used(due, nowMs)))
    },
    forget: (memoryId) =>
      Effect.suspend(() => {
        blocks.forget(memoryId)
        return repo.forget(memoryId)
      }),
    sweep
  }
}
