/** Events of the live feed, by channel. Pure. */
import type { UsageRow } from "../../contract/domain/Usage.ts"
import type { ProgressEvent } from "../../plane/request/RunningRequests.ts"
import type { StatsFrame } from "./Stats.ts"
import type { GatewayEvent } from "../../observe/Events.ts"
import { type Channel, channels } from "../../subjects/live/entity.ts"
import { dataOf, requestData } from "../../subjects/webhooks/EventData.ts"
import { notJson, readForeignJson, Unreadable } from "../../wire/json/Bounds.ts"
import { isArray, isObject } from "../../wire/json/Json.ts"
import { read } from "../../wire/json/Members.ts"
import { makeSpelling } from "../../wire/json/Spelling.ts"

export { type Channel, channels }

export interface LiveEvent {
  readonly channel: Channel
  readonly event: string
  readonly atMs: number
  readonly data: Readonly<Record<string, unknown>>
}

/** A request that ended. */
export const ofRequest = (row: UsageRow): LiveEvent => ({
  channel: "requests",
  event: `request.${row.outcome}`,
  atMs: row.timestampMs + row.latencyMs,
  data: requestData(row)
})

/** A request under way. */
export const ofProgress = ({ atMs, data, type }: ProgressEvent): LiveEvent => ({
  channel: "requests",
  event: type,
  atMs,
  data: data()
})

export const statsEvent = (frame: StatsFrame, atMs: number): LiveEvent => ({
  channel: "stats",
  event: "stats",
  atMs,
  data: { ...frame }
})

/** Null: it is for webhooks alone. */
const channelOf = (event: GatewayEvent): Channel | null => {
  switch (event.type) {
    case "provider.error":
    case "provider.recovered":
    case "plugin.error":
    case "capture.changed":
    case "breaker.changed":
    case "cooldown.changed":
    case "lockout.changed":
    case "connection.tested":
      return "health"
    case "config.changed":
      return "config"
    case "job.changed":
      return "jobs"
    case "quota.exceeded":
      return event.quota === "budget" ? "budget" : "quota"
    case "combo.switched":
      return "combo"
    case "attention.changed":
      return "attention"
    case "attention.raised":
    case "attention.cleared":
    case "report.weekly":
    case "report.monthly":
      return null
  }
}

export const ofEvent = (event: GatewayEvent): LiveEvent | null => {
  const channel = channelOf(event)
  return channel === null ? null : { channel, event: event.type, atMs: event.atMs, data: dataOf(event) }
}

/** `sampled`: how many events of the channel this one stands for, itself included; absent: none was left out. */
export const eventFrame = ({ atMs, channel, data, event }: LiveEvent, sampled = 1): string =>
  JSON.stringify({
    type: "event",
    channel,
    event,
    at: new Date(atMs).toISOString(),
    data,
    ...(sampled > 1 ? { sampled } : {})
  })

export type ClientFrame =
  | { readonly _tag: "Subscribe"; readonly channels: ReadonlySet<Channel> }
  | { readonly _tag: "Ping" }
  | { readonly _tag: "Problem"; readonly message: string }

const isChannel = (name: unknown): name is Channel => channels.some((channel) => channel === name)

const misspelt = makeSpelling(read("type", "channels"))

const problem = (message: string): ClientFrame => ({ _tag: "Problem", message })

/** Total: any text becomes a frame or a problem with the reason. Frames are short, so that parsing is too. */
export const readClientFrame = (text: string): ClientFrame => {
  const frame = readForeignJson(text)
  if (frame instanceof Unreadable && frame !== notJson) return problem(frame.message)
  if (!isObject(frame)) return problem("A frame must be a JSON object.")
  const wrong = misspelt(frame)
  if (wrong !== null) return problem(wrong.message)
  const { channels: wanted, type } = frame
  if (type === "ping") return { _tag: "Ping" }
  if (type !== "subscribe") return problem("type: expected 'subscribe' or 'ping'")
  return isArray(wanted) && wanted.every(isChannel)
    ? { _tag: "Subscribe", channels: new Set(wanted) }
    : problem(`channels: expected an array of ${channels.join(", ")}`)
}
