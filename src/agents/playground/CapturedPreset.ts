/** A captured request as a preset, so that it can be tried again with changes. Pure. */
import * as Either from "effect/Either"
import {
  maxModelChars,
  maxParamsChars,
  maxSystemChars,
  type PlaygroundEndpoint,
  type PresetFields
} from "../../subjects/playground/entity.ts"
import type { TrafficRecord } from "../../contract/domain/TrafficRecord.ts"
import { formatOf } from "../../observe/inspector/reading/Format.ts"
import type { Conversation } from "../../wire/canonical/Conversation.ts"
import { readForeignJson, Unreadable } from "../../wire/json/Bounds.ts"
import { isObject, type JsonObject, stringOr } from "../../wire/json/Json.ts"
import { NotAPreset } from "./Errors.ts"
import { readParams } from "./Params.ts"

/** Routes whose requests are no conversations, in the order in which they are tried. */
const others: ReadonlyArray<readonly [RegExp, PlaygroundEndpoint]> = [
  [/\/images\/(?:generations|edits|variations)$/i, "images"],
  [/\/audio\/speech$/i, "speech"],
  [/\/audio\/(?:transcriptions|translations)$/i, "transcriptions"],
  [/\/music\/generations$/i, "audio"],
  [/\/moderations$/i, "moderations"],
  [/\/rerank$/i, "rerank"],
  [/\/v1\/search$/i, "search"]
]

const nameChars = 200

const textsOf = ({ parts }: Conversation["messages"][number]): ReadonlyArray<string> =>
  parts.flatMap((part) => (part.type === "text" ? part.text : []))

/** The texts of all system messages, joined by line ends; null without one. */
const systemOf = ({ messages }: Conversation): string | null => {
  const texts = messages.flatMap((message) =>
    message.role === "system" || message.role === "developer" ? textsOf(message) : []
  )
  const joined = texts.join("\n")
  return joined === "" ? null : joined.slice(0, maxSystemChars)
}

/** Writes the parameters, without values that a preset does not take. */
const paramsOf = ({ maxOutputTokens, sampling }: Conversation): string => {
  const { frequencyPenalty, presencePenalty, seed, stop, temperature, topP } = sampling
  const all: JsonObject = {
    temperature,
    max_tokens: maxOutputTokens ?? undefined,
    top_p: topP,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
    seed,
    stop: stop === undefined || stop.length === 0 ? undefined : stop
  }
  const kept = Object.entries(all).filter(
    ([name, value]) => value !== undefined && Either.isRight(readParams(JSON.stringify({ [name]: value })))
  )
  const text = JSON.stringify(Object.fromEntries(kept))
  return text.length > maxParamsChars ? "{}" : text
}

const nameOf = ({ timestamp }: TrafficRecord, model: string): string =>
  `${model === "" ? "Captured" : model} ${timestamp}`.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, "").slice(-nameChars)

export const presetOf = (record: TrafficRecord): PresetFields | NotAPreset => {
  const { id, path, requestBody, requestEncoding, requestTruncated } = record
  if (requestTruncated || requestBody === null) {
    return new NotAPreset({ id, reason: record.llm === null ? "not_llm" : "body_incomplete" })
  }
  const parsed = requestEncoding === "utf8" ? readForeignJson(requestBody) : null
  if (parsed instanceof Unreadable || !isObject(parsed)) return new NotAPreset({ id, reason: "not_llm" })
  const made = (endpoint: PlaygroundEndpoint, named: string, rest: Pick<PresetFields, "system" | "paramsJson">) => {
    const model = named.slice(0, maxModelChars)
    return { name: nameOf(record, model), endpoint, model, ...rest }
  }
  const route = path.split("?", 1)[0] ?? ""
  const other = others.find(([pattern]) => pattern.test(route))
  if (other !== undefined) {
    return made(other[1], stringOr(parsed["model"]) ?? "", { system: null, paramsJson: "{}" })
  }
  const format = formatOf(path, parsed)
  if (format === null) return new NotAPreset({ id, reason: "not_llm" })
  const model = stringOr(format.body["model"]) ?? ""
  if (format.apiKind === "embeddings") return made("embeddings", model, { system: null, paramsJson: "{}" })
  const conversation = Either.getOrNull(Either.mapLeft(format.codec.decodeRequest(format.body), () => null))
  if (conversation === null) return new NotAPreset({ id, reason: "not_llm" })
  return made(format.apiKind === "completions" ? "completions" : "chat", model, {
    system: systemOf(conversation),
    paramsJson: paramsOf(conversation)
  })
}
