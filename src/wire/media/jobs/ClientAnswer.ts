/** The answer to a client that waited for a media job: `{id, status: "completed", data: [{url | b64_json}]}`. */
import type { MediaKind } from "../../../contract/domain/MediaKind.ts"
import type { Response } from "../../canonical/Response.ts"
import { isArray, isObject, type Json, type JsonObject, optional } from "../../json/Json.ts"
import { valueIn } from "../OpaqueAnswer.ts"
import type { EncodeContext } from "../../WireCodec.ts"

/** Bytes that only the provider's credential opens are passed through by the gateway. */
const withOwnAddress = (address: string, id: string, item: Json, index: number): Json =>
  isObject(item) && item["content"] !== undefined
    ? { url: `${address}/${id}/content${index === 0 ? "" : `?index=${index}`}` }
    : item

/** `path`: of the endpoint. The id is the gateway's own. */
export const encodeOutputs =
  (kind: MediaKind, path: string) =>
  (response: Response, { fallbackId, model, nowMs, ownAddress }: EncodeContext): JsonObject => {
    const address = `${ownAddress?.() ?? ""}${path}`
    const { outputs, ...rest } = valueIn(kind, response)
    const items = isArray(outputs) ? outputs : []
    return {
      id: fallbackId,
      status: "completed",
      created_at: Math.floor(nowMs / 1000),
      model: response.model ?? model,
      data: items.map((item, index) => withOwnAddress(address, fallbackId, item, index)),
      ...optional("seconds", rest["seconds"])
    }
  }
