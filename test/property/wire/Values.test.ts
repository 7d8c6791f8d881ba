/** Decoding what was encoded gives it back: whole answers and streams of every wire, over what each wire can say. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FC from "effect/FastCheck"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import { mergeUsage } from "../../../src/wire/canonical/Usage.ts"
import { replay } from "../../../src/wire/canonical/Replay.ts"
import type { AnswerPart, Response, StopReason } from "../../../src/wire/canonical/Response.ts"
import { codecs, type StreamEvent } from "../../../src/wire/Codec.ts"
import { cutBy, cutSizes, text, word } from "./arbitraries.ts"

const run = { seed: 20_261_121, numRuns: 200 }
const context = { nowMs: 1_700_000_000_000, fallbackId: "g", model: "m", wantsUsage: true }

const args = FC.dictionary(word, FC.oneof(FC.integer(), text, FC.boolean(), FC.constant(null)), { maxKeys: 3 }).map(
  (value) => JSON.stringify(value)
)

/** What a wire can say in an answer, so that nothing has to be bent. */
interface Words {
  /** Parts stand in one order, one of each kind that is not a call. */
  readonly fixedOrder: boolean
  readonly refusals: boolean
  readonly customCalls: boolean
  readonly proof: "signature" | "encrypted" | null
  readonly id: boolean
  readonly created: boolean
  readonly cacheRead: boolean
  readonly cacheWrite: boolean
  readonly reasoning: boolean
  readonly stops: Readonly<Partial<Record<StopReason, string>>>
}

const words: Readonly<Record<WireName, Words>> = {
  chat: {
    fixedOrder: true,
    refusals: true,
    customCalls: true,
    proof: null,
    id: true,
    created: true,
    cacheRead: true,
    cacheWrite: false,
    reasoning: true,
    stops: { stop: "stop", length: "length", content_filter: "content_filter" }
  },
  messages: {
    fixedOrder: false,
    refusals: false,
    customCalls: false,
    proof: "signature",
    id: true,
    created: false,
    cacheRead: true,
    cacheWrite: true,
    reasoning: true,
    stops: {
      stop: "end_turn",
      length: "max_tokens",
      context_window: "model_context_window_exceeded",
      pause: "pause_turn",
      content_filter: "refusal"
    }
  },
  responses: {
    fixedOrder: false,
    refusals: true,
    customCalls: true,
    proof: "encrypted",
    id: true,
    created: true,
    cacheRead: true,
    cacheWrite: true,
    reasoning: true,
    stops: { stop: "completed", length: "max_output_tokens", content_filter: "content_filter" }
  },
  gemini: {
    fixedOrder: false,
    refusals: false,
    customCalls: false,
    proof: "signature",
    id: true,
    created: false,
    cacheRead: true,
    cacheWrite: false,
    reasoning: true,
    stops: { stop: "STOP", length: "MAX_TOKENS", content_filter: "SAFETY" }
  },
  ollama: {
    fixedOrder: true,
    refusals: false,
    customCalls: false,
    proof: null,
    id: false,
    created: true,
    cacheRead: false,
    cacheWrite: false,
    reasoning: false,
    stops: { stop: "stop", length: "length" }
  }
}

const toolWord: Readonly<Record<WireName, string>> = {
  chat: "tool_calls",
  messages: "tool_use",
  responses: "completed",
  gemini: "STOP",
  ollama: "stop"
}

const partsOf = (wire: WireName): FC.Arbitrary<ReadonlyArray<AnswerPart>> => {
  const can = words[wire]
  const say = text.map((value): AnswerPart => ({ type: "text", text: value }))
  const refuse = text.map((value): AnswerPart => ({ type: "refusal", text: value }))
  const think = FC.tuple(text, word).map(([value, proof]): AnswerPart => {
    if (can.proof === null) return { type: "reasoning", text: value }
    // Items have an id of their own beside the proof.
    const state = can.proof === "encrypted" ? { wire, encrypted: proof, id: `rs_${proof}` } : { wire, signature: proof }
    return { type: "reasoning", text: value, state }
  })
  const call = FC.tuple(word, args, text, FC.boolean()).map(([name, json, free, custom]): AnswerPart => {
    const isCustom = custom && can.customCalls
    return { type: "tool_call", id: "", name, kind: isCustom ? "custom" : "function", args: isCustom ? free : json }
  })
  const some = (of: FC.Arbitrary<AnswerPart>, maxLength: number) => FC.array(of, { maxLength })
  const parts = can.fixedOrder
    ? FC.tuple(some(think, 1), some(say, 1), some(refuse, can.refusals ? 1 : 0), some(call, 3)).map((all) => all.flat())
    : FC.array(can.refusals ? FC.oneof(say, refuse, think, call) : FC.oneof(say, think, call), {
        minLength: 1,
        maxLength: 6
      })
  return parts.map((list) =>
    list.map((part, index) => (part.type === "tool_call" ? { ...part, id: `call_${index}` } : part))
  )
}

