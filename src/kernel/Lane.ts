/**
 * Places for a limited number of effects at once, in the order they come. One that ends wakes one that waits; Effect's semaphore wakes all of them, and each
 * then waits again behind all its waits before, so that a thousand take gigabytes.
 */
import * as Effect from "effect/Effect"

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Ticket {
  isIn: boolean
  resume: ((entered: Effect.Effect<void>) => void) | null
}

export interface Lane {
  readonly inTurn: <A, E, R>(use: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Waits for a place and takes it, in an uninterruptible region; `restore` is that of its mask, for the wait. The effect that it comes to gives it back. */
  readonly taken: (restore: Restore) => Effect.Effect<Effect.Effect<void>>
  /** Hot: a place is free, so that nothing waits. */
  readonly isFree: () => boolean
  /** Hot: effects that wait for a place. */
  readonly waiting: () => number
}

const newTicket = (): Ticket => ({ isIn: false, resume: null })

export const makeLane = (places: number): Lane => {
  let free = places
  const waiting = new Set<Ticket>()

  const enter = (ticket: Ticket): Effect.Effect<void> =>
    Effect.async<void>((resume) => {
      if (free > 0) {
        free -= 1
        ticket.isIn = true
        return resume(Effect.void)
      }
      ticket.resume = resume
      waiting.add(ticket)
    })

  const leave = (ticket: Ticket): void => {
    waiting.delete(ticket)
    if (!ticket.isIn) return
    ticket.isIn = false
    const [next] = waiting
    if (next === undefined) {
      free += 1
      return
    }
    // The place goes over at once: the effect that is woken has it, also when it is interrupted before it runs.
    waiting.delete(next)
    next.isIn = true
    next.resume?.(Effect.void)
  }

  const left = (ticket: Ticket): Effect.Effect<void> => Effect.sync(() => leave(ticket))

  return {
    inTurn: (use) =>
      Effect.acquireUseRelease(Effect.sync(newTicket), (ticket) => Effect.zipRight(enter(ticket), use), left),
    taken: (restore) =>
      Effect.suspend(() => {
        const ticket = newTicket()
        return Effect.as(
          Effect.onInterrupt(restore(enter(ticket)), () => left(ticket)),
          left(ticket)
        )
      }),
    isFree: () => free > 0,
    waiting: () => waiting.size
  }
}
