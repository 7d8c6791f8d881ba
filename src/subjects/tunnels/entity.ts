/** Tunnels: ways from elsewhere to this gateway without an open port (docs/tunnels.md). */
import * as Schema from "effect/Schema"

/**
 * - `quick`: `cloudflared` with an address that is new at every start.
 * - `token`: ngrok's SDK with an authtoken.
 * - `mesh`: the funnel of Tailscale.
 * - `ssh`: a remote forward of OpenSSH to a server of the user.
 */
export const TunnelBackend = Schema.Literal("quick", "token", "mesh", "ssh")
export type TunnelBackend = typeof TunnelBackend.Type

export const TunnelPhase = Schema.Literal("stopped", "starting", "running", "needs_auth", "error")
export type TunnelPhase = typeof TunnelPhase.Type

export interface TunnelStatus {
  readonly backend: TunnelBackend
  readonly phase: TunnelPhase
  /** True when requests can come through now: `phase` is `running`. */
  readonly running: boolean
  /** Public address without a trailing slash; null while there is none. */
  readonly publicUrl: string | null
  /** `publicUrl` followed by `/v1`. */
  readonly apiUrl: string | null
  /** The listener of this machine that its traffic enters by; null while it is stopped. */
  readonly targetUrl: string | null
  /** One sentence for people, without secrets and paths; null when there was none since it was opened. */
  readonly lastError: string | null
  /** Limitation of this backend, one sentence for people; null: none. */
  readonly warning: string | null
  /** Epoch milliseconds since when it is in its phase. */
  readonly sinceMs: number
  /** Number of automatic restarts since it was enabled. */
  readonly restarts: number
  /** True when it may be open while the gateway requires no API key. */
  readonly allowKeyless: boolean
}
