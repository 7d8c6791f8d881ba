/** The tunnels of the service. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { TunnelBackend, type TunnelStatus } from "../domain/Tunnel.ts"
import { Tunnels } from "../tunnels/Tunnels.ts"
import { MeshToolFailed, MeshTools } from "../tunnels/mesh/MeshTools.ts"

const missing = "This build has no tunnels."

const stopped = (backend: TunnelBackend): TunnelStatus => ({
  backend,
  phase: "stopped",
  running: false,
  publicUrl: null,
  apiUrl: null,
  targetUrl: null,
  lastError: missing,
  warning: null,
  sinceMs: 0,
  restarts: 0,
  allowKeyless: false
})

const noHosts: ReadonlySet<string> = new Set()

/** None: the lead puts the backends here. */
export const tunnels = Layer.mergeAll(
  Layer.succeed(
    Tunnels,
    Tunnels.of({
      list: Effect.succeed(TunnelBackend.literals.map(stopped)),
      status: (backend) => Effect.succeed(stopped(backend)),
      changes: (backend) => Stream.succeed(stopped(backend)),
      enable: ({ backend }) => Effect.succeed(stopped(backend)),
      disable: (backend) => Effect.succeed(stopped(backend)),
      publicHosts: () => noHosts,
      allowsKeyless: () => false
    })
  ),
  Layer.succeed(
    MeshTools,
    MeshTools.of({
      notice: Effect.succeed({ authUrl: null, funnelNotEnabled: false, enableUrl: null }),
      check: Effect.succeed({ installed: false, daemonRunning: false, loggedIn: false, version: null, hostname: null }),
      install: () => Stream.fail(new MeshToolFailed({ reason: missing })),
      startDaemon: () => new MeshToolFailed({ reason: missing }),
      login: () => new MeshToolFailed({ reason: missing }),
      takeBack: () => Effect.void
    })
  )
)
