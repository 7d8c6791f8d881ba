/**
 * Places for what is in progress, by owner: none is taken from its holder, and no owner takes them all. Plain and
 * synchronous.
 */
import { mayTakePlace } from "./FairShare.ts"

export interface FairPlaces {
  /** Takes a place; the function gives it back, once. Null: the owner has its share, or there is none left. */
  readonly enter: (owner: string) => (() => void) | null
  /** The same for what cannot be refused: it was in progress before. */
  readonly hold: (owner: string) => () => void
  /** Returns the number of places taken by all owners. */
  readonly taken: () => number
  readonly takenBy: (owner: string) => number
}

/** `capacity` is asked each time: it may be a setting. */
export const makeFairPlaces = (capacity: () => number): FairPlaces => {
  const byOwner = new Map<string, number>()
  let taken = 0
  const takenBy = (owner: string): number => byOwner.get(owner) ?? 0

  const leave = (owner: string): void => {
    taken -= 1
    const left = takenBy(owner) - 1
    if (left > 0) byOwner.set(owner, left)
    else byOwner.delete(owner)
  }

  const hold = (owner: string): (() => void) => {
    taken += 1
    byOwner.set(owner, takenBy(owner) + 1)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      leave(owner)
    }
  }

  return {
    enter: (owner) => (mayTakePlace({ capacity: capacity(), taken, own: takenBy(owner) }) ? hold(owner) : null),
    hold,
    taken: () => taken,
    takenBy
  }
}
