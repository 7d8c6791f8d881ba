/**
 * AssemblyAI: the recording is uploaded, a transcript of it is ordered and asked about until it is there. Times are milliseconds.
 *
 * https://www.assemblyai.com/docs/api-reference/files/upload, https://www.assemblyai.com/docs/api-reference/transcripts/submit,
 * https://www.assemblyai.com/docs/api-reference/transcripts/get (read in 2026-11)
 */
import { isArray, type JsonObject, numberOr, stringOr } from "../../json/Json.ts"
import { jobProblem } from "../jobs/Problem.ts"
import { beside, below, type JobStep, type PolledJob } from "../../PolledJob.ts"
import { answerFrom } from "./Answer.ts"
import { droppedOf, type Encode, fileToSend } from "./Request.ts"
import { spokenIn } from "./Transcript.ts"

const msPerSecond = 1000

export const encodeAssemblyAi: Encode = ({ extras = {} }, { model }) => {
  const { upload } = fileToSend(extras)
  const language = stringOr(extras["language"]) ?? ""
  return {
    body: {},
    dropped: droppedOf(extras),
    mapped: [],
    payload: { type: "pieces", contentType: "application/octet-stream", pieces: [{ upload, as: "bytes" }] },
    next: {
      speech_models: [model],
      ...(language === "" ? { language_detection: true } : { language_code: language })
    }
  }
}

/** Pattern of errors about a recording that cannot be read or fetched: another provider would fail with it too. */
const ofRecording = /transcoding failed|does not (?:appear to )?contain audio|no spoken audio|too short|audio duration/i

const stepOf = (answer: JsonObject, at: string): JobStep | null => {
  const id = stringOr(answer["id"]) ?? ""
  if (id === "") return null
  const { error, status } = answer
  switch (status) {
    case "queued":
    case "processing":
      return {
        _tag: "Waiting",
        // Only what is over can be deleted there.
        ticket: { id, poll: { method: "GET", url: at }, cancel: null },
        status: status === "queued" ? "queued" : "in_progress",
        progress: null
      }
    case "completed":
      return { _tag: "Done", answer }
    case "error":
      return { _tag: "Failed", problem: jobProblem(error, (_code, message) => ofRecording.test(message)) }
    default:
      return null
  }
}

export const assemblyAiJob: PolledJob = {
  submitted: (answer, place, next) => {
    const uploaded = stringOr(answer["upload_url"])
    if (uploaded === null) return stepOf(answer, below(place, `/${encodeURIComponent(stringOr(answer["id"]) ?? "")}`))
    const body = { audio_url: uploaded, ...next }
    return { _tag: "Submit", request: { method: "POST", url: beside(place, "transcript"), body } }
  },
  polled: (answer, { poll }) => stepOf(answer, poll.url)
}

export const assemblyAiAnswer = answerFrom((body) => {
  // Silence has no text.
  const text = stringOr(body["text"]) ?? (body["status"] === "completed" ? "" : null)
  return text === null
    ? null
    : {
        text,
        language: stringOr(body["language_code"]),
        duration: numberOr(body["audio_duration"]),
        words: spokenIn(body["words"], ["text"], 1 / msPerSecond),
        segments: isArray(body["utterances"]) ? spokenIn(body["utterances"], ["text"], 1 / msPerSecond) : []
      }
})
