/**
 * Decides whether an exchange is with a model: by its host, its path, the shape of its body, or the program that made
 * it. Pure.
 */
import { isArray, isObject, type Json } from "../../../wire/json/Json.ts"
import type { DetectedKind } from "../../../contract/domain/TrafficRecord.ts"
import { isKnownHost } from "./Hosts.ts"

export interface KindSignals {
  readonly host: string
  readonly path: string
  readonly userAgent: string
  /** Undefined where the body is not JSON. */
  readonly body: Json | undefined
}

const modelPath =
  /\/(?:chat\/completions|completions|messages(?:\/count_tokens)?|responses|embeddings|rerank)\/?$|:(?:stream)?generateContent$|:(?:embedContent|batchEmbedContents|countTokens)$|\/api\/(?:chat|generate|embed|embeddings)\/?$/i

const modelPrograms = /\b(?:codex|claude|gemini|antigravity|kiro|copilot|cursor)\b/i

const pathOf = (path: string): string => {
  const mark = path.indexOf("?")
  return mark < 0 ? path : path.slice(0, mark)
}

/** Members of requests to models. */
export const hasModelShape = (body: Json | undefined): boolean => {
  if (!isObject(body)) return false
  if (isArray(body["messages"]) || isArray(body["contents"])) return true
  // Clients of Google's code assistance wrap the request.
  if (isObject(body["request"]) && isArray(body["request"]["contents"])) return true
  const { input, prompt } = body
  const asks = typeof prompt === "string" || isArray(prompt) || typeof input === "string" || isArray(input)
  return asks && typeof body["model"] === "string"
}

/** Headers of programs are looked at up to this length. */
const maxAgentChars = 512

export const detectKind = ({ body, host, path, userAgent }: KindSignals): DetectedKind => {
  const isModel =
    isKnownHost(host) ||
    modelPath.test(pathOf(path).slice(-512)) ||
    hasModelShape(body) ||
    modelPrograms.test(userAgent.slice(0, maxAgentChars))
  return isModel ? "llm" : body === undefined ? "unknown" : "app"
}
