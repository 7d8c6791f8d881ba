/**
 * Work on this machine's data folder without a server. The program's other parts are loaded here, and only when a command needs them.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as LocalRoom from "../../app/local.ts"
import * as AppConfig from "../../platform/AppConfig.ts"
import { loadConfig } from "../flags/EnvFile.ts"
import type { ManagementError } from "../../subjects/Errors.ts"
import { type CliFailure, isCliFailure } from "../Failure.ts"
import { loadModule } from "../lazy.ts"
import { refusal } from "./refusals.ts"

/** The services and layers for local work. */
export type LocalModule = typeof LocalRoom
type StoreFailure = Layer.Layer.Error<LocalModule["localLayer"]>
type LocalServices = Layer.Layer.Success<LocalModule["localLayer"]>
type NodeServices = Layer.Layer.Success<LocalModule["exclusiveNodesLayer"]>
type FolderServices = Layer.Layer.Success<LocalModule["folderLayer"]>
type RecoveryServices = Layer.Layer.Success<LocalModule["recoveryLayer"]>

export const load = loadModule(() => import("../../app/local.ts"))

/** A gateway holds the data folder: it is asked instead. */
export class FolderInUse extends Data.TaggedError("FolderInUse") {}

type LocalError = CliFailure | ManagementError | StoreFailure

/**
 * Runs in a fiber of its own, also where the caller may not be interrupted, such as a release: the services fork work into their
 * scope, which could never be ended where it inherited that.
 */
const interruptibly = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.forkDaemon(Effect.interruptible(effect)), (fiber) =>
    Effect.onInterrupt(Fiber.join(fiber), () => Fiber.interrupt(fiber))
  )

/** `special` keeps an error for the caller that would else become words. */
const within =
  <Services, Special = never>(
    layerOf: (room: LocalModule) => Layer.Layer<Services, StoreFailure, AppConfig.AppConfig>,
    special: (error: LocalError) => Special | null = () => null
  ) =>
  <A>(
    work: (room: LocalModule) => Effect.Effect<A, LocalError, Services | AppConfig.AppConfig>
  ): Effect.Effect<A, CliFailure | Special> =>
    Effect.gen(function* () {
      const config = yield* loadConfig
      const room = yield* load
      const layer = Layer.provideMerge(layerOf(room), Layer.succeed(AppConfig.AppConfig, config))
      return yield* work(room).pipe(
        Effect.provide(layer),
        Effect.mapError(
          (error) => special(error) ?? (isCliFailure(error) ? error : refusal(error, room.describeStoreFailure))
        )
      )
    }).pipe(interruptibly)

/** Runs work with the store, the connections and the sign-ins. A gateway may be running beside it. */
export const locally = within<LocalServices>((room) => room.localLayer)

/** The same, with the providers that the operator added. */
export const locallyWithNodes = within<NodeServices>((room) => room.nodesLayer)

/**
 * Changes them, and holds the data folder for itself as a gateway does: none starts meanwhile, and where one runs the work is not begun.
 * Work that waits for something, such as a provider, does not belong here.
 */
export const exclusively = <A>(
  work: (room: LocalModule) => Effect.Effect<A, LocalError, LocalServices | AppConfig.AppConfig>
): Effect.Effect<A, CliFailure | FolderInUse> =>
  within<LocalServices, FolderInUse>(
    (room) => room.exclusiveLayer,
    (error) => (error._tag === "GatewayRunning" ? new FolderInUse() : null)
  )(work)

/** The same, with the providers that the operator added. */
export const exclusivelyWithNodes = within<NodeServices, FolderInUse>(
  (room) => room.exclusiveNodesLayer,
  (error) => (error._tag === "GatewayRunning" ? new FolderInUse() : null)
)

/** Changes the data folder without opening its database. As `exclusively`, it is not begun where a gateway runs. */
export const onFolder = within<FolderServices, FolderInUse>(
  (room) => room.folderLayer,
  (error) => (error._tag === "GatewayRunning" ? new FolderInUse() : null)
)

/** Runs work on the bare database, whatever the master key is. Refused while a gateway is running. */
export const inRecovery = within<RecoveryServices>((room) => room.recoveryLayer)
