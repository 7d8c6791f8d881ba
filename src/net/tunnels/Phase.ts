/** The phases of a tunnel as a pure state machine: what happened → its status. */
import type { TunnelBackend, TunnelPhase, TunnelStatus } from "../../subjects/tunnels/entity.ts"

export type TunnelEvent =
  | { readonly _tag: "Enabled"; readonly allowKeyless: boolean }
  /** The tunnel's listener is open. */
  | { readonly _tag: "Entered"; readonly targetUrl: string }
  | { readonly _tag: "Opened"; readonly publicUrl: string }
  /** `isFinal`: it is not tried again by itself. */
  | { readonly _tag: "Failed"; readonly reason: string; readonly isFinal: boolean }
  | { readonly _tag: "TriedAgain" }
  | { readonly _tag: "AuthNeeded"; readonly reason: string }
  | { readonly _tag: "Stopped" }

/** A sentence for people is cut here. */
export const maxReasonChars = 1_000
const maxUrlChars = 300

export const initialStatus = (backend: TunnelBackend, warning: string | null, nowMs: number): TunnelStatus => ({
  backend,
  phase: "stopped",
  running: false,
  publicUrl: null,
  apiUrl: null,
  targetUrl: null,
  lastError: null,
  warning,
  sinceMs: nowMs,
  restarts: 0,
  allowKeyless: false
})

/** An origin without a trailing slash; null when the text is none. */
export const readOrigin = (text: string): string | null => {
  if (text.length > maxUrlChars || !URL.canParse(text)) return null
  const url = new URL(text)
  const isPlain =
    url.pathname === "/" && url.search === "" && url.hash === "" && url.username === "" && url.password === ""
  return isPlain && /^https?:$/.test(url.protocol) ? url.origin : null
}

const enter = (status: TunnelStatus, phase: TunnelPhase, nowMs: number): TunnelStatus => ({
  ...status,
  phase,
  running: phase === "running",
  sinceMs: status.phase === phase ? status.sinceMs : nowMs,
  publicUrl: null,
  apiUrl: null
})

const shortened = (reason: string): string =>
  reason.length > maxReasonChars ? `${reason.slice(0, maxReasonChars - 1)}…` : reason

/** The status after an event. What comes after a tunnel was stopped, and is not its being enabled, changes nothing. */
export const after = (status: TunnelStatus, event: TunnelEvent, nowMs: number): TunnelStatus => {
  if (event._tag === "Enabled") {
    const { allowKeyless } = event
    const fresh = { ...status, lastError: null, restarts: 0, targetUrl: null, allowKeyless }
    return { ...enter(fresh, "starting", nowMs), sinceMs: nowMs }
  }
  if (status.phase === "stopped") return status
  switch (event._tag) {
    case "Entered":
      return { ...status, targetUrl: event.targetUrl }
    case "Opened": {
      const publicUrl = readOrigin(event.publicUrl)
      if (publicUrl === null) return status
      return { ...enter(status, "running", nowMs), publicUrl, apiUrl: `${publicUrl}/v1` }
    }
    case "Failed": {
      const failed = { ...enter(status, "error", nowMs), lastError: shortened(event.reason) }
      return event.isFinal ? { ...failed, targetUrl: null } : failed
    }
    case "TriedAgain":
      return { ...enter(status, "starting", nowMs), restarts: status.restarts + 1 }
    case "AuthNeeded":
      return { ...enter(status, "needs_auth", nowMs), lastError: shortened(event.reason), targetUrl: null }
    case "Stopped":
      return { ...enter(status, "stopped", nowMs), targetUrl: null, lastError: null, allowKeyless: false }
  }
}
