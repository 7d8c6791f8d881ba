/**
 * Pictures as a stream: partial ones, then `image_generation.completed` for each that is done. The stream has no end mark; it is complete
 * with as many finished pictures as were asked for.
 *
 * https://developers.openai.com/api/reference/resources/images/generation-streaming-events (read on 2026-11-23)
 */
import type { StreamEvent } from "../../canonical/Event.ts"
import type { MutableFacts } from "../../canonical/Facts.ts"
import type { Usage } from "../../canonical/Usage.ts"
import { sumUsage } from "../../../contract/domain/Usage.ts"
import { isObject, type JsonObject, optional, parseJson, stringOr } from "../../json/Json.ts"
import { encodeSse } from "../../sse/SseScanner.ts"
import { makeSseTap, type TapReader } from "../../sse/SseTap.ts"
import { eventTypeOf, streamProblem } from "../../UpstreamError.ts"
import type { EncodeContext, StreamEncoder, StreamTap, TapOptions } from "../../WireCodec.ts"
import { listOf, tokensOf, usageOfPictures } from "./Answer.ts"
import { countOf } from "./Request.ts"

/** A picture of 4096 × 4096 in base64 is below it. */
const maxEventBytes = 64 * 1_048_576

const makeReader = (wanted: number): TapReader => {
  let done = 0
  let tokens: Usage | null = null

  const completed = (event: JsonObject, facts: MutableFacts): void => {
    done += 1
    const told = tokensOf(event["usage"])
    tokens = tokens === null || told === null ? (tokens ?? told) : sumUsage(tokens, told)
    facts.usage = usageOfPictures(done, tokens, event)
    if (done < wanted) return
    facts.stop = { reason: "stop", raw: "completed", sequence: null }
    facts.terminated = true
  }

  return {
    textMember: "",
    read: ({ data }, facts) => {
      if (data.trim() === "[DONE]") return "relay"
      const event = parseJson(data)
      if (!isObject(event)) return "unreadable"
      const type = eventTypeOf(event)
      if (type === "error" || isObject(event["error"])) {
        facts.problem = streamProblem(event)
        return "withhold"
      }
      if ((stringOr(event["b64_json"]) ?? stringOr(event["url"]) ?? "") === "") return "relay"
      facts.content = true
      if (type.endsWith(".completed")) completed(event, facts)
      return "relay"
    }
  }
}

export const makeStreamTap = ({ request = {} }: TapOptions): StreamTap =>
  makeSseTap(makeReader(countOf(request)), maxEventBytes)

const shownOf = ({ in: read, out }: Usage): JsonObject => ({
  input_tokens: read,
  output_tokens: out,
  total_tokens: read + out
})

/** Encodes a whole answer for a client that asked for a stream: each picture is done with its first event. */
export const makeStreamEncoder = (
  { nowMs, request = {} }: EncodeContext,
  completedType = "image_generation.completed"
): StreamEncoder => {
  let pictures: ReadonlyArray<JsonObject> = []
  let told: JsonObject = {}
  let tokens: Partial<Usage> | null = null

  const eventOf = (picture: JsonObject, index: number): string => {
    const isLast = index === pictures.length - 1
    const usage = { in: tokens?.in ?? 0, out: tokens?.out ?? 0 }
    const event = {
      type: completedType,
      created_at: Math.floor(nowMs / 1_000),
      ...optional("size", stringOr(told["size"]) ?? stringOr(request["size"])),
      ...optional("quality", stringOr(told["quality"]) ?? stringOr(request["quality"])),
      ...picture,
      ...(isLast && usage.in + usage.out > 0
        ? { usage: shownOf({ ...usage, cacheRead: 0, cacheWrite: 0, reasoning: 0 }) }
        : {})
    }
    return encodeSse(event.type, JSON.stringify(event))
  }

  return {
    encode: (event: StreamEvent): string => {
      if (event.type === "block_start" && event.block.type === "opaque" && event.block.part.kind === "images") {
        told = event.block.part.value
        pictures = listOf(told["data"]).filter(isObject)
      }
      if (event.type === "usage") tokens = event.usage
      return event.type === "done" ? pictures.map(eventOf).join("") : ""
    }
  }
}
