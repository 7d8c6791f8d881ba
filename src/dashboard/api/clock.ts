/** The gateway's clock, learned from its answers: times of the page are the gateway's. */
import { signal } from "@preact/signals"

/** Milliseconds that the gateway's clock is before this machine's. */
const aheadMs = signal(0)

/** Moves smaller than this are what an answer takes on its way, or the seconds of a header. */
const jitterMs = 2_000

export const learnClock = (serverMs: number): void => {
  const difference = serverMs - Date.now()
  if (Number.isFinite(difference) && Math.abs(difference - aheadMs.peek()) > jitterMs) aheadMs.value = difference
}

/** Milliseconds that the gateway's clock is before this machine's; who draws it is drawn anew when that changes. */
export const clockDifferenceMs = (): number => aheadMs.value

export const nowMs = (): number => Date.now() + aheadMs.peek()
