/** Keeps one tunnel open: opens its entrance, runs its backend, and runs it again after a wait when it fails. */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { makeLane } from "../../kernel/Lane.ts"
import type { TunnelStatus } from "../../subjects/tunnels/entity.ts"
import { type Backend, type Opened, TunnelFailed, type TunnelNeedsAuth } from "./Backend.ts"
import { after, initialStatus, type TunnelEvent } from "./Phase.ts"
import { type Entrance, TunnelEntrance } from "./TunnelEntrance.ts"

export const restartLimits = {
  firstMs: 1_000,
  /** Waits are twice as long each time, up to this. There is always a next try: networks come back. */
  mostMs: 60_000,
  /** Factor of each wait, so that many gateways do not come back together. */
  jitter: { min: 0.8, max: 1.2 },
  /** A tunnel that was open for so long begins with the first wait again. */
  settledMs: 60_000
}

/** The wait before each further try. */
export const restarts = Schedule.exponential(restartLimits.firstMs, 2).pipe(
  Schedule.union(Schedule.spaced(restartLimits.mostMs)),
  Schedule.jitteredWith(restartLimits.jitter)
)

export interface Supervisor<Options> {
  readonly status: Effect.Effect<TunnelStatus>
  /** The status now, and at every change. */
  readonly changes: Stream.Stream<TunnelStatus>
  /** Hot. */
  readonly now: () => TunnelStatus
  /**
   * Opens it with these options, in the background, after what runs has ended. `later`: the options of tries that follow by themselves,
   * without what may be used only once.
   */
  readonly start: (options: Options, allowKeyless: boolean, later?: Options) => Effect.Effect<void>
  /** Shows that it is wanted but is not opened. */
  readonly refuse: (reason: string, allowKeyless: boolean) => Effect.Effect<void>
  /** Stops it, and waits until nothing of it is left. */
  readonly stop: Effect.Effect<void>
}

const reasonOf = ({ authUrl, reason }: TunnelNeedsAuth): string =>
  authUrl === null || reason.includes(authUrl) ? reason : `${reason} ${authUrl}`

type Emit = (event: TunnelEvent) => Effect.Effect<void>

/** The status of a tunnel, which events change. `onChange` is called synchronously at each change. */
const makeStatus = (
  { name, warning }: Pick<Backend<never>, "name" | "warning">,
  onChange: (status: TunnelStatus) => void
) =>
  Effect.gen(function* () {
    let current = initialStatus(name, warning, yield* Clock.currentTimeMillis)
    const ref = yield* SubscriptionRef.make(current)
    const emit: Emit = (event) =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
        SubscriptionRef.update(ref, (status) => {
          const next = after(status, event, nowMs)
          current = next
          onChange(next)
          return next
        })
      )
    return { emit, status: SubscriptionRef.get(ref), changes: ref.changes, now: () => current }
  })

/** One try: ends when the tunnel does. */
const attempt = <Options>(backend: Backend<Options>, emit: Emit, options: Options, entrance: Entrance) =>
  Effect.gen(function* () {
    let openedAtMs: number | null = null
    const opened = ({ publicUrl }: Opened) =>
      Effect.gen(function* () {
        openedAtMs ??= yield* Clock.currentTimeMillis
        yield* emit({ _tag: "Opened", publicUrl })
      })
    const failure = yield* backend.run(options, entrance, opened).pipe(
      Effect.scoped,
      Effect.catchAllDefect((defect) =>
        Effect.zipRight(
          Effect.logError("A tunnel broke", defect),
          new TunnelFailed({ reason: "An error inside the gateway; its log has more.", isFinal: false })
        )
      ),
      Effect.flip
    )
    const wasOpenForMs = openedAtMs === null ? 0 : (yield* Clock.currentTimeMillis) - openedAtMs
    return { failure, isSettled: wasOpenForMs >= restartLimits.settledMs }
  })

/** Tries again and again, until a person has to do something. `later`: the options of all tries but the first. */
const keepOpen = <Options>(
  backend: Backend<Options>,
  emit: Emit,
  { later, options }: { readonly options: Options; readonly later: Options }
) =>
  Effect.gen(function* () {
    const entrances = yield* TunnelEntrance
    let isFirst = true
    const entrance = yield* entrances.open
    yield* emit({ _tag: "Entered", targetUrl: `http://${entrance.host}:${entrance.port}` })
    const waits = yield* Schedule.driver(restarts)
    while (true) {
      const { failure, isSettled } = yield* attempt(backend, emit, isFirst ? options : later, entrance)
      isFirst = false
      if (failure._tag === "TunnelNeedsAuth") return { _tag: "AuthNeeded", reason: reasonOf(failure) } as const
      const { isFinal, reason } = failure
      yield* Effect.logWarning(`The tunnel '${backend.name}' failed: ${reason}`)
      if (isFinal) return { _tag: "Failed", reason, isFinal } as const
      yield* emit({ _tag: "Failed", reason, isFinal })
      if (isSettled) yield* waits.reset
      yield* Effect.orDie(waits.next(undefined))
      yield* emit({ _tag: "TriedAgain" })
    }
  }).pipe(
    Effect.catchTag("EntranceFailed", ({ message }) =>
      Effect.succeed({ _tag: "Failed", reason: message, isFinal: true } as const)
    ),
    // The entrance is closed before the status says that it is.
    Effect.scoped,
    Effect.flatMap(emit)
  )

/** Ends with its scope. `onChange` is called synchronously at each change. */
export const make = Effect.fn("Supervisor.make")(function* <Options>(
  backend: Backend<Options>,
  onChange: (status: TunnelStatus) => void
) {
  const entrances = yield* TunnelEntrance
  // A scope of its own, which is closed in the order in which this was built: what is forked into a scope later is ended before all that is in
  // it, and so before the server that is reached through the tunnel has answered what it has taken.
  const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
  const oneAtATime = makeLane(1)
  const { changes, emit, now, status } = yield* makeStatus(backend, onChange)
  let running: Fiber.RuntimeFiber<void> | null = null

  const end = Effect.suspend(() => {
    const before = running
    running = null
    return before === null ? Effect.void : Fiber.interrupt(before)
  })

  const inTurn = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    oneAtATime.inTurn(Effect.uninterruptible(effect))

  const start = Effect.fn("Supervisor.start")((options: Options, allowKeyless: boolean, later: Options = options) =>
    inTurn(
      Effect.gen(function* () {
        yield* end
        yield* emit({ _tag: "Enabled", allowKeyless })
        const begun = yield* Deferred.make<void>()
        running = yield* Effect.zipRight(Deferred.await(begun), keepOpen(backend, emit, { options, later })).pipe(
          Effect.provideService(TunnelEntrance, entrances),
          Effect.interruptible,
          Effect.forkIn(scope)
        )
        yield* Deferred.succeed(begun, undefined)
      })
    )
  )

  const refuse = Effect.fn("Supervisor.refuse")((reason: string, allowKeyless: boolean) =>
    inTurn(
      Effect.gen(function* () {
        yield* end
        yield* emit({ _tag: "Enabled", allowKeyless })
        yield* emit({ _tag: "Failed", reason, isFinal: true })
      })
    )
  )

  const stop = inTurn(Effect.zipRight(end, emit({ _tag: "Stopped" }))).pipe(Effect.withSpan("Supervisor.stop"))

  const supervisor: Supervisor<Options> = { status, changes, now, start, refuse, stop }
  return supervisor
})
