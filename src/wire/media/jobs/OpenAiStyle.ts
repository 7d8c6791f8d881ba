/**
 * Jobs in the form of OpenAI's videos: the submit answers `{id, status}`, the job is below the address of the submit, and the bytes of
 * its result below the job. Others that follow it give addresses or bytes in the job itself, or answer the submit with the result.
 *
 * https://developers.openai.com/api/reference/resources/videos/methods/create (read in 2026-11)
 */
import { isObject, type Json, type JsonObject, numberOr, optional, stringOr } from "../../json/Json.ts"
import { outputsOf, secondsOf } from "./Outputs.ts"
import { below, type JobRequest, type JobStep, type PolledJob } from "../../PolledJob.ts"
import { jobProblem } from "./Problem.ts"

const waitingWords: Readonly<Record<string, "queued" | "in_progress">> = {
  queued: "queued",
  pending: "queued",
  submitted: "queued",
  created: "queued",
  starting: "queued",
  in_queue: "queued",
  in_progress: "in_progress",
  processing: "in_progress",
  running: "in_progress",
  generating: "in_progress"
}
const doneWords: ReadonlySet<string> = new Set(["completed", "succeeded", "success", "complete", "done", "finished"])
const failedWords: ReadonlySet<string> = new Set(["failed", "failure", "error", "cancelled", "canceled", "expired"])

/** OpenAI's codes of a job that its request made fail. */
const requestCode = /moderation|content_policy|invalid_(?:prompt|request|value|size)|unsafe|safety/i

/** Finds the result in the job, or in an answer without one. */
const resultIn = (answer: JsonObject): ReadonlyArray<JsonObject> | null => {
  for (const name of ["data", "outputs", "output", "result", "video", "audio"]) {
    const outputs = answer[name] === undefined ? null : outputsOf(answer[name])
    if (outputs !== null) return outputs
  }
  return outputsOf(answer)
}

const done = (answer: JsonObject, outputs: Json): JobStep => ({
  _tag: "Done",
  answer: {
    outputs,
    ...optional("seconds", secondsOf(answer["seconds"]) ?? secondsOf(answer["duration"])),
    ...optional("id", stringOr(answer["id"])),
    ...optional("model", stringOr(answer["model"]))
  }
})

/** `content`: address of the job's bytes; null where it has none of its own. */
const stepOf = (answer: JsonObject, poll: JobRequest, cancel: JobRequest, content: string): JobStep | null => {
  const status = (stringOr(answer["status"]) ?? "").toLowerCase()
  const id = stringOr(answer["id"])
  const waiting = waitingWords[status]
  if (waiting !== undefined && id !== null) {
    const progress = numberOr(answer["progress"])
    return { _tag: "Waiting", ticket: { id, poll, cancel }, status: waiting, progress }
  }
  if (failedWords.has(status)) {
    const isOfRequest = (code: string): boolean => requestCode.test(code)
    return { _tag: "Failed", problem: jobProblem(answer["error"], isOfRequest) }
  }
  const outputs = resultIn(answer)
  if (outputs !== null) return done(answer, outputs)
  return doneWords.has(status) && id !== null ? done(answer, [{ content }]) : null
}

export const openAiJob: PolledJob = {
  submitted: (answer, place) => {
    const id = stringOr(answer["id"]) ?? ""
    const job = below(place, `/${encodeURIComponent(id)}`)
    // Documented for finished videos; others that follow this form end a running one with it.
    return isObject(answer["error"])
      ? null
      : stepOf(answer, { method: "GET", url: job }, { method: "DELETE", url: job }, below(job, "/content"))
  },
  polled: (answer, { cancel, poll }) => stepOf(answer, poll, cancel ?? poll, below(poll.url, "/content"))
}
