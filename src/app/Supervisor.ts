/**
 * Runs the service in generations. A restart ends one, runs what was asked for while nothing is open, and builds the next, in the same
 * process: the same way in a terminal, under systemd and in a container.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Lifecycle, RestartRefused } from "../platform/Lifecycle.ts"

type Ask =
  | { readonly _tag: "Stop" }
  | {
      readonly _tag: "Restart"
      /** Does the work. Never fails: its caller gets the outcome. True when the state was changed. */
      readonly work: Effect.Effect<boolean>
      readonly undo: Effect.Effect<void>
      /** The next generation serves, or why it could not. */
      readonly done: (failure: string | null) => Effect.Effect<void>
    }

export interface Hooks<E> {
  /** One generation: builds the service, calls `up` when it serves, and runs until `asked` is done. */
  readonly generation: (
    services: Context.Context<Lifecycle>,
    up: Effect.Effect<void>,
    asked: Effect.Effect<void>
  ) => Effect.Effect<void, E>
  /** Makes requests wait from now on for the next generation. */
  readonly hold: Effect.Effect<void>
  /** Checks whether the next generation could start as far as its configuration goes; fails with the reason. */
  readonly check: Effect.Effect<void, string>
  readonly describe: (error: E) => string
}

const busy = new RestartRefused({ reason: "The gateway is stopping or restarting already; try again when it is back." })

/** Runs until a stop is asked for. Fails when a generation cannot be built and there is nothing to go back to. */
export const run = <E>({ check, describe, generation, hold }: Hooks<E>): Effect.Effect<void, E> =>
  Effect.gen(function* () {
    let asked = yield* Deferred.make<Ask>()
    let isServing = false

    const restartWith = (ask: Omit<Extract<Ask, { _tag: "Restart" }>, "_tag">) =>
      Effect.suspend(() => (isServing ? Deferred.succeed(asked, { _tag: "Restart", ...ask }) : Effect.succeed(false)))

    const checked = Effect.mapError(
      check,
      (reason) =>
        new RestartRefused({ reason: `The gateway would not start again, so it was not restarted: ${reason}` })
    )

    const lifecycle = Lifecycle.of({
      shutdown: Effect.asVoid(Effect.suspend(() => Deferred.succeed(asked, { _tag: "Stop" }))),
      restart: Effect.gen(function* () {
        yield* checked
        const isTaken = yield* restartWith({ work: Effect.succeed(false), undo: Effect.void, done: () => Effect.void })
        if (!isTaken) return yield* busy
      }),
      between: <A, E2>(work: Effect.Effect<A, E2>, undo: (result: A) => Effect.Effect<void>) =>
        Effect.gen(function* () {
          yield* checked
          const result = yield* Deferred.make<A, E2 | RestartRefused>()
          let end: Exit.Exit<A, E2> | null = null
          const isTaken = yield* restartWith({
            work: Effect.map(Effect.exit(work), (exit) => {
              end = exit
              return Exit.isSuccess(exit)
            }),
            undo: Effect.suspend(() => (end !== null && Exit.isSuccess(end) ? undo(end.value) : Effect.void)),
            done: (failure) =>
              Effect.asVoid(
                failure === null && end !== null
                  ? Deferred.done(result, end)
                  : Deferred.fail(result, new RestartRefused({ reason: failure ?? "The gateway stopped meanwhile." }))
              )
          })
          if (!isTaken) return yield* busy
          return yield* Deferred.await(result)
        })
    })
    const services = Context.make(Lifecycle, lifecycle)

    /** Builds a generation and runs it to its end; `up` when it serves. */
    const once = (up: Effect.Effect<void>) =>
      generation(
        services,
        Effect.zipRight(
          Effect.sync(() => void (isServing = true)),
          up
        ),
        Effect.flatMap(Deferred.await(asked), (ask) => (ask._tag === "Stop" ? Effect.void : hold))
      ).pipe(Effect.ensuring(Effect.sync(() => void (isServing = false))))

    let restarting: Extract<Ask, { _tag: "Restart" }> | null = null
    let isChanged = false
    for (;;) {
      const from: Extract<Ask, { _tag: "Restart" }> | null = restarting
      const didChange = isChanged
      let isUp = false
      const started =
        from === null ? Effect.void : Effect.zipRight(Effect.logInfo("The gateway has restarted."), from.done(null))
      const up = Effect.zipRight(
        Effect.sync(() => void (isUp = true)),
        started
      )
      yield* once(up).pipe(
        Effect.catchAll((error) => {
          if (isUp || from === null || !didChange) return Effect.fail(error)
          const reason = `The gateway did not start with the new state (${describe(error)}), and is back in the former one.`
          return Effect.logError(reason).pipe(Effect.zipRight(from.undo), Effect.zipRight(once(from.done(reason))))
        })
      )
      const ask: Ask = yield* Deferred.await(asked)
      if (ask._tag === "Stop") return
      asked = yield* Deferred.make<Ask>()
      restarting = ask
      isChanged = yield* Effect.uninterruptible(ask.work)
    }
  })
