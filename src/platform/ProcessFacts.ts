/**
 * Facts about the process for the metrics page. Read on demand, never on the request path. Fibers are counted by Effect itself; the
 * event loop delay is measured by Node, outside of JavaScript.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { monitorEventLoopDelay } from "node:perf_hooks"

export interface ProcessFactsShape {
  /** Time since the gateway of this process started; a restart within the process begins anew. */
  readonly uptimeMs: number
  readonly rssBytes: number
  /**
   * Delay of the event loop in ms, 99th percentile since the last reading; null when nothing was measured in between.
   */
  readonly eventLoopDelayMs: number | null
  /**
   * Resources that keep the event loop alive, by Node's names: `TCPSocketWrap`, `Timeout`, … Unreferenced timers are
   * left out.
   */
  readonly activeResources: ReadonlyMap<string, number>
  /** Effect fibers that have begun and not ended. */
  readonly fibers: number
}

export interface MemoryFacts {
  readonly uptimeMs: number
  /** Bytes. */
  readonly memory: { readonly rssBytes: number; readonly heapUsedBytes: number; readonly heapTotalBytes: number }
}

export class ProcessFacts extends Context.Tag("gateway/platform/ProcessFacts")<
  ProcessFacts,
  {
    readonly read: () => ProcessFactsShape
    /** Time since the start, and memory; takes nothing from the next reading. */
    readonly memory: () => MemoryFacts
  }
>() {}

/** Interval in ms at which the delay is measured: coarse, so that an idle gateway rarely wakes up. */
const resolutionMs = 50

const activeFibers = Metric.counter("effect_fiber_active")

const countActiveResources = (): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1)
  return counts
}

export const make = Effect.gen(function* () {
  const startedMs = performance.now()
  const uptimeMs = (): number => Math.round(performance.now() - startedMs)
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  yield* Effect.acquireRelease(
    Effect.sync(() => delays.enable()),
    () => Effect.sync(() => delays.disable())
  )

  /** The histogram holds the time between two ticks (the first after a reset has no predecessor); what exceeds the resolution is the delay. */
  const takeDelay = (): number | null => {
    if (delays.count === 0) return null
    const delayMs = delays.percentile(99) / 1e6 - resolutionMs
    delays.reset()
    return Math.max(0, delayMs)
  }

  const memory = (): MemoryFacts => {
    const { heapTotal, heapUsed, rss } = process.memoryUsage()
    return {
      uptimeMs: uptimeMs(),
      memory: { rssBytes: rss, heapUsedBytes: heapUsed, heapTotalBytes: heapTotal }
    }
  }

  return ProcessFacts.of({
    memory,
    read: () => ({
      uptimeMs: uptimeMs(),
      rssBytes: process.memoryUsage.rss(),
      eventLoopDelayMs: takeDelay(),
      activeResources: countActiveResources(),
      fibers: activeFibers.unsafeValue([]).count
    })
  })
})

export const layer: Layer.Layer<ProcessFacts> = Layer.scoped(ProcessFacts, make)
