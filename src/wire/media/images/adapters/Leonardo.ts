/**
 * Leonardo: a generation with one picture or several. Its models are ids.
 *
 * https://docs.leonardo.ai/reference/creategeneration, https://docs.leonardo.ai/reference/getgenerationbyid (read in 2026-11)
 */
import { chat } from "../../../chat/Codec.ts"
import { type JsonObject, objectOr, stringOr } from "../../../json/Json.ts"
import { answersOf } from "../../OpaqueAnswer.ts"
import { below, type PolledJob } from "../../../PolledJob.ts"
import type { WireCodec } from "../../../WireCodec.ts"
import { answerWith, listOf, picturesOf } from "../Answer.ts"
import { encodeAs } from "../ImageRequest.ts"

const generationOf = (answer: JsonObject): JsonObject => objectOr(answer["generations_by_pk"])

const job: PolledJob = {
  submitted: (answer, place) => {
    const id = stringOr(objectOr(answer["sdGenerationJob"])["generationId"]) ?? ""
    if (id === "") return null
    const own = below(place, `/${encodeURIComponent(id)}`)
    const ticket = { id, poll: { method: "GET", url: own }, cancel: { method: "DELETE", url: own } } as const
    return { _tag: "Waiting", ticket, status: "queued", progress: null }
  },
  polled: (answer, ticket) => {
    switch (generationOf(answer)["status"]) {
      case "PENDING":
        return { _tag: "Waiting", ticket, status: "in_progress", progress: null }
      case "COMPLETE":
        return { _tag: "Done", answer }
      case "FAILED":
        return {
          _tag: "Failed",
          problem: { status: 502, message: "The generation failed.", type: null, code: null }
        }
      default:
        return null
    }
  }
}

const picturesIn = (body: JsonObject) =>
  picturesOf(listOf(generationOf(body)["generated_images"]).map((image) => objectOr(image)["url"]))

export const leonardo: WireCodec = {
  ...chat,
  endpoint: "images",
  answersWhole: true,
  encodeRequest: encodeAs(["size"], ({ count, model, own, prompt, size }) => ({
    body: { modelId: model, prompt, num_images: count, ...size, ...own }
  })),
  job,
  ...answersOf("images", "picture", answerWith(picturesIn))
}
