/**
 * Messages while the service stops, and the second signal that stops it at once. The first signal is handled by the runner of the main
 * program, which interrupts the service; here it is only reported.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"

/** Facts of a service that has begun to listen. */
export interface Serving {
  /** Requests that are being served. */
  readonly inFlight: () => number
  /** Time in ms that a stop waits for them. */
  readonly drainMs: number
}

/** The part of the process that is used. */
export interface Host {
  readonly on: (signal: StopSignalName, listener: (signal: NodeJS.Signals) => void) => unknown
  readonly off: (signal: StopSignalName, listener: (signal: NodeJS.Signals) => void) => unknown
  readonly exit: (code: number) => void
}

type StopSignalName = "SIGINT" | "SIGTERM"

/** npm passes a Ctrl-C on that the terminal has sent to the gateway as well: two signals, one wish. */
export const sameWishMs = 500
export const progressEveryMs = 3_000
/** Time in ms that a stop has for what is left to be written when requests are over: a database that is silent must not keep the process. */
export const endsWithinMs = 15_000

const requests = (count: number): string => `${count} request${count === 1 ? "" : "s"}`
const seconds = (ms: number): string => `${Math.ceil(ms / 1_000)} s`

const beginning = (signal: string, serving: Serving | null): string => {
  const count = serving?.inFlight() ?? 0
  const wait =
    serving === null || count === 0
      ? "no request is running"
      : `${requests(count)} running, waiting up to ${seconds(serving.drainMs)} for ${count === 1 ? "it" : "them"}`
  const more = count > 0 && signal === "SIGINT" ? "; Ctrl-C again stops at once" : ""
  return `Stopping (${signal}): ${wait}${more}.`
}

/** Prints how many requests are left, until none is or the time is over. */
const progress = ({ drainMs, inFlight }: Serving): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (let leftMs = drainMs; leftMs > 0;) {
      const pauseMs = Math.min(progressEveryMs, leftMs)
      yield* Effect.sleep(pauseMs)
      leftMs -= pauseMs
      const count = inFlight()
      if (count === 0) return
      yield* Effect.logInfo(
        leftMs > 0
          ? `Stopping: ${requests(count)} still running, ${seconds(leftMs)} left.`
          : `Stopping: the time is over, ${requests(count)} ${count === 1 ? "ends" : "end"} with an error.`
      )
    }
  })

/** Ends the process when the stop takes too long. What is lost then is in the journal, and is written after the next start. */
const ending = (host: Host, serving: Serving | null): Effect.Effect<void> =>
  Effect.logWarning(
    `Stopped before all was written, which took longer than ${seconds(endsWithinMs)}: what is in the data folder goes on at the next start.`
  ).pipe(Effect.zipRight(Effect.sync(() => host.exit(1))), Effect.delay((serving?.drainMs ?? 0) + endsWithinMs))

export const make = (host: Host = process) => {
  let serving: Serving | null = null
  let begun: { readonly atMs: number; readonly watching: ReadonlyArray<Fiber.RuntimeFiber<void>> } | null = null

  /** Runs the service; a stop by a signal begins and ends with a line in the log. */
  const announced = <A, E, R>(service: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.scoped(
      Effect.gen(function* () {
        const runtime = yield* Effect.runtime<never>()
        const runSync = Runtime.runSync(runtime)
        const runFork = Runtime.runFork(runtime)

        const onSignal = (signal: NodeJS.Signals): void => {
          const nowMs = runSync(Clock.currentTimeMillis)
          if (begun === null) {
            runSync(Effect.logInfo(beginning(signal, serving)))
            const isBusy = serving !== null && serving.inFlight() > 0
            const telling = serving !== null && isBusy ? [runFork(progress(serving))] : []
            begun = { atMs: nowMs, watching: [runFork(ending(host, serving)), ...telling] }
            return
          }
          if (nowMs - begun.atMs < sameWishMs) return
          const count = serving?.inFlight() ?? 0
          runSync(Effect.logInfo(`Stopped at once (${signal})${count === 0 ? "" : `: ${requests(count)} cut off`}.`))
          host.exit(signal === "SIGINT" ? 130 : 143)
        }

        yield* Effect.acquireRelease(
          Effect.sync(() => {
            host.on("SIGINT", onSignal)
            host.on("SIGTERM", onSignal)
          }),
          () =>
            Effect.suspend(() => {
              host.off("SIGINT", onSignal)
              host.off("SIGTERM", onSignal)
              if (begun === null) return Effect.void
              return Effect.zipRight(Fiber.interruptAll(begun.watching), Effect.logInfo("Stopped."))
            })
        )
        return yield* service
      })
    )

  return {
    announced,
    /** The service listens. */
    listens: (now: Serving): void => {
      serving = now
    }
  }
}

export type Stopping = ReturnType<typeof make>
