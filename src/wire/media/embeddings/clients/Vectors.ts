/** Vectors that the answers of the other spellings are made of. */
import type { Response } from "../../../canonical/Response.ts"
import { isArray, isObject, type Json } from "../../../json/Json.ts"
import { valueIn } from "../../OpaqueAnswer.ts"
import { inFormat, type VectorFormat } from "../Vector.ts"

/** The vectors of an answer, in the order of the inputs. */
export const vectorsOf = (response: Response, format: VectorFormat = "float"): ReadonlyArray<Json> => {
  const { data } = valueIn("embeddings", response)
  return isArray(data) ? data.map((item) => inFormat(format, (isObject(item) ? item["embedding"] : null) ?? null)) : []
}
