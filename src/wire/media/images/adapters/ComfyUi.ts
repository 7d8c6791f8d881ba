/**
 * ComfyUI: a graph is queued, its history names the files, and each file is fetched. The graph is the gateway's own, for a checkpoint; a
 * caller cannot send one, because its nodes may read and write files of the server.
 *
 * https://docs.comfy.org/development/comfyui-server/comms_routes (read in 2026-11)
 */
import { chat } from "../../../chat/Codec.ts"
import { type JsonObject, numberOr, objectOr, stringOr } from "../../../json/Json.ts"
import { answersOf } from "../../OpaqueAnswer.ts"
import { beside, type JobStep, type JobTicket, type PolledJob } from "../../../PolledJob.ts"
import type { WireCodec } from "../../../WireCodec.ts"
import { answerWith, listOf, picturesOf } from "../Answer.ts"
import { type ImageRequest, imageRequestOf, encodeAs } from "../ImageRequest.ts"

const usual = { width: 1_024, height: 1_024, steps: 20, cfg: 7, sampler: "euler", scheduler: "normal" } as const
const most = { pixels: 4_096, steps: 150, cfg: 30 } as const

const within = (value: number | null, limit: number, otherwise: number): number =>
  value === null || value <= 0 ? otherwise : Math.min(value, limit)

/** The server runs the same graph but once: where the client gives no seed, each request has one of its own. */
const seedOf = (own: JsonObject, unique: string): number =>
  numberOr(own["seed"]) ?? Number.parseInt(unique.replaceAll(/[^0-9a-f]/g, "").slice(-12) || "0", 16)

/** Text to image with a checkpoint: https://docs.comfy.org/tutorials/basic/text-to-image */
const graphOf = ({ count, model, own, prompt, size }: ImageRequest, unique: string): JsonObject => ({
  checkpoint: { class_type: "CheckpointLoaderSimple", inputs: { ckpt_name: model } },
  positive: { class_type: "CLIPTextEncode", inputs: { text: prompt, clip: ["checkpoint", 1] } },
  negative: {
    class_type: "CLIPTextEncode",
    inputs: { text: stringOr(own["negative_prompt"]) ?? "", clip: ["checkpoint", 1] }
  },
  latent: {
    class_type: "EmptyLatentImage",
    inputs: {
      width: Math.min(size?.width ?? usual.width, most.pixels),
      height: Math.min(size?.height ?? usual.height, most.pixels),
      batch_size: count
    }
  },
  sampler: {
    class_type: "KSampler",
    inputs: {
      model: ["checkpoint", 0],
      positive: ["positive", 0],
      negative: ["negative", 0],
      latent_image: ["latent", 0],
      seed: seedOf(own, unique),
      steps: within(numberOr(own["steps"]), most.steps, usual.steps),
      cfg: within(numberOr(own["cfg"]), most.cfg, usual.cfg),
      sampler_name: stringOr(own["sampler_name"]) ?? usual.sampler,
      scheduler: stringOr(own["scheduler"]) ?? usual.scheduler,
      denoise: 1
    }
  },
  decoded: { class_type: "VAEDecode", inputs: { samples: ["sampler", 0], vae: ["checkpoint", 2] } },
  saved: { class_type: "SaveImage", inputs: { images: ["decoded", 0], filename_prefix: "gateway" } }
})

/** Members of the request that the graph has a place for. */
const known = new Set(["negative_prompt", "seed", "steps", "cfg", "sampler_name", "scheduler"])

const filesIn = (entry: JsonObject): ReadonlyArray<JsonObject> =>
  Object.values(objectOr(entry["outputs"])).flatMap((output) =>
    listOf(objectOr(output)["images"])
      .map(objectOr)
      .filter(({ filename, type }) => typeof filename === "string" && type !== "temp")
  )

const viewOf = (history: string, { filename, subfolder, type }: JsonObject): string => {
  const query = new URLSearchParams({
    filename: stringOr(filename) ?? "",
    subfolder: stringOr(subfolder) ?? "",
    type: stringOr(type) ?? "output"
  })
  return beside(history, `../view?${query.toString()}`)
}

/** The server's words on the node that failed. */
const failureIn = (entry: JsonObject): string => {
  for (const message of listOf(objectOr(entry["status"])["messages"])) {
    const [kind, told] = listOf(message)
    if (kind === "execution_error")
      return stringOr(objectOr(told)["exception_message"]) ?? "A node of the graph failed."
  }
  return "The graph was not run to its end."
}

const failed = (message: string): JobStep => ({
  _tag: "Failed",
  problem: { status: 502, message: message.slice(0, 2_000), type: null, code: null }
})

const polled = (answer: JsonObject, ticket: JobTicket): JobStep => {
  const entry = objectOr(answer[ticket.id])
  const status = objectOr(entry["status"])
  if (status["status_str"] === "error") return failed(failureIn(entry))
  const files = filesIn(entry)
  if (files.length === 0) {
    return status["completed"] === true
      ? failed("The graph was run, but has made no picture.")
      : { _tag: "Waiting", ticket, status: "in_progress", progress: null }
  }
  return {
    _tag: "Fetch",
    requests: files.map((file) => ({ method: "GET", url: viewOf(ticket.poll.url, file) })),
    read: (bodies) => ({ images: bodies.map(({ bytes }) => bytes.toString("base64")) })
  }
}

const job: PolledJob = {
  submitted: (answer, place) => {
    const id = stringOr(answer["prompt_id"]) ?? ""
    if (id === "") return null
    const poll = { method: "GET", url: beside(place, `history/${encodeURIComponent(id)}`) } as const
    const cancel = { method: "POST", url: beside(place, "queue"), body: { delete: [id] } } as const
    return { _tag: "Waiting", ticket: { id, poll, cancel }, status: "queued", progress: null }
  },
  polled
}

export const comfyUi: WireCodec = {
  ...chat,
  endpoint: "images",
  answersWhole: true,
  encodeRequest: (conversation, options) => {
    const { own } = imageRequestOf(conversation.extras ?? {}, options.model)
    const encoded = encodeAs(["size"], (asked) => ({ body: { prompt: graphOf(asked, options.unique ?? "") } }))(
      conversation,
      options
    )
    return { ...encoded, dropped: [...encoded.dropped, ...Object.keys(own).filter((name) => !known.has(name))] }
  },
  job,
  ...answersOf(
    "images",
    "picture",
    answerWith((body) => picturesOf(listOf(body["images"])))
  )
}
