/**
 * The live feed on the page's own port: one socket, subscribed to what is on the screen. A frame says what has changed; a gap asks for it anew.
 */
import { effect, signal } from "@preact/signals"
import type { ApiError } from "../api/ApiError.ts"
import { authSession } from "../api/calls.generated.ts"
import { gatewayUrl } from "../api/client.ts"
import { queries } from "../api/queries.ts"
import { isAdministrator, signedIn } from "../api/rights.ts"
import { sessionState } from "../api/session.ts"
import { learnClock } from "../api/clock.ts"
import { lookForBuild } from "./build.ts"

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

/** `cut`: the gateway answers, but no socket comes through; what is shown is asked for anew with every try. */
export const feedState = signal<"live" | "paused" | "connecting" | "cut" | "unreachable">("paused")
/** Since when the gateway is not reached, ISO 8601. */
export const feedSince = signal(new Date().toISOString())

/** Channels that the gateway tells: from then on nothing of them is missed. */
export const heard = signal<ReadonlySet<string>>(new Set())

export type Listener = (event: FeedEvent) => void

const listeners = new Map<string, Set<Listener>>()
const firstWaitMs = 500
const longestWaitMs = 30_000

let socket: WebSocket | null = null
let waitMs = firstWaitMs
let timer: number | undefined
/** A socket has been lost, and what the gateway answers to that is waited for: the next try comes after it. */
let isLooking = false
/** The gateway has told something since the last time that it was away. */
let isInStep = false

const wanted = (): ReadonlyArray<string> => [...listeners.keys()]

const subscribe = (): void => {
  if (socket?.readyState === WebSocket.OPEN) {
    socket.send(JSON.stringify({ type: "subscribe", channels: wanted() }))
  }
}

interface Frame extends FeedEvent {
  readonly type: string
  readonly channels?: ReadonlyArray<string>
}

const onFrame = (text: string): void => {
  const frame = JSON.parse(text) as Frame
  if (frame.type === "welcome") {
    subscribe()
    return
  }
  // What was missed is asked for.
  if (frame.type === "dropped") void queries.invalidateQueries()
  if (frame.type === "subscribed") heard.value = new Set(frame.channels)
  if (frame.type !== "event") return
  learnClock(Date.parse(frame.at))
  for (const listener of listeners.get(frame.channel) ?? []) listener(frame)
}

const later = (): void => {
  globalThis.clearTimeout(timer)
  timer = undefined
  if (listeners.size === 0) return
  timer = globalThis.setTimeout(() => {
    timer = undefined
    connect()
  }, waitMs)
  waitMs = Math.min(longestWaitMs, waitMs * 2)
}

/** A socket does not say why it was not opened: whether there is a gateway, and whether it knows this session, is asked as all else is. */
const lookWhy = async (): Promise<void> => {
  try {
    await authSession()
    // The first time it may have been restarted just now.
    feedState.value = waitMs === firstWaitMs ? "connecting" : "cut"
    void queries.invalidateQueries()
  } catch (error) {
    if ((error as ApiError).status === 401) return
    if (feedState.value !== "unreachable") feedSince.value = new Date().toISOString()
    feedState.value = "unreachable"
  }
}

const onClose = async (): Promise<void> => {
  socket = null
  isInStep = false
  heard.value = new Set()
  if (listeners.size === 0) {
    feedState.value = "paused"
    return
  }
  if (feedState.value === "live") feedState.value = "connecting"
  isLooking = true
  await lookWhy()
  isLooking = false
  // A new login has connected meanwhile.
  if (socket !== null) return
  // Without a session the next login connects.
  if (sessionState.value === "open") later()
  else feedState.value = "paused"
}

const onOpen = (): void => {
  feedState.value = "live"
  waitMs = firstWaitMs
  if (!isInStep) void queries.invalidateQueries()
  isInStep = true
  // What answers now may be another version.
  void lookForBuild()
}

function connect(): void {
  // Administrators hear everything of the gateway, people their own requests; others are refused.
  if (socket !== null || sessionState.value !== "open" || !(isAdministrator() || signedIn() !== null)) return
  globalThis.clearTimeout(timer)
  timer = undefined
  const url = new URL("api/live", gatewayUrl)
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:"
  if (feedState.value === "paused") feedState.value = "connecting"
  const opening = new WebSocket(url)
  socket = opening
  opening.addEventListener("open", onOpen)
  opening.addEventListener("message", ({ data }) => onFrame(String(data)))
  opening.addEventListener("close", () => void onClose())
}

effect(() => {
  if (sessionState.value !== "open" || listeners.size === 0) return
  waitMs = firstWaitMs
  connect()
})

/** Hears a channel until the returned function is called. The socket is open while there are listeners. */
export const hear = (channel: string, listener: Listener): (() => void) => {
  const known = listeners.get(channel) ?? new Set()
  listeners.set(channel, known.add(listener))
  // While the gateway is away its turn comes with the next try.
  if (socket !== null) subscribe()
  else if (timer === undefined && !isLooking) connect()
  return () => {
    known.delete(listener)
    if (known.size > 0) return
    listeners.delete(channel)
    if (listeners.size === 0) socket?.close()
    else subscribe()
  }
}
