/** Pictures in answers: `{data: [{b64_json} | {url}]}`, and their facts for billing. */
import { noTokens } from "../../../contract/domain/Usage.ts"
import type { Response } from "../../canonical/Response.ts"
import { billingOf } from "../../canonical/BillingReading.ts"
import { countOr, type Usage, withBilling } from "../../canonical/Usage.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr, optional, stringOr } from "../../json/Json.ts"
import { type AnswerReading, valueIn } from "../OpaqueAnswer.ts"
import { imageTypeOf } from "../../canonical/ImageType.ts"
import type { EncodeContext } from "../../WireCodec.ts"
import { toldOf } from "./Request.ts"

/** No provider makes more for one request. */
const mostPictures = 64

/** A picture as providers write it: a text in base64, or an address. */
export const pictureOf = (value: Json | undefined): JsonObject | null => {
  const text = stringOr(value) ?? ""
  if (text === "") return null
  if (/^https?:\/\//i.test(text.slice(0, 8))) return { url: text }
  const head = /^data:[^,]{0,200};base64,/i.exec(text.slice(0, 256))
  return { b64_json: head === null ? text : text.slice(head[0].length) }
}

/** All of them; null when there is none, or something else among them. */
export const picturesOf = (values: ReadonlyArray<Json | undefined>): ReadonlyArray<JsonObject> | null => {
  const pictures = values.slice(0, mostPictures).map(pictureOf)
  return pictures.length > 0 && pictures.every((picture) => picture !== null) ? pictures : null
}

export const listOf = (value: Json | undefined): ReadonlyArray<Json> => (isArray(value) ? value : [])

/** `{data}` of pictures; null without any. */
export const dataOf = (pictures: ReadonlyArray<JsonObject> | null): JsonObject | null =>
  pictures === null ? null : { data: pictures }

const hasPicture = (item: Json): boolean =>
  isObject(item) && ((stringOr(item["b64_json"]) ?? "") !== "" || (stringOr(item["url"]) ?? "") !== "")

/** Reads tokens as OpenAI reports them; null without any. */
export const tokensOf = (told: Json | undefined): Usage | null => {
  const usage = objectOr(told)
  const read = countOr(usage["input_tokens"]) ?? countOr(usage["prompt_tokens"])
  const made = countOr(usage["output_tokens"]) ?? countOr(usage["completion_tokens"])
  if (read === null && made === null) return null
  return { ...noTokens, in: read ?? 0, out: made ?? 0, ...withBilling(billingOf(usage, {}, null)) }
}

/** Builds the usage. `body` has size and quality where the upstream chose them. */
export const usageOfPictures = (count: number, tokens: Usage | null, body: JsonObject): Usage => ({
  ...(tokens ?? noTokens),
  units: { images: { count, size: toldOf(body["size"]), quality: toldOf(body["quality"]) } }
})

/** OpenAI's own form. */
export const openAiAnswer: AnswerReading = {
  valueOf: (body) => {
    const data = listOf(body["data"])
    return data.some(hasPicture) ? body : null
  },
  usageOf: (body) => {
    const made = listOf(body["data"]).filter(hasPicture).length
    return made === 0 ? null : usageOfPictures(made, tokensOf(body["usage"]), body)
  }
}

/** The answer of an upstream with a form of its own. */
export const answerWith = (
  pictures: (body: JsonObject) => ReadonlyArray<JsonObject> | null,
  tokens: (body: JsonObject) => Usage | null = () => null
): AnswerReading => ({
  valueOf: (body) => dataOf(pictures(body)),
  usageOf: (body) => {
    const made = pictures(body)?.length ?? 0
    return made === 0 ? null : usageOfPictures(made, tokens(body), {})
  }
})

const headChars = 64

/** A picture in base64 as an address that needs no server. */
const dataUrlOf = (base64: string): string =>
  `data:${imageTypeOf(base64.slice(0, headChars)) ?? "image/png"};base64,${base64}`

/** Reads the form in which the client wants each picture; null where it takes any. */
export const wantedForm = ({ response_format: format }: JsonObject): "url" | "b64_json" | null =>
  format === "url" || format === "b64_json" ? format : null

const inForm = (item: Json, wanted: "url" | "b64_json" | null): Json => {
  if (!isObject(item) || wanted !== "url") return item
  const base64 = stringOr(item["b64_json"])
  if (base64 === null || (stringOr(item["url"]) ?? "") !== "") return item
  const { b64_json: _base64, ...others } = item
  return { ...others, url: dataUrlOf(base64) }
}

const tokensShown = (usage: Usage | null): JsonObject | null =>
  usage === null || usage.in + usage.out === 0
    ? null
    : { input_tokens: usage.in, output_tokens: usage.out, total_tokens: usage.in + usage.out }

export const encodeResponse = (response: Response, { nowMs, request = {} }: EncodeContext): JsonObject => {
  const { data, ...others } = valueIn("images", response)
  const wanted = wantedForm(request)
  return {
    created: Math.floor(nowMs / 1_000),
    ...optional("usage", tokensShown(response.usage)),
    ...others,
    data: listOf(data).map((item) => inForm(item, wanted))
  }
}

/** Checks whether every picture is in the form that the client asked for. */
export const isAsRequested = (body: JsonObject, request: JsonObject): boolean => {
  const wanted = wantedForm(request)
  return (
    wanted === null || listOf(body["data"]).every((item) => isObject(item) && (stringOr(item[wanted]) ?? "") !== "")
  )
}

/** Addresses to be fetched: the client wants the pictures themselves, or a stream, whose events hold nothing else. */
export const linksIn = (response: Response, request: JsonObject): ReadonlyArray<string> => {
  if (wantedForm(request) !== "b64_json" && request["stream"] !== true) return []
  return listOf(valueIn("images", response)["data"]).flatMap((item) => {
    const { b64_json: bytes, url } = isObject(item) ? item : {}
    return (stringOr(bytes) ?? "") === "" && typeof url === "string" && /^https?:/i.test(url) ? [url] : []
  })
}

/** The answer with the pictures of the addresses. */
export const filledWith = (response: Response, pictures: ReadonlyMap<string, Buffer>): Response => {
  const value = valueIn("images", response)
  const data = listOf(value["data"]).map((item): Json => {
    const { url, ...others } = objectOr(item)
    const picture = pictures.get(stringOr(url) ?? "")
    return picture === undefined ? item : Object.assign(others, { b64_json: picture.toString("base64") })
  })
  return { ...response, parts: [{ type: "opaque", wire: "chat", kind: "images", value: { ...value, data } }] }
}
