/**
 * Reads message stream events for a tap.
 *
 * https://platform.claude.com/docs/en/build-with-claude/streaming
 */
import type { Usage } from "../canonical/Usage.ts"
import { type MutableFacts, observeReasoning, observeText, observeToolArgs } from "../canonical/Facts.ts"
import { isObject, type JsonObject, objectOr, parseJson, stringOr } from "../json/Json.ts"
import { encodeSse } from "../sse/SseScanner.ts"
import { makeSseTap, type TapReader, type Verdict } from "../sse/SseTap.ts"
import { eventTypeOf, secondAnswer, streamProblem } from "../UpstreamError.ts"
import type { StreamTap, TapOptions } from "../WireCodec.ts"
import { inferredStop } from "../canonical/Response.ts"
import { decodeStop, stopReasons } from "./Stop.ts"
import { makeUsageReader } from "./Usage.ts"

/** The events of one stream. A class, because one is made per stream. */
class TapReading {
  readonly #model: string | undefined
  readonly #readUsage: (usage: JsonObject, isEmpty?: boolean) => Usage | null
  #started = false
  #hasCalls = false

  constructor({ dialect, model }: TapOptions) {
    this.#model = model
    this.#readUsage = makeUsageReader(dialect)
  }

  #tellUsage(usage: unknown, facts: MutableFacts): void {
    if (isObject(usage)) facts.usage = this.#readUsage(usage, !facts.content) ?? facts.usage
  }

  #start(event: JsonObject, facts: MutableFacts): Verdict {
    const message = objectOr(event["message"])
    if (this.#started) {
      // The repeated start of a proxy that retried: clients refuse it, and after content the rest belongs to another answer.
      if (facts.content) facts.problem = secondAnswer
      return "withhold"
    }
    this.#started = true
    this.#tellUsage(message["usage"], facts)
    // Claude Code discards signed thinking when the answer names another model than the requested one.
    return this.#model === undefined || message["model"] === this.#model
      ? "relay"
      : {
          instead: encodeSse("message_start", JSON.stringify({ ...event, message: { ...message, model: this.#model } }))
        }
  }

  #startBlock(block: JsonObject, facts: MutableFacts): Verdict {
    observeText(facts, stringOr(block["text"]))
    observeReasoning(facts, stringOr(block["thinking"]))
    // Calls, server tools and redacted thinking are content from their start.
    this.#hasCalls ||= block["type"] === "tool_use"
    if (block["type"] !== "text" && block["type"] !== "thinking") facts.content = true
    return "relay"
  }

  #readDelta(event: JsonObject, facts: MutableFacts): Verdict {
    const delta = objectOr(event["delta"])
    switch (delta["type"]) {
      case "text_delta": {
        const text = stringOr(delta["text"]) ?? ""
        return text === "" ? "relay" : { plainText: text }
      }
      case "thinking_delta":
        observeReasoning(facts, stringOr(delta["thinking"]))
        return "relay"
      case "input_json_delta":
        observeToolArgs(facts, stringOr(delta["partial_json"]))
        return "relay"
      default:
        return "relay"
    }
  }

  /** Clients read the reason from an event of its own: one is put before the end mark. */
  #endOf(event: JsonObject, facts: MutableFacts): Verdict {
    if (!facts.content) return "withhold"
    facts.stop = inferredStop(this.#hasCalls)
    const delta = { stop_reason: stopReasons[facts.stop.reason], stop_sequence: null }
    const told = { type: "message_delta", delta, usage: { output_tokens: facts.usage?.out ?? 0 } }
    return {
      instead: encodeSse("message_delta", JSON.stringify(told)) + encodeSse("message_stop", JSON.stringify(event))
    }
  }

  readEvent(event: JsonObject, facts: MutableFacts): Verdict {
    switch (eventTypeOf(event)) {
      case "message_start":
        return this.#start(event, facts)
      case "content_block_start":
        return this.#startBlock(objectOr(event["content_block"]), facts)
      case "content_block_delta":
        return this.#readDelta(event, facts)
      case "message_delta":
        facts.stop = decodeStop(objectOr(event["delta"])) ?? facts.stop
        this.#tellUsage(event["usage"], facts)
        return "relay"
      case "message_stop":
        facts.terminated = true
        return facts.stop === null ? this.#endOf(event, facts) : "relay"
      case "error":
        facts.problem = streamProblem(event)
        return "withhold"
      default:
        return "relay"
    }
  }
}

const makeReader = (options: TapOptions): TapReader => {
  const reading = new TapReading(options)
  return {
    textMember: "text",
    read: (sse, facts) => {
      const event = parseJson(sse.data)
      if (!isObject(event)) return "unreadable"
      const verdict = reading.readEvent(event, facts)
      if (sse.event !== null || verdict === "withhold" || verdict === "unreadable") return verdict
      if (typeof verdict === "object" && "instead" in verdict) return verdict
      // Clients of this wire dispatch on the event's name: it is added where the upstream leaves it out.
      if (typeof verdict === "object" && "plainText" in verdict) observeText(facts, verdict.plainText)
      return { instead: encodeSse(stringOr(event["type"]), sse.data) }
    }
  }
}

/** Makes the tap of a stream. Streams of this wire always have usage: there is nothing to hide. */
export const makeStreamTap = (options: TapOptions): StreamTap => makeSseTap(makeReader(options))
