/** Tells a screen reader of changes that come by themselves: at most one sentence every ten seconds, the newest. */
import { signal } from "@preact/signals"

const spoken = signal("")
const everyMs = 10_000
let saidAt = -Infinity
let waiting: number | null = null
let next = ""

const sayNow = (): void => {
  waiting = null
  saidAt = performance.now()
  spoken.value = next
}

export const say = (text: string): void => {
  next = text
  if (waiting !== null) return
  const waitMs = Math.max(0, saidAt + everyMs - performance.now())
  if (waitMs === 0) sayNow()
  else waiting = globalThis.setTimeout(sayNow, waitMs)
}

export const Spoken = () => (
  <p class="visually-hidden" role="status">
    {spoken.value}
  </p>
)
