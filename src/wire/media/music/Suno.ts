/**
 * Suno's songs, by the interface that its resellers document in one form: a task, and its record.
 *
 * https://docs.sunoapi.org/suno-api/generate-music, https://docs.sunoapi.org/suno-api/get-music-generation-details,
 * https://docs.kie.ai/suno-api/generate-music (read in 2026-11)
 */
import type { UpstreamProblem } from "../../canonical/Event.ts"
import { encodeJob } from "../jobs/Encoding.ts"
import { outputsOf, secondsOf } from "../jobs/Outputs.ts"
import { isArray, type JsonObject, objectOr, optional, stringOr } from "../../json/Json.ts"
import { beside, type JobStep, type JobTicket, type PolledJob } from "../../PolledJob.ts"

/** The body has the status; the answer itself is a 200. */
const problemOf = (answer: JsonObject): UpstreamProblem | null => {
  const { code, msg } = answer
  if (typeof code !== "number" || code === 200) return null
  const message = (stringOr(msg) ?? `The provider answered ${code}.`).slice(0, 2_000)
  // Of its own: 413 a text with forbidden words, 429 no credits, 430 too many calls, 455 maintenance.
  if (code === 413) return { status: 400, message, type: null, code: "content_policy_violation" }
  if (code === 429) return { status: 402, message, type: null, code: "insufficient_credits" }
  if (code === 430) return { status: 429, message, type: null, code: "rate_limit_exceeded" }
  const status = code >= 400 && code <= 599 ? (code === 455 ? 503 : code) : 502
  return { status, message, type: null, code: String(code) }
}

const songs = (data: JsonObject): JobStep => {
  const { sunoData } = objectOr(data["response"])
  const tracks = (isArray(sunoData) ? sunoData : []).map(objectOr)
  const outputs = outputsOf(tracks.map((track) => stringOr(track["audioUrl"]) ?? stringOr(track["audio_url"]) ?? ""))
  const seconds = tracks.reduce((sum, track) => sum + (secondsOf(track["duration"]) ?? 0), 0)
  return { _tag: "Done", answer: { outputs: outputs ?? [], ...optional("seconds", secondsOf(seconds)) } }
}

const stepOf = (answer: JsonObject, ticket: JobTicket): JobStep | null => {
  const problem = problemOf(answer)
  if (problem !== null) return { _tag: "Failed", problem }
  const data = objectOr(answer["data"])
  const status = stringOr(data["status"])
  switch (status) {
    case "PENDING":
      return { _tag: "Waiting", ticket, status: "queued", progress: null }
    case "TEXT_SUCCESS":
      return { _tag: "Waiting", ticket, status: "in_progress", progress: 30 }
    case "FIRST_SUCCESS":
      return { _tag: "Waiting", ticket, status: "in_progress", progress: 60 }
    // The songs are there, only the call back failed.
    case "CALLBACK_EXCEPTION":
    case "SUCCESS":
      return songs(data)
    case "SENSITIVE_WORD_ERROR":
    case "CREATE_TASK_FAILED":
    case "GENERATE_AUDIO_FAILED": {
      const message = (stringOr(data["errorMessage"]) ?? `The provider reported ${status}.`).slice(0, 2_000)
      return {
        _tag: "Failed",
        problem:
          status === "SENSITIVE_WORD_ERROR"
            ? { status: 400, message, type: null, code: "content_policy_violation" }
            : { status: 502, message, type: null, code: status.toLowerCase() }
      }
    }
    default:
      return null
  }
}

export const sunoJob: PolledJob = {
  submitted: (answer, place) => {
    const problem = problemOf(answer)
    if (problem !== null) return { _tag: "Failed", problem }
    const id = stringOr(objectOr(answer["data"])["taskId"]) ?? ""
    if (id === "") return null
    const url = beside(place, `generate/record-info?taskId=${encodeURIComponent(id)}`)
    return {
      _tag: "Waiting",
      ticket: { id, poll: { method: "GET", url }, cancel: null },
      status: "queued",
      progress: null
    }
  },
  polled: stepOf,
  // It answers 20 requests in 10 seconds.
  pollMs: { first: 1_000, longest: 15_000 }
}

/** Address for the callback that the provider requires. It resolves nowhere (RFC 2606): the gateway polls instead. */
const noCallback = "https://callback.invalid/"

/** Encodes a request for Suno. With `customMode` the prompt is the lyrics. */
export const encodeSuno = encodeJob(({ model, own, prompt }) => {
  const { callBackUrl, instrumental, lyrics, ...others } = own
  const words = stringOr(lyrics)
  return {
    body: {
      model,
      customMode: words !== null,
      instrumental: instrumental === true,
      prompt: words ?? prompt,
      ...(words === null || prompt === "" ? {} : { style: prompt }),
      ...(words === null ? {} : { title: words.slice(0, 40) }),
      callBackUrl: stringOr(callBackUrl) ?? noCallback,
      ...others
    },
    dropped: ["seconds", "duration"]
  }
})
