/** Printed result of media that was made and saved. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { usdText } from "../../kernel/text/UsdText.ts"
import { type ServedBy, servedName } from "./Inference.ts"
import * as Output from "../output/Output.ts"
import { sizeText } from "../output/Size.ts"

const Result = Schema.Struct({
  files: Schema.Array(Schema.Struct({ path: Schema.String, bytes: Schema.Number })),
  provider: Schema.NullOr(Schema.String),
  model: Schema.NullOr(Schema.String),
  costUsd: Schema.NullOr(Schema.Number),
  requestId: Schema.NullOr(Schema.String)
})

type Files = (typeof Result.Type)["files"]

/** A line per file and one about the request on stderr; for `asJson` an object. */
export const saved = (files: Files, servedBy: ServedBy, asJson: boolean): Effect.Effect<void> => {
  const { costUsd, model, provider, requestId } = servedBy
  if (asJson) return Output.json(Result, { files, provider, model, costUsd, requestId })
  const served = servedName(servedBy)
  const about = [...(served === null ? [] : [served]), ...(costUsd === null || costUsd === 0 ? [] : [usdText(costUsd)])]
  return Effect.forEach(
    [
      ...files.map(({ bytes, path }) => `${path}: ${sizeText(bytes)}`),
      ...(about.length === 0 ? [] : [about.join(" · ")])
    ],
    Output.note,
    { discard: true }
  )
}
