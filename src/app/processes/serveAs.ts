/** Serves as one of several processes: as the owner of the data folder, or as a worker. The first process says when it ends. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { ManagementEndpoint } from "../../entry/management/ManagementEndpoint.ts"
import { HttpServer } from "../../entry/server/Server.ts"
import * as AppConfig from "../../platform/AppConfig.ts"
import { CommandIndex } from "../../platform/CommandIndex.ts"
import { type Lifecycle, layerNone } from "../../platform/Lifecycle.ts"
import { type Retirement, Retiring } from "../../platform/Retiring.ts"
import { heedFirst, type ProcessRole, tellFirst } from "../../platform/programs/Siblings.ts"
import { watchWorkers } from "../../platform/programs/SiblingWorkers.ts"
import { closing } from "../../store/engine/Client.ts"
import { serveInGenerations } from "../generations.ts"
import { ownerGeneration, ownerHeld, workerGeneration, workerHeld } from "../layers.ts"
import {
  configured,
  type Failure,
  greet,
  namedProxies,
  ownerFile,
  refuseUnprotected,
  type ServeOptions,
  warnOfFewFiles,
  withServices
} from "../starting.ts"

/** Wishes of the first process. */
interface First {
  /** Done when this process is to end. */
  readonly ends: Effect.Effect<void>
  /** Time for running requests, where another than the configured one was said. */
  readonly drainMs: () => number | null
  /** Done when all processes serve. */
  readonly allServe: Effect.Effect<void>
}

const heeding: Effect.Effect<First, never, Scope.Scope> = Effect.gen(function* () {
  const ends = yield* Deferred.make<void>()
  const allServe = yield* Deferred.make<void>()
  let drainMs: number | null = null
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      heedFirst((message) => {
        if (message.type === "up") Deferred.unsafeDone(allServe, Effect.void)
        if (message.type !== "end") return
        drainMs = message.drainMs
        Deferred.unsafeDone(ends, Effect.void)
      })
    ),
    (stop) => Effect.sync(stop)
  )
  return { ends: Deferred.await(ends), drainMs: () => drainMs, allServe: Deferred.await(allServe) }
})

/** The configuration of this process: with the port that was found. */
const configOf = (options: ServeOptions, { port }: ProcessRole) =>
  Layer.effect(
    AppConfig.AppConfig,
    Effect.map(AppConfig.AppConfig, (config) => ({ ...config, port }))
  ).pipe(Layer.provide(configured(options)))

const lifecycleOf = (own: typeof Lifecycle.Service): typeof Lifecycle.Service => ({
  ...own,
  shutdown: Effect.sync(() => tellFirst({ type: "stop" }))
})

/** Time in ms for which connections of a worker that is replaced may still be used. */
const retiringMs = 5_000

const retirementOf = (drainMs: number | null): Retirement | null =>
  drainMs === null ? null : { drainMs, idleMs: retiringMs }

const ready = Effect.sync(() => tellFirst({ type: "ready" }))

const greetings = Effect.zipRight(greet, namedProxies)

const serveAsWorker = (role: ProcessRole, options: ServeOptions, first: First): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const { drainMs } = yield* AppConfig.AppConfig
    yield* HttpServer
    yield* ready
    yield* first.ends
    yield* closing(drainMs)
  }).pipe(
    withServices(
      workerGeneration(role).pipe(
        Layer.provideMerge(workerHeld),
        Layer.provide(Layer.succeed(CommandIndex, options.commands)),
        Layer.provide(layerNone),
        Layer.provide(Layer.succeed(Retiring, () => retirementOf(first.drainMs()))),
        Layer.provideMerge(configOf(options, role))
      )
    )
  )

const serveAsOwner = (role: ProcessRole, options: ServeOptions, first: First): Effect.Effect<void, Failure> =>
  Effect.suspend(() => {
    const config = configOf(options, role)
    const workers = watchWorkers(role)
    const running = (isStart: boolean, up: Effect.Effect<void>, asked: Effect.Effect<void>) =>
      Effect.gen(function* () {
        yield* refuseUnprotected
        if (isStart) yield* warnOfFewFiles
        yield* HttpServer
        yield* ownerFile
        yield* (yield* ManagementEndpoint).open
        if (isStart && role.life === 1) yield* Effect.forkScoped(Effect.zipRight(first.allServe, greetings))
        yield* up
        // What workers have read may be another database's by now.
        yield* isStart ? ready : Effect.sync(() => tellFirst({ type: "renew" }))
        yield* asked
        yield* closing((yield* AppConfig.AppConfig).drainMs)
      })
    const layer = ownerGeneration(role, workers)
    const served = serveInGenerations(options, { config, layer, lifecycle: lifecycleOf, running })
    // An end that the first process asks for interrupts the generation, which drains as it is closed.
    return Effect.raceFirst(served, first.ends).pipe(
      withServices(ownerHeld(role).pipe(Layer.provideMerge(config))),
      Effect.ensuring(Effect.sync(workers.close))
    )
  })

export const serveAs = (role: ProcessRole, options: ServeOptions): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.flatMap(heeding, (first) =>
      role.role === "owner" ? serveAsOwner(role, options, first) : serveAsWorker(role, options, first)
    )
  )
