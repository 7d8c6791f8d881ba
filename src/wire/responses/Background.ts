/**
 * Responses in the background (`background: true`), and the requests by which the gateway asks for their state.
 *
 * https://developers.openai.com/api/docs/guides/background
 */
import type { JobTicket } from "../../subjects/mediaJobs/entity.ts"
import { isObject, type JsonObject, parseJson, stringOr } from "../json/Json.ts"
import { below, type JobStep, type PolledJob } from "../PolledJob.ts"

export interface Begun {
  readonly id: string
  /** True when it may still become an answer. */
  readonly isOpen: boolean
}

const open: ReadonlySet<string> = new Set(["queued", "in_progress"])

/** Ids are part of an address. */
const idPattern = /^[\w.:-]{1,200}$/

export const responseIdIn = (body: JsonObject): string | null => {
  const id = stringOr(body["id"])
  return id !== null && idPattern.test(id) ? id : null
}

/** The response where it is one that goes on by itself, or was ended by its client; null where it is an answer, or none. */
export const underWayIn = (body: JsonObject): Begun | null => {
  const id = responseIdIn(body)
  const status = stringOr(body["status"]) ?? ""
  if (id === null || isObject(body["error"])) return null
  return open.has(status) ? { id, isOpen: true } : status === "cancelled" ? { id, isOpen: false } : null
}

const begins = ["response.created", "response.queued", "response.in_progress"]

/** The same in the events of a stream, which begin with the response as it is. */
export const underWayInEvents = (bytes: Buffer | string): Begun | null => {
  if (!begins.some((name) => bytes.includes(name))) return null
  for (const line of bytes.toString().split(/\r\n|\r|\n/)) {
    if (!line.startsWith("data:") || !begins.some((name) => line.includes(name))) continue
    const event = parseJson(line.slice(5))
    if (!isObject(event) || !begins.includes(String(event["type"])) || !isObject(event["response"])) continue
    return underWayIn(event["response"])
  }
  return null
}

/** Makes the ticket of a response, whose address is below the one that it was made at. */
export const ticketFor = (place: string, id: string): JobTicket => ({
  id,
  poll: { method: "GET", url: below(place, `/${encodeURIComponent(id)}`) },
  cancel: null
})

/** A response that was begun before: it is never submitted. */
export const backgroundJob: PolledJob = {
  submitted: () => null,
  pollMs: { first: 500, longest: 5_000 },
  polled: (answer, ticket): JobStep | null => {
    const underWay = underWayIn(answer)
    if (underWay?.isOpen === true) {
      return {
        _tag: "Waiting",
        ticket,
        status: answer["status"] === "queued" ? "queued" : "in_progress",
        progress: null
      }
    }
    return stringOr(answer["id"]) === null ? null : { _tag: "Done", answer }
  }
}
