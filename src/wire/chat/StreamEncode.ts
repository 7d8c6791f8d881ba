/**
 * Canonical events → chat completion chunks.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/streaming-events
 */
import type { OpaquePart } from "../canonical/Conversation.ts"
import type { BlockStart } from "../canonical/Event.ts"
import { lostComment } from "../canonical/Pictures.ts"
import type { JsonObject } from "../json/Json.ts"
import type { EncodeContext, StreamEncoder } from "../WireCodec.ts"
import { makeChunkEncoder, type ChoiceWriter, type WriteChunk } from "./ChunkStream.ts"
import { asFunctionCall, asksForFunctions } from "./LegacyFunctions.ts"
import { imageOf, soundIn } from "./Message.ts"
import { annotationOf } from "./ResponseEncode.ts"
import { finishReasons } from "./Stop.ts"

interface OpenBlock {
  readonly type: BlockStart["type"]
  /** Index among the answer's tool calls, from 0 without gaps. */
  readonly call: number
  readonly custom: boolean
  /** Index in the content at which its text begins. */
  readonly base: number
  hasArgs: boolean
}

const textMember = { text: "content", reasoning: "reasoning_content", refusal: "refusal" } as const

const makeWriter = (write: WriteChunk, functions: boolean): ChoiceWriter => {
  const open = new Map<number, OpenBlock>()
  let calls = 0
  let contentChars = 0
  /** All in one chunk at the end: clients take the last list for the whole. */
  const annotations: Array<JsonObject> = []

  const chunk = (given: JsonObject, finish: string | null, logprobs?: ReadonlyArray<JsonObject>): string => {
    const delta = functions ? asFunctionCall(given) : given
    // A further call, where the wire can express only one.
    if (delta !== given && Object.keys(delta).length === 0) return ""
    const raw = logprobs === undefined ? "null" : `{"content":${JSON.stringify(logprobs)},"refusal":null}`
    return write(
      `{"index":0,"delta":${JSON.stringify(delta)},"logprobs":${raw},"finish_reason":${JSON.stringify(finish)}}`
    )
  }

  const finishOf = (reason: string): string => (functions && reason === "tool_calls" ? "function_call" : reason)

  let images = 0
  /** An image, or sound; other blocks of another wire are dropped and named. */
  const opaqueChunk = (part: OpaquePart): string => {
    const sound = soundIn(part)
    if (sound !== null) return chunk({ audio: sound }, null)
    const image = imageOf(part, images)
    if (image === null) return part.search?.isBegun === true ? "" : lostComment(part)
    images += 1
    return chunk({ images: [image] }, null)
  }

  const startBlock = (index: number, block: BlockStart): string => {
    const isCall = block.type === "tool_call"
    const custom = isCall && block.kind === "custom"
    open.set(index, { type: block.type, call: isCall ? calls : -1, custom, base: contentChars, hasArgs: false })
    if (block.type === "opaque") return opaqueChunk(block.part)
    if (!isCall) return ""
    const spec = custom
      ? { custom: { name: block.name, input: "" } }
      : { function: { name: block.name, arguments: "" } }
    const call = { index: calls, id: block.id, type: block.kind, ...spec }
    calls += 1
    return chunk({ tool_calls: [call] }, null)
  }

  const argsChunk = (block: OpenBlock, text: string): string => {
    block.hasArgs = true
    const spec = block.custom ? { custom: { input: text } } : { function: { arguments: text } }
    return chunk({ tool_calls: [{ index: block.call, ...spec }] }, null)
  }

  return {
    opening: () => chunk({ role: "assistant", content: "" }, null),
    encode: (event) => {
      switch (event.type) {
        case "block_start":
          return startBlock(event.index, event.block)
        case "delta": {
          const block = open.get(event.index)
          if (block === undefined) return ""
          if (event.delta.type === "args") return event.delta.text === "" ? "" : argsChunk(block, event.delta.text)
          if (event.delta.type === "citation") {
            annotations.push(...annotationOf(event.delta.citation, block.base))
            return ""
          }
          if (event.delta.type !== "text" || block.type === "tool_call" || block.type === "opaque") return ""
          if (block.type === "text") contentChars += event.delta.text.length
          return chunk({ [textMember[block.type]]: event.delta.text }, null, event.delta.logprobs)
        }
        case "block_stop": {
          const block = open.get(event.index)
          open.delete(event.index)
          // A call without arguments is `{}` for clients that parse the text.
          return block?.type === "tool_call" && !block.hasArgs && !block.custom ? argsChunk(block, "{}") : ""
        }
        case "finish":
          return (
            (annotations.length === 0 ? "" : chunk({ annotations }, null)) +
            chunk({}, finishOf(finishReasons[event.stop.reason]))
          )
      }
    }
  }
}

export const makeStreamEncoder = (context: EncodeContext): StreamEncoder =>
  makeChunkEncoder(context, "chat.completion.chunk", (write) => makeWriter(write, asksForFunctions(context.request)))
