/**
 * Canonical events → chunks of a gemini stream. Only `data:` lines: Google's JavaScript client loses an event that begins with anything
 * else. Calls are sent in one piece. The last chunk carries finish reason and usage; there is no end mark.
 *
 * https://ai.google.dev/api/generate-content
 */
import type { OpaquePart, ReasoningState } from "../../canonical/Conversation.ts"
import type { BlockDelta, BlockStart, StreamEvent } from "../../canonical/Event.ts"
import type { Stop } from "../../canonical/Response.ts"
import type { Link } from "../../canonical/SearchFacts.ts"
import { argsAsObject } from "../../canonical/tools/ToolArgs.ts"
import { mergeUsage, type Usage } from "../../canonical/Usage.ts"
import { type JsonObject, optional } from "../../json/Json.ts"
import type { EncodeContext, StreamEncoder } from "../../WireCodec.ts"
import { arrayFraming, eventFraming, type Framing } from "./Framing.ts"
import { makeGrounding } from "../Grounding.ts"
import { encodeLogprobs } from "../Logprobs.ts"
import { partOfPicture, signatureOf } from "../Part.ts"
import { encodeStop } from "../Stop.ts"
import { encodeUsage } from "../Usage.ts"

interface OpenBlock {
  readonly start: BlockStart
  args: string
  /** Text of it, and the text before it in the answer. */
  text: string
  /** Bytes. */
  readonly before: number
  readonly links: Array<Link>
  state: ReasoningState | undefined
}

/** Members of a chunk besides its part. */
interface Ending {
  readonly finish?: string
  readonly usage?: JsonObject
  readonly logprobs?: ReadonlyArray<JsonObject>
  readonly grounding?: JsonObject
}

/** The events of one stream. A class, because one is made per stream. */
class EventWriting {
  readonly #framing: Framing
  readonly #open = new Map<number, OpenBlock>()
  #id: string
  #model: string
  #usage: Usage | null = null
  #stop: Stop | null = null
  #over = false
  #saidBytes = 0
  readonly #grounding = makeGrounding()

  constructor(context: EncodeContext, framing: Framing) {
    this.#framing = framing
    this.#id = context.fallbackId
    this.#model = context.model
  }

  #write(part: JsonObject, ending: Ending = {}): string {
    return this.#framing.chunk(
      JSON.stringify({
        candidates: [
          {
            content: { parts: [part], role: "model" },
            ...optional("finishReason", ending.finish),
            ...optional("groundingMetadata", ending.grounding),
            index: 0,
            ...encodeLogprobs(ending.logprobs)
          }
        ],
        ...optional("usageMetadata", ending.usage),
        modelVersion: this.#model,
        responseId: this.#id
      })
    )
  }

  #writeOpaque(part: OpaquePart): string {
    this.#grounding.search(part)
    if (part.search !== undefined) return ""
    const own = part.wire === "gemini" ? part.value : partOfPicture(part.picture)
    return own === null ? "" : this.#write(own)
  }

  #thoughtOf(start: BlockStart): JsonObject {
    return start.type === "reasoning" ? { thought: true } : {}
  }

  #onDelta(block: OpenBlock, delta: BlockDelta): string {
    switch (delta.type) {
      case "text":
        if (delta.text === "") return ""
        if (block.start.type === "text") block.text += delta.text
        return this.#write({ text: delta.text, ...this.#thoughtOf(block.start) }, optional("logprobs", delta.logprobs))
      case "args":
        block.args += delta.text
        return ""
      case "state": {
        if (delta.state.wire !== "gemini") return ""
        if (block.start.type !== "tool_call") {
          return this.#write({ text: "", ...this.#thoughtOf(block.start), ...signatureOf(delta.state) })
        }
        block.state = delta.state
        return ""
      }
      case "citation":
        if (delta.citation.link !== undefined) block.links.push(delta.citation.link)
        return ""
      case "opaque":
        return ""
    }
  }

  #onStop({ args, before, links, start, state, text }: OpenBlock): string {
    if (links.length > 0) this.#grounding.links(links, text, before, 0)
    this.#saidBytes += Buffer.byteLength(text)
    if (start.type === "opaque") return this.#writeOpaque(start.part)
    if (start.type !== "tool_call") return ""
    const input = start.kind === "custom" ? { input: args } : argsAsObject(args)
    return this.#write({ functionCall: { id: start.id, name: start.name, args: input }, ...signatureOf(state) })
  }

  #finish(): string {
    this.#over = true
    const last = this.#write(
      { text: "" },
      {
        finish: this.#stop === null ? "OTHER" : encodeStop(this.#stop),
        ...optional("usage", this.#usage === null ? null : encodeUsage(this.#usage)),
        ...optional("grounding", this.#grounding.metadata())
      }
    )
    return last + this.#framing.end
  }

  encode(event: StreamEvent): string {
    if (this.#over) return ""
    switch (event.type) {
      case "start":
        this.#id = event.id ?? this.#id
        this.#model = event.model ?? this.#model
        return this.#framing.opens ? this.#write({ text: "" }) : ""
      case "block_start":
        this.#open.set(event.index, {
          start: event.block,
          args: "",
          state: undefined,
          text: "",
          before: this.#saidBytes,
          links: []
        })
        return ""
      case "delta": {
        const block = this.#open.get(event.index)
        return block === undefined ? "" : this.#onDelta(block, event.delta)
      }
      case "block_stop": {
        const block = this.#open.get(event.index)
        this.#open.delete(event.index)
        return block === undefined ? "" : this.#onStop(block)
      }
      case "usage":
        this.#usage = mergeUsage(this.#usage, event.usage)
        return ""
      case "finish":
        this.#stop = event.stop
        return ""
      case "done":
        return this.#finish()
      case "error":
        this.#over = true
        return ""
      case "ping":
        return this.#framing.ping
    }
  }
}

const makeFramedEncoder = (context: EncodeContext, framing: Framing): StreamEncoder => {
  const writing = new EventWriting(context, framing)
  return { encode: (event) => writing.encode(event) }
}

export const makeStreamEncoder = (context: EncodeContext): StreamEncoder => makeFramedEncoder(context, eventFraming())

/** The same chunks as one array, for clients that do not request events. */
export const makeArrayEncoder = (context: EncodeContext): StreamEncoder => makeFramedEncoder(context, arrayFraming())
