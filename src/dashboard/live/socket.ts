/**
 * The live feed on the page's own port: one socket, subscribed to what is on the screen. A frame says what has changed; a gap asks for it anew.
 */
import { signal } from "@preact/signals"
import { gatewayUrl } from "../api/client.ts"
import { queries } from "../api/queries.ts"
import { sessionState } from "../api/session.ts"
import { learnClock } from "../ui/format.ts"

export interface FeedEvent {
  readonly channel: string
  readonly event: string
  /** ISO 8601. */
  readonly at: string
  readonly data: Readonly<Record<string, unknown>>
  /** Number of events that this one stands for; absent: one. */
  readonly sampled?: number
}

/** The request that an event is about; empty: none. The ends of requests name it as webhooks do (docs/webhooks.md). */
export const requestIdOf = ({ data }: FeedEvent): string => {
  const id = data["requestId"] ?? data["trace_id"]
  return typeof id === "string" ? id : ""
}

export const feedState = signal<"live" | "paused" | "connecting" | "unreachable">("paused")
/** Since when the gateway is not reached, ISO 8601. */
export const feedSince = signal(new Date().toISOString())

export type Listener = (event: FeedEvent) => void

const listeners = new Map<string, Set<Listener>>()
const firstWaitMs = 500
const longestWaitMs = 30_000

let socket: WebSocket | null = null
let waitMs = firstWaitMs
let timer: number | undefined

const wanted = (): ReadonlyArray<string> => [...listeners.keys()]

const subscribe = (): void => {
  if (socket?.readyState === WebSocket.OPEN) {
    socket.send(JSON.stringify({ type: "subscribe", channels: wanted() }))
  }
}

interface Frame extends FeedEvent {
  readonly type: string
}

const onFrame = (text: string): void => {
  const frame = JSON.parse(text) as Frame
  if (frame.type === "welcome") {
    subscribe()
    return
  }
  // What was missed is asked for.
  if (frame.type === "dropped") void queries.invalidateQueries()
  if (frame.type !== "event") return
  learnClock(Date.parse(frame.at))
  for (const listener of listeners.get(frame.channel) ?? []) listener(frame)
}

const later = (): void => {
  globalThis.clearTimeout(timer)
  if (listeners.size === 0) return
  timer = globalThis.setTimeout(connect, waitMs)
  waitMs = Math.min(longestWaitMs, waitMs * 2)
}

function connect(): void {
  if (socket !== null || sessionState.value !== "open") return
  const url = new URL("api/live", gatewayUrl)
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:"
  if (feedState.value !== "unreachable") feedState.value = "connecting"
  const opening = new WebSocket(url)
  socket = opening
  opening.addEventListener("open", () => {
    const wasAway = feedState.value === "unreachable"
    feedState.value = "live"
    waitMs = firstWaitMs
    if (wasAway) void queries.invalidateQueries()
  })
  opening.addEventListener("message", ({ data }) => onFrame(String(data)))
  opening.addEventListener("close", () => {
    socket = null
    if (listeners.size === 0) {
      feedState.value = "paused"
      return
    }
    if (feedState.value !== "unreachable") feedSince.value = new Date().toISOString()
    feedState.value = "unreachable"
    later()
  })
}

/** Hears a channel until the returned function is called. The socket is open while there are listeners. */
export const hear = (channel: string, listener: Listener): (() => void) => {
  const known = listeners.get(channel) ?? new Set()
  listeners.set(channel, known.add(listener))
  if (socket === null) connect()
  else subscribe()
  return () => {
    known.delete(listener)
    if (known.size > 0) return
    listeners.delete(channel)
    if (listeners.size === 0) socket?.close()
    else subscribe()
  }
}
