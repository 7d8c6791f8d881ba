/** Answers without text: canonically one opaque part, in the form of the gateway's own endpoint of the kind. */
import * as Either from "effect/Either"
import type { ServiceKind } from "../../contract/domain/MediaKind.ts"
import type { UpstreamProblem } from "../canonical/Event.ts"
import type { Response, Stop } from "../canonical/Response.ts"
import type { Usage } from "../canonical/Usage.ts"
import { type JsonObject, stringOr } from "../json/Json.ts"
import { problemOfJson } from "../UpstreamError.ts"
import type { AnswerFacts, WireCodec } from "../WireCodec.ts"

const stop: Stop = { reason: "stop", raw: "stop", sequence: null }

/** Description of the answers of one upstream's endpoint. */
export interface AnswerReading {
  /**
   * Returns the answer in the gateway's own form; null when it holds nothing of that kind. `request` is the client's.
   */
  readonly valueOf: (body: JsonObject) => JsonObject | null
  readonly usageOf: (body: JsonObject) => Usage | null
  /** Reads the reason of an answer without a value; null where it is no failure. */
  readonly problemOf?: (body: JsonObject) => UpstreamProblem | null
}

type Reader = Pick<WireCodec, "decodeResponse" | "readAnswer">

/** `what`: what an answer of the kind holds, in the words of its error. */
export const answersOf = (
  kind: ServiceKind,
  what: string,
  { problemOf = () => null, usageOf, valueOf }: AnswerReading
): Reader => ({
  readAnswer: (body): AnswerFacts => ({
    usage: usageOf(body),
    stop: (body["error"] ?? null) === null && problemOf(body) === null ? stop : null,
    hasContent: valueOf(body) !== null,
    textChars: 0,
    toolArgChars: 0,
    reasoningChars: 0
  }),
  decodeResponse: (body): Either.Either<Response, UpstreamProblem> => {
    const problem = problemOf(body)
    if (problem !== null) return Either.left(problem)
    const value = valueOf(body)
    if (value === null) {
      const message = `The upstream's answer holds no ${what}.`
      return Either.left(problemOfJson(502, body) ?? { status: 502, message, type: null, code: null })
    }
    return Either.right({
      id: stringOr(body["id"]),
      model: stringOr(body["model"]),
      createdMs: null,
      parts: [{ type: "opaque", wire: "chat", kind, value }],
      stop,
      usage: usageOf(body),
      logprobs: null
    })
  }
})

/** The opaque part of an answer; empty when there is none. */
export const valueIn = (kind: ServiceKind, response: Response): JsonObject => {
  const part = response.parts.find((candidate) => candidate.type === "opaque" && candidate.kind === kind)
  return part?.type === "opaque" ? part.value : {}
}
