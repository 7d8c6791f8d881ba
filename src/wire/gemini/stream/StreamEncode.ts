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

const makeFramedEncoder = (context: EncodeContext, framing: Framing): StreamEncoder => {
  const open = new Map<number, OpenBlock>()
  let id = context.fallbackId
  let model = context.model
  let usage: Usage | null = null
  let stop: Stop | null = null
  let over = false
  let saidBytes = 0
  const grounding = makeGrounding()

  const write = (part: JsonObject, ending: Ending = {}): string =>
    framing.chunk(
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
        modelVersion: model,
        responseId: id
      })
    )

  const writeOpaque = (part: OpaquePart): string => {
    grounding.search(part)
    if (part.search !== undefined) return ""
    const own = part.wire === "gemini" ? part.value : partOfPicture(part.picture)
    return own === null ? "" : write(own)
  }

  const thoughtOf = (start: BlockStart): JsonObject => (start.type === "reasoning" ? { thought: true } : {})

  const onDelta = (block: OpenBlock, delta: BlockDelta): string => {
    switch (delta.type) {
      case "text":
        if (delta.text === "") return ""
        if (block.start.type === "text") block.text += delta.text
        return write({ text: delta.text, ...thoughtOf(block.start) }, optional("logprobs", delta.logprobs))
      case "args":
        block.args += delta.text
        return ""
      case "state": {
        if (delta.state.wire !== "gemini") return ""
        if (block.start.type !== "tool_call") {
          return write({ text: "", ...thoughtOf(block.start), ...signatureOf(delta.state) })
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

  const onStop = ({ args, before, links, start, state, text }: OpenBlock): string => {
    if (links.length > 0) grounding.links(links, text, before, 0)
    saidBytes += Buffer.byteLength(text)
    if (start.type === "opaque") return writeOpaque(start.part)
    if (start.type !== "tool_call") return ""
    const input = start.kind === "custom" ? { input: args } : argsAsObject(args)
    return write({ functionCall: { id: start.id, name: start.name, args: input }, ...signatureOf(state) })
  }

  const finish = (): string => {
    over = true
    const last = write(
      { text: "" },
      {
        finish: stop === null ? "OTHER" : encodeStop(stop),
        ...optional("usage", usage === null ? null : encodeUsage(usage)),
        ...optional("grounding", grounding.metadata())
      }
    )
    return last + framing.end
  }

  const encode = (event: StreamEvent): string => {
    if (over) return ""
    switch (event.type) {
      case "start":
        id = event.id ?? id
        model = event.model ?? model
        return framing.opens ? write({ text: "" }) : ""
      case "block_start":
        open.set(event.index, {
          start: event.block,
          args: "",
          state: undefined,
          text: "",
          before: saidBytes,
          links: []
        })
        return ""
      case "delta": {
        const block = open.get(event.index)
        return block === undefined ? "" : onDelta(block, event.delta)
      }
      case "block_stop": {
        const block = open.get(event.index)
        open.delete(event.index)
        return block === undefined ? "" : onStop(block)
      }
      case "usage":
        usage = mergeUsage(usage, event.usage)
        return ""
      case "finish":
        stop = event.stop
        return ""
      case "done":
        return finish()
      case "error":
        over = true
        return ""
      case "ping":
        return framing.ping
    }
  }
  return { encode }
}

export const makeStreamEncoder = (context: EncodeContext): StreamEncoder => makeFramedEncoder(context, eventFraming())

/** The same chunks as one array, for clients that do not request events. */
export const makeArrayEncoder = (context: EncodeContext): StreamEncoder => makeFramedEncoder(context, arrayFraming())
