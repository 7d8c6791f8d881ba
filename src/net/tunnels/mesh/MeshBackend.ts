/**
 * A tunnel by the funnel of Tailscale: https://tailscale.com/kb/1223/funnel. No program of ours stays: the daemon of the machine keeps it
 * open, so it is asked from time to time whether it still is.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import { type Backend, TunnelFailed } from "../Backend.ts"
import { funnelPorts, isFunnelPort, MeshFunnel, type OpenFunnel } from "./MeshFunnel.ts"

export interface MeshOptions {
  /** The public port: 443, 8443 or 10000. */
  readonly port: number
  /** Password for this attempt; null for the automatic ones that follow. */
  readonly sudoPassword: Redacted.Redacted | null
}

export class MeshBackend extends Context.Tag("gateway/net/tunnels/mesh/MeshBackend")<
  MeshBackend,
  Backend<MeshOptions>
>() {}

export interface MeshLimits {
  readonly lookEveryMs: number
  /** Number of times in a row that it may be invisible: a daemon that is updated is away for some seconds. */
  readonly mostUnclear: number
}

export const meshLimits: MeshLimits = { lookEveryMs: 15_000, mostUnclear: 3 }

const gone = (reason: string): TunnelFailed => new TunnelFailed({ reason, isFinal: false })

/** Runs until it is closed, or was not to be seen several times in a row. */
const watch = (
  { isOpen }: typeof MeshFunnel.Service,
  funnel: Pick<OpenFunnel, "port" | "target">,
  { lookEveryMs, mostUnclear }: MeshLimits
): Effect.Effect<never, TunnelFailed> =>
  Effect.gen(function* () {
    for (let unclear = 0; ;) {
      yield* Effect.sleep(lookEveryMs)
      const seen = yield* Effect.either(isOpen(funnel))
      if (seen._tag === "Right") {
        unclear = 0
        if (!seen.right) return yield* gone("Tailscale has closed the funnel, or was switched off.")
      } else {
        unclear += 1
        if (unclear >= mostUnclear) return yield* gone(seen.left.reason)
      }
    }
  })

export const makeBackend = (
  funnel: typeof MeshFunnel.Service,
  limits: MeshLimits = meshLimits
): Backend<MeshOptions> => ({
  name: "mesh",
  warning: null,
  run: Effect.fn("MeshBackend.run")(function* ({ port, sudoPassword }, { host, port: localPort }, opened) {
    if (!isFunnelPort(port)) {
      return yield* new TunnelFailed({
        reason: `A funnel has port ${funnelPorts.join(", ")}, not ${port}.`,
        isFinal: true
      })
    }
    const opening = { port, target: `http://${host}:${localPort}`, sudoPassword }
    // Also after an attempt that has failed: it may have got far enough. What needs a password then stays on file.
    yield* Effect.addFinalizer(() =>
      Effect.catchAll(funnel.takeBack(null), ({ reason }) =>
        Effect.logWarning("The funnel of Tailscale is still set up", { reason, publicPort: port })
      )
    )
    const publicUrl = yield* funnel.open(opening)
    yield* opened({ publicUrl })
    return yield* watch(funnel, opening, limits)
  })
})

export const make = Effect.map(MeshFunnel, (funnel) => MeshBackend.of(makeBackend(funnel)))

export const layer: Layer.Layer<MeshBackend, never, MeshFunnel> = Layer.effect(MeshBackend, make)
