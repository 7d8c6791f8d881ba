/**
 * Work on this machine's data folder without a server: the one door to the rest of the house, opened only when a command needs it.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as LocalRoom from "../../app/local.ts"
import * as AppConfig from "../../platform/AppConfig.ts"
import { loadConfig } from "../EnvFile.ts"
import { type CliFailure, CommandFailed, isCliFailure } from "../Failure.ts"
import { loadRoom } from "../lazy.ts"

/** The services and layers for local work. */
export type Room = typeof LocalRoom
type StoreFailure = Layer.Layer.Error<Room["localLayer"]>
type LocalServices = Layer.Layer.Success<Room["localLayer"]>
type RecoveryServices = Layer.Layer.Success<Room["recoveryLayer"]>

export const load = loadRoom(() => import("../../app/local.ts"))

const within =
  <Services>(layerOf: (room: Room) => Layer.Layer<Services, StoreFailure, AppConfig.AppConfig>) =>
  <A>(
    work: (room: Room) => Effect.Effect<A, CliFailure | StoreFailure, Services | AppConfig.AppConfig>
  ): Effect.Effect<A, CliFailure> =>
    Effect.gen(function* () {
      const config = yield* loadConfig
      const room = yield* load
      const layer = Layer.provideMerge(layerOf(room), Layer.succeed(AppConfig.AppConfig, config))
      return yield* work(room).pipe(
        Effect.provide(layer),
        Effect.mapError((error) =>
          isCliFailure(error) ? error : new CommandFailed({ message: room.describeStoreFailure(error) })
        )
      )
    })

/** Runs work on the store, the connections and the ways in. A gateway may be running beside it. */
export const locally = within<LocalServices>((room) => room.localLayer)

/** Runs work on the bare database, whatever the master key is. Refused while a gateway is running. */
export const inRecovery = within<RecoveryServices>((room) => room.recoveryLayer)
