/** Services of the owner that a worker has no use for: requests for them go to the owner. What could reach them is a bug. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { MeshTools } from "../net/tunnels/mesh/MeshTools.ts"
import { Tunnels } from "../net/tunnels/Tunnels.ts"
import { DataLock } from "../store/DataLock.ts"

const elsewhere = Effect.dieMessage("The owner of the data folder has the tunnels.")
const none: ReadonlySet<string> = new Set()

/** Tunnels enter at the owner. */
export const tunnels: Layer.Layer<MeshTools | Tunnels> = Layer.merge(
  Layer.succeed(Tunnels, {
    list: Effect.succeed([]),
    status: () => elsewhere,
    changes: () => Stream.fromEffect(elsewhere),
    enable: () => elsewhere,
    disable: () => elsewhere,
    publicHosts: () => none,
    allowsKeyless: () => false
  }),
  Layer.succeed(MeshTools, {
    notice: elsewhere,
    check: elsewhere,
    install: () => Stream.fromEffect(elsewhere),
    startDaemon: () => elsewhere,
    login: () => elsewhere,
    takeBack: () => elsewhere
  })
)

/** The owner holds the lock, and has migrated the database before a worker begins. */
export const dataLock: Layer.Layer<DataLock> = Layer.succeed(DataLock, { exclusively: (work) => work })
