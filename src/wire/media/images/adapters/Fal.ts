/**
 * fal's queue: submit, ask for the status, fetch the response. A result is an address or, with `sync_mode`, a `data:` one.
 *
 * https://docs.fal.ai/model-endpoints/queue (read in 2026-11)
 */
import { chat } from "../../../chat/Codec.ts"
import { isObject, type JsonObject, objectOr, optional, parseJson, stringOr } from "../../../json/Json.ts"
import { answersOf } from "../../OpaqueAnswer.ts"
import { below, type JobStep, type JobTicket, type PolledJob } from "../../../PolledJob.ts"
import type { WireCodec } from "../../../WireCodec.ts"
import { answerWith, listOf, picturesOf } from "../Answer.ts"
import { encodeAs } from "../ImageRequest.ts"

const statusPath = "/status"

/** Derives the address of a job's result from that of its status. */
const responseUrl = ({ poll }: JobTicket): string => {
  const { origin, pathname } = new URL(poll.url)
  return origin + (pathname.endsWith(statusPath) ? pathname.slice(0, -statusPath.length) : pathname)
}

const responseOf = (bytes: Buffer | undefined): JsonObject | null => {
  const parsed = bytes === undefined ? undefined : parseJson(bytes.toString("utf8"))
  return isObject(parsed) ? parsed : null
}

const stepOf = (answer: JsonObject, ticket: JobTicket): JobStep | null => {
  switch (answer["status"]) {
    case "IN_QUEUE":
      return { _tag: "Waiting", ticket, status: "queued", progress: null }
    case "IN_PROGRESS":
      return { _tag: "Waiting", ticket, status: "in_progress", progress: null }
    case "COMPLETED":
      return {
        _tag: "Fetch",
        requests: [{ method: "GET", url: stringOr(answer["response_url"]) ?? responseUrl(ticket) }],
        read: ([response]) => responseOf(response?.bytes)
      }
    default:
      return null
  }
}

export const falJob: PolledJob = {
  submitted: (answer, place) => {
    const id = stringOr(answer["request_id"]) ?? ""
    if (id === "") return null
    const own = below(place, `/requests/${encodeURIComponent(id)}`)
    const ticket: JobTicket = {
      id,
      poll: { method: "GET", url: stringOr(answer["status_url"]) ?? own + statusPath },
      cancel: { method: "PUT", url: stringOr(answer["cancel_url"]) ?? `${own}/cancel` }
    }
    return stepOf(answer, ticket) ?? { _tag: "Waiting", ticket, status: "queued", progress: null }
  },
  polled: stepOf
}

/** Several pictures, or one. */
const picturesIn = (body: JsonObject) => {
  const images = listOf(body["images"]).map((image) => objectOr(image)["url"])
  return picturesOf(images.length > 0 ? images : [objectOr(body["image"])["url"]])
}

export const fal: WireCodec = {
  ...chat,
  endpoint: "images",
  answersWhole: true,
  encodeRequest: encodeAs(["size", "output_format"], ({ count, format, own, prompt, size }) => ({
    body: {
      prompt,
      ...(count > 1 ? { num_images: count } : {}),
      ...optional("image_size", size === null ? null : { ...size }),
      ...optional("output_format", format),
      ...own
    }
  })),
  job: falJob,
  ...answersOf("images", "picture", answerWith(picturesIn))
}
