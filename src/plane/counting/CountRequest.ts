/**
 * The question "how many tokens would this be?" in the words of the wires that know it: `/messages/count_tokens`, `:countTokens`
 * and `/responses/input_tokens`. Pure.
 */
import type { RequestHeaders } from "../../subjects/auth/Credentials.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import { isPositiveInteger, type JsonObject, numberOr, objectOr } from "../../wire/json/Json.ts"
import { callHeaders } from "../request/CallHeaders.ts"

export type CountingWire = "messages" | "gemini" | "responses"

const countingWires: ReadonlyArray<CountingWire> = ["messages", "gemini", "responses"]

/** The wire to ask an upstream in: the client's own when it can count, else the first that can; null when none can. */
export const countingWire = (client: WireName, offered: ReadonlyArray<WireName>): CountingWire | null => {
  const able = countingWires.filter((wire) => offered.includes(wire))
  return able.find((wire) => wire === client) ?? able[0] ?? null
}

/** The path of the count from the path of the conversation; null when an unusual path leaves no place for it. */
export const countPath = (wire: CountingWire, path: string): string | null => {
  const mark = path.indexOf("?")
  const route = mark < 0 ? path : path.slice(0, mark)
  const query = mark < 0 ? "" : path.slice(mark)
  switch (wire) {
    case "messages":
      return route.endsWith("/messages") ? `${route}/count_tokens${query}` : null
    case "responses":
      return route.endsWith("/responses") ? `${route}/input_tokens${query}` : null
    case "gemini":
      return route.endsWith(":generateContent")
        ? `${route.slice(0, -":generateContent".length)}:countTokens${query}`
        : null
  }
}

/** Members about the answer, which the strict count endpoints refuse. */
const answerMembers: Readonly<Record<CountingWire, ReadonlySet<string>>> = {
  messages: new Set([
    "max_tokens",
    "stream",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "metadata",
    "service_tier",
    "inference_geo",
    "container"
  ]),
  responses: new Set([
    "max_output_tokens",
    "max_tool_calls",
    "stream",
    "stream_options",
    "store",
    "background",
    "include",
    "metadata",
    "temperature",
    "top_p",
    "top_logprobs",
    "service_tier",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention"
  ]),
  gemini: new Set(["model", "stream", "generateContentRequest"])
}

const without = (body: JsonObject, members: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !members.has(name)))

/** The body of the count from the body of the conversation, in the same wire. */
export const countBody = (wire: CountingWire, body: JsonObject, model: string): JsonObject => {
  const asked = without(body, answerMembers[wire])
  if (wire !== "gemini") return { ...asked, model }
  // Beside `contents` nothing is taken, except inside the whole request, which then names its model again.
  return Object.keys(asked).every((name) => name === "contents")
    ? asked
    : { generateContentRequest: { model: `models/${model}`, ...asked } }
}

/** The count in an upstream's answer; null when the answer is something else. */
export const readCount = (wire: CountingWire, answer: JsonObject): number | null => {
  const tokens = numberOr(answer[wire === "gemini" ? "totalTokens" : "input_tokens"])
  return tokens !== null && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : null
}

/** A count in the words of the client's wire. */
export const renderCount = (client: WireName, tokens: number): JsonObject => {
  switch (client) {
    case "gemini":
      return { totalTokens: tokens }
    case "responses":
      return { object: "response.input_tokens", input_tokens: tokens }
    default:
      return { input_tokens: tokens }
  }
}

/**
 * A count request as the conversation it is about, in its own wire: what a count may leave out is filled in, and a Gemini request
 * that is whole inside `generateContentRequest` is unwrapped (the model of the path counts).
 */
export const asConversation = (client: WireName, body: JsonObject): JsonObject => {
  if (client === "messages") return isPositiveInteger(body["max_tokens"]) ? body : { ...body, max_tokens: 1 }
  if (client !== "gemini") return body
  const { generateContentRequest, generate_content_request: snake, ...rest } = body
  const model = body["model"]
  return { ...rest, ...objectOr(generateContentRequest ?? snake), ...(model === undefined ? {} : { model }) }
}

/** `ownWire`: the client's wire where the body is the client's own. `passes`: what else of the client's headers goes on. */
export const countHeaders = (
  endpointHeaders: ReadonlyArray<string>,
  clientHeaders: RequestHeaders,
  ownWire: CountingWire | null,
  passes: RegExp | null
): ReadonlyArray<string> => [
  ...callHeaders(endpointHeaders, clientHeaders, ownWire, passes),
  "content-type",
  "application/json",
  "accept",
  "application/json"
]
