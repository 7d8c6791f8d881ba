/**
 * Runs `gateway serve`: checks the configuration, builds the service, prints its address, and stays until it is stopped. With workers the first
 * process starts the others, which come here as well (docs/workers.md).
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { ManagementEndpoint } from "../entry/management/ManagementEndpoint.ts"
import { HttpServer } from "../entry/server/Server.ts"
import * as AppConfig from "../platform/AppConfig.ts"
import { ownRole } from "../platform/programs/Siblings.ts"
import { closing } from "../store/engine/Client.ts"
import { serveInGenerations } from "./generations.ts"
import { generation, held } from "./layers.ts"
import { serveAs } from "./processes/serveAs.ts"
import { superviseWorkers } from "./processes/withWorkers.ts"
import {
  configured,
  type Failure,
  failed,
  greet,
  logging,
  namedProxies,
  ownerFile,
  refuseUnprotected,
  type ServeOptions,
  StartFailed,
  stdout,
  warnOfFewFiles,
  withServices
} from "./starting.ts"
import * as Stopping from "./Stopping.ts"

export { type ServeOptions, StartFailed } from "./starting.ts"

/** One generation: serves until `asked` is done. */
const running = (
  stopping: Stopping.Stopping,
  isFirst: boolean,
  up: Effect.Effect<unknown, never, Scope.Scope>,
  asked: Effect.Effect<void>
) =>
  Effect.gen(function* () {
    yield* refuseUnprotected
    if (isFirst) yield* warnOfFewFiles
    const { drainMs } = yield* AppConfig.AppConfig
    const server = yield* HttpServer
    stopping.listens({ inFlight: server.inFlight, drainMs })
    yield* ownerFile
    if (isFirst) {
      yield* stdout(`Gateway listening on ${server.url}`)
      yield* greet
      yield* namedProxies
    }
    yield* (yield* ManagementEndpoint).open
    yield* up
    yield* asked
    yield* closing(drainMs)
  })

/** Serves in this process alone. */
const serveAlone = (options: ServeOptions, stopping: Stopping.Stopping): Effect.Effect<void, Failure> =>
  Effect.suspend(() => {
    const config = configured(options)
    return serveInGenerations(options, {
      config,
      layer: generation,
      running: (isStart, up, asked) => {
        const whenUp = isStart ? Effect.zipRight(up, Effect.forkScoped(options.whenListening ?? Effect.void)) : up
        return running(stopping, isStart, whenUp, asked)
      }
    }).pipe(withServices(held.pipe(Layer.provideMerge(config))))
  })

/** As the configuration has it: alone, or as the first of several processes. */
const serveFirst = (options: ServeOptions, stopping: Stopping.Stopping) =>
  Effect.gen(function* () {
    yield* Effect.forEach(options.warnings ?? [], (warning) => Effect.logWarning(warning), { discard: true })
    const config = Context.get(yield* Layer.build(configured(options)), AppConfig.AppConfig)
    if (config.workers > 1 && config.databaseUrl !== null) {
      return yield* new StartFailed({
        message:
          "Workers share a file of SQLite, and GATEWAY_DATABASE_URL names a server of Postgres: leave GATEWAY_WORKERS at 1 and start more gateways instead (docs/cluster.md)."
      })
    }
    if (config.valkey !== null && config.databaseUrl === null) {
      yield* Effect.logWarning(
        "GATEWAY_VALKEY_URL is for several gateways on one database: without GATEWAY_DATABASE_URL it is not used (docs/cluster.md)."
      )
    }
    yield* config.workers > 1 ? superviseWorkers(options, config) : serveAlone(options, stopping)
  }).pipe(Effect.scoped)

/** Runs the service until it is interrupted or stopped. Every way it can fail to start is one sentence in `StartFailed`. */
export const serve = (options: ServeOptions): Effect.Effect<void, StartFailed> =>
  Effect.suspend(() => {
    const role = ownRole()
    const stopping = Stopping.make()
    const served: Effect.Effect<void, Failure> =
      role === null ? stopping.announced(serveFirst(options, stopping)) : serveAs(role, options)
    return served.pipe(
      Effect.mapError((failure) => (failure instanceof StartFailed ? failure : failed(failure))),
      Effect.tapErrorCause((cause) =>
        Cause.isFailure(cause) ? Effect.void : Effect.logError("The gateway stopped because of a bug", cause)
      ),
      Effect.provide(logging(role))
    )
  })
