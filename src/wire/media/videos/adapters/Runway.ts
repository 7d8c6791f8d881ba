/**
 * Runway: a task per video. The ratio is in pixels, so that `size` is one.
 *
 * https://docs.dev.runwayml.com/api (read in 2026-11)
 */
import { encodeJob } from "../../jobs/Encoding.ts"
import { requestedSeconds } from "../../jobs/MediaRequest.ts"
import { outputsOf } from "../../jobs/Outputs.ts"
import { jobProblem } from "../../jobs/Problem.ts"
import { type JsonObject, numberOr, optional, stringOr } from "../../../json/Json.ts"
import { beside, type JobStep, type JobTicket, type PolledJob } from "../../../PolledJob.ts"
import { imageOf } from "../Request.ts"

const stepOf = (answer: JsonObject, ticket: JobTicket): JobStep | null => {
  const progress = numberOr(answer["progress"])
  switch (stringOr(answer["status"])) {
    case "PENDING":
    case "THROTTLED":
      return { _tag: "Waiting", ticket, status: "queued", progress: null }
    case "RUNNING":
      return { _tag: "Waiting", ticket, status: "in_progress", progress: progress === null ? null : progress * 100 }
    case "SUCCEEDED":
      return { _tag: "Done", answer: { outputs: outputsOf(answer["output"]) ?? [] } }
    case "FAILED":
    case "CANCELLED": {
      // SAFETY.INPUT.*, INPUT_PREPROCESSING.SAFETY.TEXT, ASSET.INVALID
      const code = stringOr(answer["failureCode"])
      const isOfRequest = /SAFETY|ASSET\.INVALID/.test(code ?? "")
      const problem = jobProblem({ message: stringOr(answer["failure"]) ?? "", code }, () => isOfRequest)
      return {
        _tag: "Failed",
        problem: /SAFETY/.test(code ?? "") ? { ...problem, code: "content_policy_violation" } : problem
      }
    }
    default:
      return null
  }
}

export const runwayJob: PolledJob = {
  submitted: (answer, place) => {
    const id = stringOr(answer["id"]) ?? ""
    if (id === "") return null
    const task = beside(place, `tasks/${encodeURIComponent(id)}`)
    const ticket: JobTicket = { id, poll: { method: "GET", url: task }, cancel: { method: "DELETE", url: task } }
    return stepOf(answer, ticket) ?? { _tag: "Waiting", ticket, status: "queued", progress: null }
  },
  polled: stepOf
}

export const encodeRunway = encodeJob(({ extras, model, own, prompt }) => {
  const image = imageOf(extras)
  const { ratio, ...others } = own
  return {
    body: {
      model,
      ...(prompt === "" ? {} : { promptText: prompt }),
      ...optional("promptImage", image),
      ...optional("duration", requestedSeconds(extras)),
      ...optional("ratio", stringOr(ratio) ?? stringOr(extras["size"])?.replace("x", ":")),
      ...others
    },
    place: { service: image === null ? "text_to_video" : "image_to_video" }
  }
})
