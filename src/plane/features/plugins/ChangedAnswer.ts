/** Answers as plugins see them, and what becomes of those they have changed. Pure. */
import * as Either from "effect/Either"
import type { Mutable } from "effect/Types"
import type { WireName } from "../../../contract/domain/Wire.ts"
import type { Response } from "../../../wire/canonical/Response.ts"
import { isObject, type JsonObject, parseJson } from "../../../wire/json/Json.ts"
import type { EncodeContext, WireCodec } from "../../../wire/WireCodec.ts"
import { renderAnswer } from "../../attempt/AnswerReader.ts"
import { readStream } from "../cache/KeptResponse.ts"
import { isWholeAnswer } from "./WholeAnswer.ts"

/** Names of the members with the usage of an answer on each wire: the gateway sets those. */
const usageMembers: Readonly<Record<WireName, ReadonlyArray<string>>> = {
  chat: ["usage"],
  messages: ["usage"],
  responses: ["usage"],
  gemini: ["usageMetadata"],
  ollama: [
    "prompt_eval_count",
    "eval_count",
    "total_duration",
    "load_duration",
    "prompt_eval_duration",
    "eval_duration"
  ]
}

const objectIn = (body: Uint8Array): JsonObject | null => {
  const parsed = parseJson(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8"))
  return isObject(parsed) ? parsed : null
}

/** The answer with the usage of the original, whatever a plugin has written there. */
const withUsageOf = (wire: WireName, original: JsonObject, changed: JsonObject): JsonObject => {
  const answer: Mutable<JsonObject> = { ...changed }
  for (const name of usageMembers[wire]) {
    if (original[name] === undefined) delete answer[name]
    else answer[name] = original[name]
  }
  return answer
}

export interface SeenAnswer {
  /** JSON text for plugins; null: there is none, and nothing can be changed. */
  readonly body: Buffer | null
  readonly isReadable: (changed: Uint8Array) => boolean
  /** Returns the bytes for the client of a changed answer that is readable. */
  readonly sent: (changed: Uint8Array) => Buffer
}

const unseen: SeenAnswer = { body: null, isReadable: () => false, sent: (changed) => Buffer.from(changed) }

/** `bytes`: all of a whole answer. */
export const seenWhole = (wire: WireName, codec: WireCodec, bytes: Buffer): SeenAnswer => {
  const original = objectIn(bytes)
  if (original === null) return unseen
  // Some endpoints answer in forms that their codec need not read.
  const isKnownForm = isWholeAnswer(codec, original)
  return {
    body: bytes,
    isReadable: (changed) => {
      const answer = objectIn(changed)
      return answer !== null && (!isKnownForm || isWholeAnswer(codec, answer))
    },
    sent: (changed) => Buffer.from(JSON.stringify(withUsageOf(wire, original, objectIn(changed) ?? original)))
  }
}

const decoded = (codec: WireCodec, body: Uint8Array): Response | null => {
  const answer = objectIn(body)
  return answer !== null && isWholeAnswer(codec, answer) ? Either.getOrNull(codec.decodeResponse(answer)) : null
}

const readable = (codec: WireCodec, bytes: Buffer): Response | null => {
  try {
    return readStream(codec, bytes)?.response ?? null
  } catch {
    return null
  }
}

/**
 * Reads a stream as one answer; `bytes`: all of it, in the client's wire. Several answers in one stream cannot be read
 * as one.
 */
export const seenStream = (codec: WireCodec, bytes: Buffer, context: EncodeContext, candidates: number): SeenAnswer => {
  const response = candidates > 1 ? null : readable(codec, bytes)
  if (response === null) return unseen
  const body = Buffer.from(JSON.stringify(codec.encodeResponse(response, { ...context, wantsUsage: true })))
  return {
    body,
    isReadable: (changed) => decoded(codec, changed) !== null,
    sent: (changed) => {
      const answer = decoded(codec, changed)
      if (answer === null) return bytes
      const own = { ...answer, id: response.id, usage: response.usage, createdMs: response.createdMs }
      return Buffer.from(renderAnswer(codec, own, context, true))
    }
  }
}
