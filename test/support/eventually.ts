/** Waits for a state that has no signal to wait for. Fails after a limit with what it waited for and the last value. */
import { inspect } from "node:util"
import { setTimeout as delay } from "node:timers/promises"

export interface EventuallyOptions {
  readonly withinMs?: number
  readonly everyMs?: number
}

const defaultWithinMs = 10_000
const maxShownChars = 2_000

/** Probes until `isDone`, within the limit at most; returns the last value, wanted or not. */
export const lastWithin = async <A>(
  probe: () => A | Promise<A>,
  isDone: (value: A) => boolean,
  { everyMs = 5, withinMs = defaultWithinMs }: EventuallyOptions = {}
): Promise<A> => {
  const begun = performance.now()
  let value = await probe()
  while (!isDone(value) && performance.now() - begun <= withinMs) {
    await delay(everyMs)
    value = await probe()
  }
  return value
}

/** Probes until `isDone`; returns that value. `what` completes the sentence "Waited … for". */
export const eventually = async <A>(
  what: string,
  probe: () => A | Promise<A>,
  isDone: (value: A) => boolean,
  options: EventuallyOptions = {}
): Promise<A> => {
  let isFound = false
  const value = await lastWithin(probe, (probed) => (isFound = isDone(probed)), options)
  if (isFound) return value
  const shown = inspect(value, { depth: 5 }).slice(0, maxShownChars)
  throw new Error(`Waited ${options.withinMs ?? defaultWithinMs} ms for ${what}; last: ${shown}`)
}

/** Probes until there is a value. */
export const eventuallyFound = async <A>(
  what: string,
  probe: () => A | undefined | Promise<A | undefined>,
  options?: EventuallyOptions
): Promise<A> => {
  const found = await eventually(what, probe, (value) => value !== undefined, options)
  if (found === undefined) throw new Error(`There is no ${what}`)
  return found
}