const answers = (wire: WireName): FC.Arbitrary<Response> => {
  const can = words[wire]
  const reasons = Object.entries(can.stops) as Array<[StopReason, string]>
  return FC.tuple(partsOf(wire), FC.constantFrom(...reasons), FC.tuple(FC.nat(9), FC.nat(9), FC.nat(9), FC.nat(9))).map(
    ([parts, [reason, raw], [cacheRead, cacheWrite, reasoning, more]]): Response => {
      const calls = reason === "stop" && parts.some(({ type }) => type === "tool_call")
      return {
        id: can.id ? "r1" : null,
        model: "model-1",
        createdMs: can.created ? 1_600_000_000_000 : null,
        parts,
        stop: { reason: calls ? "tool_calls" : reason, raw: calls ? toolWord[wire] : raw, sequence: null },
        usage: {
          in: 20 + more,
          out: 10 + more,
          cacheRead: can.cacheRead ? cacheRead : 0,
          cacheWrite: can.cacheWrite ? cacheWrite : 0,
          reasoning: can.reasoning ? reasoning : 0
        },
        logprobs: null
      }
    }
  )
}

/** A stream's meaning: the answer it adds up to. */
const collect = (events: ReadonlyArray<StreamEvent>): Response => {
  const blocks = new Map<number, { part: AnswerPart }>()
  let head = { id: null as string | null, model: null as string | null, createdMs: null as number | null }
  let usage: Response["usage"] = null
  let stop: Response["stop"] = { reason: "other", raw: "", sequence: null }
  for (const event of events) {
    switch (event.type) {
      case "start":
        head = { id: event.id, model: event.model, createdMs: event.createdMs }
        break
      case "block_start": {
        const { block } = event
        if (block.type === "opaque") blocks.set(event.index, { part: block.part })
        else if (block.type === "tool_call") blocks.set(event.index, { part: { ...block, args: "" } })
        else blocks.set(event.index, { part: { type: block.type, text: "" } })
        break
      }
      case "delta": {
        const block = blocks.get(event.index)
        if (block === undefined) break
        const { part } = block
        if (event.delta.type === "text" && "text" in part) block.part = { ...part, text: part.text + event.delta.text }
        if (event.delta.type === "args" && part.type === "tool_call")
          block.part = { ...part, args: part.args + event.delta.text }
        if (event.delta.type === "state" && part.type === "reasoning")
          block.part = { ...part, state: event.delta.state }
        break
      }
      case "usage":
        usage = mergeUsage(usage, event.usage)
        break
      case "finish":
        stop = event.stop
    }
  }
  return { ...head, parts: [...blocks.values()].map(({ part }) => part), stop, usage, logprobs: null }
}

/** Neighbours of one kind without a proof between them are one in a stream. */
const flattened = ({ parts, ...rest }: Response): unknown => {
  // The id of a reasoning item stands on its first event, its proof on its last: in between it has the id it began with.
  const unnamed = parts.map((part): AnswerPart => {
    if (part.type !== "reasoning" || part.state?.wire !== "responses") return part
    const { id: _id, ...state } = part.state
    return { ...part, state }
  })
  const said: Array<AnswerPart> = []
  for (const part of unnamed) {
    const last = said.at(-1)
    const joins = last?.type === "text" && part.type === "text" && part.state === undefined
    if (joins) said[said.length - 1] = { ...last, text: last.text + part.text }
    else said.push(part)
  }
  return { ...rest, parts: said }
}

describe("decoding what was encoded", () => {
  for (const wire of Object.keys(words) as ReadonlyArray<WireName>) {
    const codec = codecs[wire]

    it(`${wire}: a whole answer`, () => {
      FC.assert(
        FC.property(answers(wire), (response) => {
          const decoded = Either.getOrThrow(codec.decodeResponse(codec.encodeResponse(response, context)))
          assert.deepEqual(decoded, response)
        }),
        run
      )
    })

    it(`${wire}: a stream`, () => {
      FC.assert(
        FC.property(answers(wire), cutSizes, (response, sizes) => {
          const encoder = codec.makeStreamEncoder(context)
          const bytes = Buffer.from(
            replay(response)
              .map((event) => encoder.encode(event))
              .join("")
          )
          const decoder = codec.makeStreamDecoder()
          const events = [...cutBy(bytes, sizes).flatMap((piece) => decoder.push(piece)), ...decoder.end()]
          assert.strictEqual(events.at(-1)?.type, "done")
          assert.deepEqual(flattened(collect(events)), flattened(response))
        }),
        run
      )
    })
  }
})
