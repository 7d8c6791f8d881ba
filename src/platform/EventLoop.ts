/** Load of the event loop: the part of the time in which it ran code and did not wait. */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { type EventLoopUtilization, performance } from "node:perf_hooks"

export class EventLoop extends Context.Tag("gateway/platform/EventLoop")<
  EventLoop,
  {
    /** Returns the load from 0 to 1, of the last tenth of a second that was measured. */
    readonly busy: () => number
  }
>() {}

const leastMs = 100

const make = () => {
  let since: EventLoopUtilization = performance.eventLoopUtilization()
  let sinceMs = performance.now()
  let latest = 0
  return EventLoop.of({
    busy: () => {
      const nowMs = performance.now()
      if (nowMs - sinceMs < leastMs) return latest
      const now = performance.eventLoopUtilization()
      latest = performance.eventLoopUtilization(now, since).utilization
      since = now
      sinceMs = nowMs
      return latest
    }
  })
}

export const layer: Layer.Layer<EventLoop> = Layer.sync(EventLoop, make)
