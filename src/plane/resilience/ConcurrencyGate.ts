/**
 * Places at a connection (`max_concurrent`): callers beyond the limit wait in line, first come first served, in a bounded queue.
 * Plain callbacks, because the request path asks on every attempt; a free place costs two map operations.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Permits, type PermitsShape, type Place, type Release } from "../state/Permits.ts"

export type { Place, Release } from "../state/Permits.ts"

export class ConcurrencyGate extends Context.Tag("gateway/plane/resilience/ConcurrencyGate")<
  ConcurrencyGate,
  PermitsShape
>() {}

type Waiter = (release: Release) => void

interface Desk {
  taken: number
  /** The limit may be changed while callers wait. */
  limit: number
  readonly line: Set<Waiter>
}

export const make = Effect.sync(() => {
  const desks = new Map<string, Desk>()

  const releaseOf = (key: string, desk: Desk): Release => {
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      desk.taken -= 1
      serve(key, desk)
    }
  }

  const clearAway = (key: string, desk: Desk): void => {
    if (desk.taken === 0 && desk.line.size === 0 && desks.get(key) === desk) desks.delete(key)
  }

  const serve = (key: string, desk: Desk): void => {
    for (const waiter of desk.line) {
      if (desk.taken >= desk.limit) return
      desk.line.delete(waiter)
      desk.taken += 1
      waiter(releaseOf(key, desk))
    }
    clearAway(key, desk)
  }

  const leave = (key: string, desk: Desk, waiter: Waiter): void => {
    desk.line.delete(waiter)
    clearAway(key, desk)
  }

  const deskOf = (key: string, limit: number): Desk => {
    const known = desks.get(key)
    if (known !== undefined) return known
    const desk: Desk = { taken: 0, limit, line: new Set() }
    desks.set(key, desk)
    return desk
  }

  /** The desk is looked for when the waiting begins: the one that was asked may have been cleared away. */
  const waitAt = (key: string, limit: number): Effect.Effect<Release> =>
    Effect.suspend(() => {
      const desk = deskOf(key, limit)
      let granted: Release | null = null
      return Effect.async<Release>((resume) => {
        const waiter: Waiter = (release) => {
          granted = release
          resume(Effect.succeed(release))
        }
        desk.line.add(waiter)
        // The place may have become free since it was asked for.
        serve(key, desk)
        return Effect.sync(() => leave(key, desk, waiter))
      }).pipe(
        // An interruption may come between the giving and the taking.
        Effect.onInterrupt(() => Effect.sync(() => granted?.()))
      )
    })

  const enter = (key: string, limit: number, queueDepth: number): Place => {
    const desk = deskOf(key, limit)
    if (desk.limit !== limit) {
      desk.limit = limit
      // A raised limit is for those in line first.
      if (desk.line.size > 0) serve(key, desk)
    }
    if (desk.taken < limit && desk.line.size === 0) {
      desk.taken += 1
      return { _tag: "Free", release: releaseOf(key, desk) }
    }
    return desk.line.size >= queueDepth ? { _tag: "Full" } : { _tag: "Queued", wait: waitAt(key, limit) }
  }

  return ConcurrencyGate.of({
    enter,
    inUse: (key) => desks.get(key)?.taken ?? 0,
    waiting: (key) => desks.get(key)?.line.size ?? 0
  })
})

export const layer: Layer.Layer<ConcurrencyGate> = Layer.effect(
  ConcurrencyGate,
  Effect.flatMap(Permits, (elsewhere) => (elsewhere === null ? make : Effect.succeed(ConcurrencyGate.of(elsewhere))))
)
