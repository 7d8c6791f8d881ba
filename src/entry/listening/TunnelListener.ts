/**
 * Listener for the traffic of tunnels: an address of its own on this machine, open while a tunnel uses it. Requests are served as those of the main
 * address, but their connections are marked, so that none of them counts as made on this machine, whatever its headers say (docs/tunnels.md).
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RcRef from "effect/RcRef"
import { markTunnel } from "../../subjects/auth/PeerAddress.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { type Entrance, EntranceFailed, TunnelEntrance } from "../../net/tunnels/TunnelEntrance.ts"
import { Listener } from "./Listener.ts"

const host = "127.0.0.1"

export const make = Effect.gen(function* () {
  const listener = yield* Listener
  const { drainMs } = yield* AppConfig
  const entrance = yield* RcRef.make({
    acquire: listener.also(host, 0, { accepted: markTunnel, drainMs }).pipe(
      Effect.map(({ port }): Entrance => ({ host, port })),
      Effect.mapError(({ message }) => new EntranceFailed({ message }))
    )
  })
  return TunnelEntrance.of({ open: RcRef.get(entrance) })
})

export const layer: Layer.Layer<TunnelEntrance, never, Listener | AppConfig> = Layer.scoped(TunnelEntrance, make)
