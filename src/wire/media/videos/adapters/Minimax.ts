/**
 * MiniMax: a task per video, whose file has an address of its own.
 *
 * https://platform.minimax.io/docs/api-reference/video-generation-t2v,
 * https://platform.minimax.io/docs/api-reference/video-generation-query,
 * https://platform.minimax.io/docs/api-reference/video-generation-download (read in 2026-11)
 */
import { encodeJob } from "../../jobs/Encoding.ts"
import { requestedSeconds } from "../../jobs/MediaRequest.ts"
import { outputsOf } from "../../jobs/Outputs.ts"
import { isObject, type JsonObject, objectOr, optional, parseJson, stringOr } from "../../../json/Json.ts"
import { beside, type JobStep, type JobTicket, type PolledJob } from "../../../PolledJob.ts"
import type { UpstreamProblem } from "../../../canonical/Event.ts"
import { imageOf } from "../Request.ts"

/** https://platform.minimax.io/docs/api-reference/errorcode */
const statuses: Readonly<Record<number, { readonly status: number; readonly code: string }>> = {
  1002: { status: 429, code: "rate_limit_exceeded" },
  1004: { status: 401, code: "invalid_api_key" },
  1008: { status: 402, code: "insufficient_balance" },
  1026: { status: 400, code: "content_policy_violation" },
  1027: { status: 400, code: "content_policy_violation" },
  2013: { status: 400, code: "invalid_request" },
  2049: { status: 401, code: "invalid_api_key" }
}

const problemOf = (answer: JsonObject): UpstreamProblem | null => {
  const { status_code: number, status_msg: message } = objectOr(answer["base_resp"])
  if (typeof number !== "number" || number === 0) return null
  const { code, status } = statuses[number] ?? { status: 502, code: String(number) }
  return { status, code, type: null, message: (stringOr(message) ?? `MiniMax error ${number}.`).slice(0, 2_000) }
}

const textOf = (value: unknown): string => (typeof value === "number" || typeof value === "string" ? String(value) : "")

const fileOf = (bytes: Buffer | undefined): JsonObject | null => {
  const parsed = bytes === undefined ? undefined : parseJson(bytes.toString("utf8"))
  const outputs = isObject(parsed) ? outputsOf(objectOr(parsed["file"])["download_url"]) : null
  return outputs === null ? null : { outputs }
}

const stepOf = (answer: JsonObject, ticket: JobTicket): JobStep | null => {
  const problem = problemOf(answer)
  if (problem !== null) return { _tag: "Failed", problem }
  switch (stringOr(answer["status"])) {
    case "Preparing":
    case "Queueing":
      return { _tag: "Waiting", ticket, status: "queued", progress: null }
    case "Processing":
      return { _tag: "Waiting", ticket, status: "in_progress", progress: null }
    case "Success": {
      const file = encodeURIComponent(textOf(answer["file_id"]))
      const url = beside(ticket.poll.url.split("?", 1)[0] ?? "", `../files/retrieve?file_id=${file}`)
      return { _tag: "Fetch", requests: [{ method: "GET", url }], read: ([body]) => fileOf(body?.bytes) }
    }
    case "Fail":
      return {
        _tag: "Failed",
        problem: { status: 502, code: null, type: null, message: "The provider reported that the job failed." }
      }
    default:
      return null
  }
}

export const minimaxJob: PolledJob = {
  submitted: (answer, place) => {
    const problem = problemOf(answer)
    if (problem !== null) return { _tag: "Failed", problem }
    const id = textOf(answer["task_id"])
    if (id === "") return null
    const url = beside(place, `query/video_generation?task_id=${encodeURIComponent(id)}`)
    return {
      _tag: "Waiting",
      ticket: { id, poll: { method: "GET", url }, cancel: null },
      status: "queued",
      progress: null
    }
  },
  polled: stepOf
}

export const encodeMinimax = encodeJob(({ extras, model, own, prompt }) => ({
  body: {
    model,
    ...(prompt === "" ? {} : { prompt }),
    ...optional("first_frame_image", imageOf(extras)),
    ...optional("duration", requestedSeconds(extras)),
    ...own
  },
  // It has resolutions by name.
  dropped: ["size"]
}))
