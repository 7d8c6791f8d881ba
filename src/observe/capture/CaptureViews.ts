/** The state of capture, as it is shown. */
import type { CustomHost } from "./CaptureSettings.ts"
import type { SystemProxyState } from "./host/SystemProxy.ts"
import type { TransparentStatus } from "./transparent/Transparent.ts"

export interface HostView extends CustomHost {
  readonly inHostsFile: boolean
}

export interface HostChanged {
  readonly host: HostView
  /** Reason for which the host is not captured, or not everywhere; null: it is. */
  readonly warning: string | null
}

export interface ServerState {
  readonly running: boolean
  readonly port: number | null
  readonly startedAtMs: number | null
}

export interface CertificateView {
  readonly subject: string
  readonly serial: string
  readonly sha256: string
  readonly notBeforeMs: number
  readonly notAfterMs: number
  readonly trusted: boolean
}

export interface CaptureModes {
  readonly customHosts: { readonly count: number; readonly enabledCount: number }
  readonly httpProxy: { readonly running: boolean; readonly port: number | null }
  readonly systemProxy: SystemProxyState
  readonly tlsIntercept: boolean
  readonly transparent: TransparentStatus
  readonly server: ServerState
}

export interface BridgeConfig {
  readonly recordPassthrough: boolean
  readonly idleTimeoutMs: number
}

export interface Pattern {
  readonly pattern: string
  readonly source: "default" | "user"
}
