/** How providers of films and music are asked, and what their answers mean, by the shapes they document. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { music } from "../../../../src/wire/media/music/Codec.ts"
import type { JobStep, JobTicket, PolledJob } from "../../../../src/wire/PolledJob.ts"
import { videos } from "../../../../src/wire/media/videos/Codec.ts"
import type { WireCodec } from "../../../../src/wire/WireCodec.ts"

const codecOf = (client: WireCodec, adapter: "fal" | "minimax" | "replicate" | "runway" | "suno" | null): WireCodec =>
  client.peer?.("chat", {}, adapter) ?? assert.fail("there is no codec")

const jobOf = (codec: WireCodec): PolledJob => codec.job ?? assert.fail("it is no job")

const encoded = (client: WireCodec, codec: WireCodec, request: JsonObject) =>
  codec.encodeRequest(Either.getOrThrow(client.decodeRequest({ model: "p/m", ...request })), {
    model: "m",
    stream: false,
    maxOutputTokens: null,
    reasoning: null
  })

const ticketIn = (step: JobStep | null): JobTicket =>
  step?._tag === "Waiting" ? step.ticket : assert.fail(`it is ${step?._tag}`)

const failureIn = (step: JobStep | null) =>
  step?._tag === "Failed" ? step.problem : assert.fail(`it is ${step?._tag}`)

const fetched = (step: JobStep | null, body: unknown) => {
  if (step?._tag !== "Fetch") return assert.fail(`it is ${step?._tag}`)
  const answer = step.read([{ type: "application/json", bytes: Buffer.from(JSON.stringify(body)) }])
  return { urls: step.requests.map(({ url }) => url), answer }
}

describe("Runway", () => {
  const codec = codecOf(videos, "runway")
  const job = jobOf(codec)

  it("is asked for a film of a text or of a picture, at two paths", () => {
    const text = encoded(videos, codec, { prompt: "A gate.", seconds: "5", size: "1280x720", seed: 7, async: true })
    assert.deepStrictEqual(text.body, { model: "m", promptText: "A gate.", duration: 5, ratio: "1280:720", seed: 7 })
    assert.deepStrictEqual(text.place?.values, { service: "text_to_video" })
    const picture = encoded(videos, codec, { input_reference: { image_url: "https://a.test/1.png" } })
    assert.deepStrictEqual(picture.body, { model: "m", promptImage: "https://a.test/1.png" })
    assert.deepStrictEqual(picture.place?.values, { service: "image_to_video" })
  })

  it("tells of its task until the film is there, or a filter has kept it back", () => {
    const ticket = ticketIn(job.submitted({ id: "t/1" }, "https://api.test/v1/text_to_video"))
    assert.deepStrictEqual(ticket, {
      id: "t/1",
      poll: { method: "GET", url: "https://api.test/v1/tasks/t%2F1" },
      cancel: { method: "DELETE", url: "https://api.test/v1/tasks/t%2F1" }
    })
    assert.deepInclude(job.polled({ status: "RUNNING", progress: 0.25 }, ticket), { _tag: "Waiting", progress: 25 })
    assert.deepInclude(job.polled({ status: "THROTTLED" }, ticket), { status: "queued" })
    assert.deepStrictEqual(job.polled({ status: "SUCCEEDED", output: ["https://cdn.test/1.mp4"] }, ticket), {
      _tag: "Done",
      answer: { outputs: [{ url: "https://cdn.test/1.mp4" }] }
    })
    const failed = (failureCode: string) =>
      failureIn(job.polled({ status: "FAILED", failure: "No.", failureCode }, ticket))
    assert.deepInclude(failed("SAFETY.INPUT.TEXT"), { status: 400, code: "content_policy_violation", message: "No." })
    assert.deepInclude(failed("INTERNAL.BAD_OUTPUT.CODE01"), { status: 502 })
    assert.isNull(job.polled({ status: "NEW" }, ticket))
  })
})

describe("MiniMax", () => {
  const codec = codecOf(videos, "minimax")
  const job = jobOf(codec)
  const begun = { task_id: 106916112212032, base_resp: { status_code: 0, status_msg: "success" } }

  it("is asked for a task, for its state, and for the address of its file", () => {
    const { body, dropped } = encoded(videos, codec, {
      prompt: "A gate.",
      duration: 6,
      image: "https://a.test/1.png",
      size: "1x1"
    })
    assert.deepStrictEqual(body, {
      model: "m",
      prompt: "A gate.",
      first_frame_image: "https://a.test/1.png",
      duration: 6
    })
    assert.deepStrictEqual(dropped, ["size"])
    const ticket = ticketIn(job.submitted(begun, "https://api.test/v1/video_generation"))
    assert.strictEqual(ticket.poll.url, "https://api.test/v1/query/video_generation?task_id=106916112212032")
    assert.deepInclude(job.polled({ status: "Queueing" }, ticket), { status: "queued" })
    assert.deepInclude(job.polled({ status: "Processing" }, ticket), { status: "in_progress" })
    const done = fetched(job.polled({ status: "Success", file_id: "205258526306433" }, ticket), {
      file: { download_url: "https://cdn.test/output.mp4" }
    })
    assert.deepStrictEqual(done.urls, ["https://api.test/v1/files/retrieve?file_id=205258526306433"])
    assert.deepStrictEqual(done.answer, { outputs: [{ url: "https://cdn.test/output.mp4" }] })
  })

  it("tells its errors in the body of a success", () => {
    const told = (code: number) =>
      failureIn(
        job.submitted({ base_resp: { status_code: code, status_msg: "why" } }, "https://api.test/v1/video_generation")
      )
    assert.deepInclude(told(1026), { status: 400, code: "content_policy_violation", message: "why" })
    assert.deepInclude(told(1002), { status: 429 })
    assert.deepInclude(told(1008), { status: 402 })
    assert.deepInclude(told(1004), { status: 401 })
    assert.deepInclude(told(1000), { status: 502, code: "1000" })
  })
})

describe("Replicate and fal", () => {
  it("make films with the jobs of their pictures", () => {
    const replicate = codecOf(videos, "replicate")
    assert.deepStrictEqual(encoded(videos, replicate, { prompt: "A gate.", seconds: 5, fps: 24 }).body, {
      version: "m",
      input: { prompt: "A gate.", duration: 5, fps: 24 }
    })
    const urls = { get: "https://api.test/v1/predictions/1", cancel: "https://api.test/v1/predictions/1/cancel" }
    const job = jobOf(replicate)
    const ticket = ticketIn(job.submitted({ id: "1", status: "starting", urls }, "https://api.test/v1/predictions"))
    assert.deepStrictEqual(ticket.cancel, { method: "POST", url: urls.cancel })
    assert.deepStrictEqual(job.polled({ status: "succeeded", output: "https://cdn.test/1.mp4" }, ticket), {
      _tag: "Done",
      answer: { outputs: [{ url: "https://cdn.test/1.mp4" }] }
    })
    assert.deepStrictEqual(job.polled({ status: "succeeded", output: null }, ticket), { _tag: "Done", answer: {} })

    const fal = codecOf(videos, "fal")
    assert.deepStrictEqual(encoded(videos, fal, { image_url: "https://a.test/1.png" }).body, {
      image_url: "https://a.test/1.png"
    })
    const queued = ticketIn(jobOf(fal).submitted({ request_id: "r" }, "https://queue.test/fal-ai/veo3"))
    const done = fetched(jobOf(fal).polled({ status: "COMPLETED" }, queued), {
      video: { url: "https://cdn.test/2.mp4", duration: 8 }
    })
    assert.deepStrictEqual(done.urls, ["https://queue.test/fal-ai/veo3/requests/r"])
    assert.deepStrictEqual(done.answer, { outputs: [{ url: "https://cdn.test/2.mp4" }], seconds: 8 })
  })
})

describe("Suno", () => {
  const codec = codecOf(music, "suno")
  const job = jobOf(codec)
  const place = "https://api.test/api/v1/generate"

  it("is asked for a song of a description, or of words", () => {
    const described = encoded(music, codec, { prompt: "A slow waltz.", instrumental: true, seconds: 60 })
    assert.deepStrictEqual(described.body, {
      model: "m",
      customMode: false,
      instrumental: true,
      prompt: "A slow waltz.",
      callBackUrl: "https://callback.invalid/"
    })
    assert.deepStrictEqual(described.dropped, ["seconds"])
    const sung = encoded(music, codec, { prompt: "waltz", lyrics: "Open, gate", title: "Gate" }).body
    assert.deepInclude(sung, { customMode: true, prompt: "Open, gate", style: "waltz", title: "Gate" })
  })

  it("tells of its task until all songs are there", () => {
    const ticket = ticketIn(job.submitted({ code: 200, msg: "success", data: { taskId: "t 1" } }, place))
    assert.strictEqual(ticket.poll.url, "https://api.test/api/v1/generate/record-info?taskId=t%201")
    const polled = (data: JsonObject) => job.polled({ code: 200, msg: "success", data }, ticket)
    assert.deepInclude(polled({ status: "PENDING" }), { status: "queued" })
    assert.deepInclude(polled({ status: "FIRST_SUCCESS" }), { status: "in_progress" })
    const sunoData = [
      { audioUrl: "https://cdn.test/1.mp3", duration: 198.5 },
      { audioUrl: "https://cdn.test/2.mp3", duration: 100.5 }
    ]
    assert.deepStrictEqual(polled({ status: "SUCCESS", response: { sunoData } }), {
      _tag: "Done",
      answer: { outputs: [{ url: "https://cdn.test/1.mp3" }, { url: "https://cdn.test/2.mp3" }], seconds: 299 }
    })
    assert.deepInclude(failureIn(polled({ status: "SENSITIVE_WORD_ERROR", errorMessage: "No." })), {
      status: 400,
      code: "content_policy_violation"
    })
    assert.deepInclude(failureIn(polled({ status: "GENERATE_AUDIO_FAILED" })), { status: 502 })
  })

  it("tells its errors in the body of a success", () => {
    const told = (code: number) => failureIn(job.submitted({ code, msg: "why", data: null }, place))
    assert.deepInclude(told(413), { status: 400, code: "content_policy_violation" })
    assert.deepInclude(told(429), { status: 402 })
    assert.deepInclude(told(430), { status: 429 })
    assert.deepInclude(told(455), { status: 503 })
    assert.deepInclude(told(401), { status: 401, message: "why" })
  })
})

describe("a provider in OpenAI's form", () => {
  const job = jobOf(codecOf(videos, null))
  const place = "https://api.test/v1/videos?api-version=1"

  it("has its jobs and their bytes below the address of the submit, with its query", () => {
    const ticket = ticketIn(job.submitted({ id: "v/1", status: "queued" }, place))
    assert.strictEqual(ticket.poll.url, "https://api.test/v1/videos/v%2F1?api-version=1")
    const content = "https://api.test/v1/videos/v%2F1/content?api-version=1"
    assert.deepInclude(job.polled({ id: "v/1", status: "completed" }, ticket), {
      answer: { id: "v/1", outputs: [{ content }] }
    })
  })

  it("may answer the submit with the result, or with something else", () => {
    assert.deepInclude(job.submitted({ data: [{ b64_json: "AAAA" }] }, place), {
      answer: { outputs: [{ b64_json: "AAAA" }] }
    })
    assert.isNull(job.submitted({ hello: "there" }, place))
    assert.isNull(job.submitted({ error: { message: "no" } }, place))
  })
})
