/**
 * Videos of providers whose jobs make pictures, too.
 *
 * https://replicate.com/docs/reference/http#predictions.create, https://docs.fal.ai/model-endpoints/queue (read in 2026-11)
 */
import { falJob } from "../../images/adapters/Fal.ts"
import { replicateJob } from "../../images/adapters/Replicate.ts"
import { type AskedJob, encodeJob } from "../../jobs/Encoding.ts"
import { requestedSeconds } from "../../jobs/MediaRequest.ts"
import { outputsOf, secondsOf } from "../../jobs/Outputs.ts"
import { withOutputs } from "../../jobs/WithOutputs.ts"
import { type Json, type JsonObject, objectOr, optional } from "../../../json/Json.ts"
import { imageOf } from "../Request.ts"

const outputsAs = (value: Json | undefined, seconds: number | null = null): JsonObject | null => {
  const outputs = outputsOf(value)
  return outputs === null ? null : { outputs, ...optional("seconds", seconds) }
}

export const replicateFilm = withOutputs(replicateJob, ({ output }) => outputsAs(output))

/** Reads one video; some models give a list. */
export const falFilm = withOutputs(falJob, (body) => {
  const film = objectOr(body["video"])
  return outputsAs(body["video"] === undefined ? body["videos"] : film["url"], secondsOf(film["duration"]))
})

/** Names of the members differ from model to model: these are those of most of them. */
const input = ({ extras, prompt }: Pick<AskedJob, "extras" | "prompt">) => ({
  ...(prompt === "" ? {} : { prompt }),
  ...optional("duration", requestedSeconds(extras))
})

export const encodeReplicate = encodeJob((asked) => ({
  body: { version: asked.model, input: { ...input(asked), ...optional("image", imageOf(asked.extras)), ...asked.own } },
  dropped: ["size"]
}))

export const encodeFal = encodeJob((asked) => ({
  body: { ...input(asked), ...optional("image_url", imageOf(asked.extras)), ...asked.own },
  dropped: ["size"]
}))
