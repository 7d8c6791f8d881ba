/**
 * Black Forest Labs: a job per picture, asked about at the address it names, which may be another host of theirs.
 *
 * https://docs.bfl.ai/quick_start/generating_images, https://docs.bfl.ai/api_integration/integration_guidelines (read in 2026-11)
 */
import { chat } from "../../../chat/Codec.ts"
import { type JsonObject, numberOr, objectOr, optional, stringOr } from "../../../json/Json.ts"
import { answersOf } from "../../OpaqueAnswer.ts"
import type { JobStep, JobTicket, PolledJob } from "../../../PolledJob.ts"
import type { WireCodec } from "../../../WireCodec.ts"
import { answerWith, picturesOf } from "../Answer.ts"
import { encodeAs } from "../ImageRequest.ts"
import { partsOfAtMost } from "../Parts.ts"
import { contentRefused } from "../Refusal.ts"

/** Models that want a shape in place of a size. */
const isShaped = (model: string): boolean => /ultra|kontext/.test(model)

const waiting = (ticket: JobTicket, status: "queued" | "in_progress", progress: number | null): JobStep => ({
  _tag: "Waiting",
  ticket,
  status,
  progress
})

const failure = (answer: JsonObject, status: string): JobStep => ({
  _tag: "Failed",
  problem: {
    status: 502,
    message: stringOr(objectOr(answer["details"])["error"]) ?? `The job ended with '${status.slice(0, 100)}'.`,
    type: null,
    code: null
  }
})

/** `progress` is a part of one. */
const percentOf = (answer: JsonObject): number | null => {
  const part = numberOr(answer["progress"])
  return part === null || part < 0 || part > 1 ? null : Math.round(part * 100)
}

const job: PolledJob = {
  ownHosts: ".bfl.ai",
  submitted: (answer, place) => {
    const id = stringOr(answer["id"]) ?? ""
    if (id === "") return null
    const known = stringOr(answer["polling_url"])
    const url = known ?? new URL(`get_result?id=${encodeURIComponent(id)}`, place).href
    return waiting({ id, poll: { method: "GET", url }, cancel: null }, "queued", null)
  },
  polled: (answer, ticket) => {
    const status = stringOr(answer["status"]) ?? ""
    switch (status) {
      case "Ready":
        return { _tag: "Done", answer }
      case "Request Moderated":
      case "Content Moderated":
        return { _tag: "Failed", problem: contentRefused(status) }
      case "Pending":
        return waiting(ticket, "in_progress", percentOf(answer))
      case "Error":
      case "Failed":
      case "Task not found":
        return failure(answer, status)
      default:
        return null
    }
  }
}

export const blackForestLabs: WireCodec = {
  ...chat,
  endpoint: "images",
  answersWhole: true,
  encodeRequest: encodeAs(["size", "output_format"], ({ format, model, own, prompt, ratio, size }) => ({
    body: {
      prompt,
      ...(isShaped(model) ? optional("aspect_ratio", ratio) : size),
      ...optional("output_format", format),
      ...own
    }
  })),
  partsOf: partsOfAtMost(1),
  job,
  ...answersOf(
    "images",
    "picture",
    answerWith((body) => picturesOf([objectOr(body["result"])["sample"]]))
  )
}
