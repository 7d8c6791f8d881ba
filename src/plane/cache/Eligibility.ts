/** Decides which requests the cache is asked for, and which answers it keeps. Pure. */
import { headerOf, type RequestHeaders } from "../../subjects/auth/Credentials.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import type { Response } from "../../wire/canonical/Response.ts"
import { type Json, type JsonObject, objectOr } from "../../wire/json/Json.ts"

/** Reads the temperature of a request on each wire. */
const temperatureOf = (wire: WireName, body: JsonObject): Json | undefined => {
  switch (wire) {
    case "chat":
    case "messages":
    case "responses":
      return body["temperature"]
    case "gemini":
      return objectOr(body["generationConfig"] ?? body["generation_config"])["temperature"]
    case "ollama":
      return objectOr(body["options"])["temperature"]
  }
}

const isTrue = (header: string | null): boolean => header?.trim().toLowerCase() === "true"

/** `X-Gateway-No-Cache: true`, or what RFC 9111 (section 5.2.1) has for it. */
export const refusesCache = (headers: RequestHeaders): boolean =>
  isTrue(headerOf(headers, "x-gateway-no-cache")) ||
  /(?:^|,)\s*no-(?:cache|store)\b/i.test(headerOf(headers, "cache-control")?.slice(0, 256) ?? "")

/** Checks whether calls of tools may be stored and given again for this request. */
export const takesToolCalls = (headers: RequestHeaders): boolean => isTrue(headerOf(headers, "x-gateway-cache-tools"))

/** Hot. An answer that is worked on behind the client's back, or one of several, is not kept. */
export const isCacheable = (
  wire: WireName,
  body: JsonObject,
  { anyTemperature, candidates }: { readonly anyTemperature: boolean; readonly candidates: number }
): boolean => candidates === 1 && body["background"] !== true && (anyTemperature || temperatureOf(wire, body) === 0)

/** An answer is kept when the model said all that it had to say. */
export const isWhole = ({ parts, stop }: Response): boolean =>
  parts.length > 0 && (stop.reason === "stop" || stop.reason === "stop_sequence" || stop.reason === "tool_calls")

export const hasToolCalls = ({ parts, stop }: Response): boolean =>
  stop.reason === "tool_calls" || parts.some(({ type }) => type === "tool_call" || type === "opaque")
