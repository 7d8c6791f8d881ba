/**
 * Replicate: a prediction per picture. The model is `<owner>/<name>`, or `<owner>/<name>:<version>`.
 *
 * https://replicate.com/docs/reference/http#predictions.create (read in 2026-11)
 */
import { chat } from "../../../chat/Codec.ts"
import { isArray, type JsonObject, objectOr, optional, stringOr } from "../../../json/Json.ts"
import { answersOf } from "../../OpaqueAnswer.ts"
import { below, type JobStep, type JobTicket, type PolledJob } from "../../../PolledJob.ts"
import type { WireCodec } from "../../../WireCodec.ts"
import { answerWith, picturesOf } from "../Answer.ts"
import { encodeAs } from "../ImageRequest.ts"
import { partsOfAtMost } from "../Parts.ts"
import { contentRefused } from "../Refusal.ts"

/** Pattern of a refusal by safety checkers: they have no code of their own and end a prediction with this text. */
const filtered = /\bnsfw\b|flagged as sensitive/i

const stepOf = (answer: JsonObject, ticket: JobTicket): JobStep | null => {
  switch (answer["status"]) {
    case "starting":
      return { _tag: "Waiting", ticket, status: "queued", progress: null }
    case "processing":
      return { _tag: "Waiting", ticket, status: "in_progress", progress: null }
    case "succeeded":
      return { _tag: "Done", answer }
    case "failed":
    case "canceled":
    case "aborted": {
      const reason = stringOr(answer["error"]) ?? "The prediction did not come to its end."
      if (filtered.test(reason)) return { _tag: "Failed", problem: contentRefused(reason) }
      return { _tag: "Failed", problem: { status: 502, message: reason.slice(0, 2_000), type: null, code: null } }
    }
    default:
      return null
  }
}

export const replicateJob: PolledJob = {
  submitted: (answer, place) => {
    const id = stringOr(answer["id"]) ?? ""
    if (id === "") return null
    const { cancel, get } = objectOr(answer["urls"])
    const own = below(place, `/${encodeURIComponent(id)}`)
    return stepOf(answer, {
      id,
      poll: { method: "GET", url: stringOr(get) ?? own },
      cancel: { method: "POST", url: stringOr(cancel) ?? below(own, "/cancel") }
    })
  },
  polled: stepOf
}

const picturesIn = ({ output }: JsonObject) => picturesOf(isArray(output) ? output : [output])

export const replicate: WireCodec = {
  ...chat,
  endpoint: "images",
  answersWhole: true,
  encodeRequest: encodeAs(["size", "output_format"], ({ format, model, own, prompt, ratio }) => ({
    body: {
      version: model,
      input: {
        prompt,
        ...optional("aspect_ratio", ratio),
        ...optional("output_format", format === "jpeg" ? "jpg" : format),
        ...own
      }
    }
  })),
  partsOf: partsOfAtMost(1),
  job: replicateJob,
  ...answersOf("images", "picture", answerWith(picturesIn))
}
