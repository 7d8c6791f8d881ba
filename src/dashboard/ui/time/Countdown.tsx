/** Time left until a moment, second by second; still while the page is not seen. */
import { signal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { exact, nowMs } from "../format.ts"
import { left } from "./left.ts"

/** One clock for all of them: seconds since it was first looked at. */
const beat = signal(0)
let watchers = 0
let timer: number | undefined

const watch = (): (() => void) => {
  watchers += 1
  timer ??= globalThis.setInterval(() => {
    if (document.visibilityState === "visible") beat.value += 1
  }, 1_000)
  return () => {
    watchers -= 1
    if (watchers > 0) return
    globalThis.clearInterval(timer)
    timer = undefined
  }
}

/** A browser cannot wait longer. */
const longestMs = 2_147_483_647
/** Time in which the gateway sees, too, that it has passed. */
const spareMs = 500

interface Properties {
  readonly until: string
  /** Called when it is over, to ask for what holds then. */
  readonly onOver?: () => void
}

export const Countdown = ({ onOver, until }: Properties) => {
  useEffect(watch, [])
  useEffect(() => {
    const waitMs = Date.parse(until) - nowMs() + spareMs
    if (onOver === undefined || waitMs < 0 || waitMs > longestMs) return undefined
    const over = globalThis.setTimeout(onOver, waitMs)
    return () => globalThis.clearTimeout(over)
  }, [until, onOver])
  // Read, so that it is drawn anew with each beat.
  void beat.value
  return (
    <time dateTime={until} title={`${exact(until)}\n${until}`}>
      {left(Date.parse(until) - nowMs())}
    </time>
  )
}
