import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FC from "effect/FastCheck"
import type { StreamEvent } from "../../../src/wire/canonical/Event.ts"
import { chat } from "../../../src/wire/chat/Codec.ts"
import { makeStreamTranslator, translateRequest } from "../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { messages } from "../../../src/wire/messages/Codec.ts"
import { responses } from "../../../src/wire/responses/Codec.ts"
import { makeResponsesEventEncoder } from "../../../src/wire/responses/StreamEncode.ts"
import type { WireCodec } from "../../../src/wire/WireCodec.ts"
import {
  chatRequest,
  chatStream,
  cutBy,
  cutSizes,
  decodeAll,
  members,
  messagesRequest,
  messagesStream,
  text,
  word
} from "./arbitraries.ts"
import { survivesMutations } from "./mutations.ts"

const run = { seed: 20_261_121, numRuns: 150 }
const context = { nowMs: 1, fallbackId: "g", model: "m", wantsUsage: true }
const options = { model: "up", stream: true, maxOutputTokens: 4096, reasoning: null }
const others: ReadonlyArray<WireCodec> = [chat, messages]

const args = FC.dictionary(word, FC.oneof(FC.integer(), text), { maxKeys: 3 }).map((value) => JSON.stringify(value))
const schema = FC.constant<JsonObject>({ type: "object", properties: {} })

const inputPart = FC.oneof(
  members({ type: FC.constant("input_text"), text }, { "x-more": FC.boolean() }),
  members(
    { type: FC.constant("input_image"), image_url: FC.constantFrom("https://x.test/a", "data:image/png;base64,AA==") },
    { detail: FC.constantFrom("low", "high") }
  ),
  FC.record({ type: FC.constant("input_file"), file_id: word }),
  FC.record({ type: FC.constant("input_new"), value: text })
) as FC.Arbitrary<JsonObject>

const message = (role: string, content: FC.Arbitrary<unknown>) =>
  members({ role: FC.constant(role), content }, { type: FC.constant("message"), id: word, status: word })

const outputText = members({ type: FC.constant("output_text"), text }, { annotations: FC.constant([]) })

/** Items of one turn. */
const turn = FC.oneof(
  message("user", FC.oneof(text, FC.array(inputPart, { minLength: 1, maxLength: 3 }))).map((item) => [item]),
  message("developer", text).map((item) => [item]),
  message("assistant", FC.array(outputText, { minLength: 1, maxLength: 2 })).map((item) => [item]),
  members(
    {
      type: FC.constant("reasoning"),
      summary: FC.array(FC.record({ type: FC.constant("summary_text"), text }), { maxLength: 2 }),
      encrypted_content: word
    },
    { id: word, content: FC.constant(null) }
  ).map((item) => [item]),
  FC.record({ type: FC.constant("web_search_call"), id: word }).map((item) => [item]),
  FC.tuple(word, word, args, FC.oneof(text, FC.array(inputPart, { maxLength: 2 })), FC.boolean()).map(
    ([call_id, name, args, output, namespaced]) => [
      { type: "function_call", call_id, name, arguments: args, ...(namespaced ? { namespace: "ns", id: "fc" } : {}) },
      { type: "function_call_output", call_id, output }
    ]
  ),
  FC.tuple(word, word, text, text).map(([call_id, name, input, output]) => [
    { type: "custom_tool_call", call_id, name, input },
    { type: "custom_tool_call_output", call_id, output }
  ])
) as FC.Arbitrary<ReadonlyArray<JsonObject>>

const functionTool = members(
  { type: FC.constant("function"), name: word },
  { description: text, parameters: schema, strict: FC.boolean(), defer_loading: FC.boolean() }
)
const customTool = members(
  { type: FC.constant("custom"), name: word },
  {
    description: text,
    format: FC.constantFrom({ type: "text" }, { type: "grammar", syntax: "lark", definition: "x" })
  }
)
const tool = FC.oneof(
  functionTool,
  customTool,
  members(
    {
      type: FC.constant("namespace"),
      name: word,
      tools: FC.array(FC.oneof(functionTool, customTool), { minLength: 1, maxLength: 3 })
    },
    { description: text }
  ),
  FC.constant<JsonObject>({ type: "web_search" })
)

const responsesRequest: FC.Arbitrary<JsonObject> = FC.tuple(
  members(
    { model: word, stream: FC.constant(true) },
    {
      instructions: text,
      tools: FC.array(tool, { minLength: 1, maxLength: 4 }),
      tool_choice: FC.constantFrom("auto", "required", { type: "web_search" }),
      parallel_tool_calls: FC.boolean(),
      temperature: FC.constantFrom(0, 1.5),
      max_output_tokens: FC.integer({ min: 16, max: 9000 }),
      reasoning: FC.constantFrom({ effort: "low" }, { effort: "none" }, { summary: "auto", context: "all" }),
      text: FC.constantFrom(
        { verbosity: "low" },
        { format: { type: "json_object" } },
        { format: { type: "json_schema", name: "n", schema: { type: "object" }, strict: true } }
      ),
      include: FC.constantFrom([], ["reasoning.encrypted_content"], ["message.output_text.logprobs", "x"]),
      store: FC.boolean(),
      user: text,
      metadata: FC.constant({ a: "b" }),
      previous_response_id: word
    }
  ),
  message("user", text),
  FC.array(turn, { maxLength: 5 })
).map(([body, first, turns]) => Object.assign(body, { input: [first, ...turns.flat()] }))

type Block = {
  readonly kind: "text" | "refusal" | "reasoning" | "call" | "custom"
  readonly pieces: ReadonlyArray<string>
}

const blocks: FC.Arbitrary<ReadonlyArray<Block>> = FC.array(
  FC.record({
    kind: FC.constantFrom(
      "text" as const,
      "refusal" as const,
      "reasoning" as const,
      "call" as const,
      "custom" as const
    ),
    pieces: FC.array(text, { maxLength: 4 })
  }),
  { maxLength: 5 }
)

const startOf = (kind: Block["kind"], index: number) => {
  if (kind !== "call" && kind !== "custom") return { type: kind }
  const named = { type: "tool_call" as const, id: `t${index}`, name: "f" }
  return { ...named, kind: kind === "call" ? ("function" as const) : ("custom" as const) }
}

/** A well-formed canonical sequence; calls stay open beside what follows them. */
const sequence = FC.tuple(blocks, FC.constantFrom("stop" as const, "length" as const), FC.boolean()).map(
  ([list, reason, late]): ReadonlyArray<StreamEvent> => {
    const events: Array<StreamEvent> = [{ type: "start", id: "r", model: "m", createdMs: 1000 }]
    const waiting: Array<StreamEvent> = []
    for (const [index, { kind, pieces }] of list.entries()) {
      const call = kind === "call" || kind === "custom"
      events.push({ type: "block_start", index, block: startOf(kind, index) })
      for (const piece of pieces)
        events.push({ type: "delta", index, delta: { type: call ? "args" : "text", text: piece } })
      if (call && late) waiting.push({ type: "block_stop", index })
      else events.push({ type: "block_stop", index })
    }
    const usage = { in: 5, out: 3, cacheRead: 1, cacheWrite: 0, reasoning: 2 }
    const hasCalls = list.some(({ kind }) => kind === "call" || kind === "custom")
    const raw = reason === "stop" ? "completed" : "max_output_tokens"
    const stop = { reason: reason === "stop" && hasCalls ? ("tool_calls" as const) : reason, raw, sequence: null }
    events.push(...waiting, { type: "usage", usage }, { type: "finish", stop }, { type: "done" })
    return events
  }
)

const encodeAll = (codec: WireCodec, events: ReadonlyArray<StreamEvent>): string => {
  const encoder = codec.makeStreamEncoder(context)
  return events.map((event) => encoder.encode(event)).join("")
}

/** What was said, by block: the meaning of a stream without its cuts. */
const meaning = (events: ReadonlyArray<StreamEvent>) => {
  const said = new Map<number, { readonly block: unknown; text: string }>()
  const rest: Array<StreamEvent> = []
  for (const event of events) {
    if (event.type === "block_start") said.set(event.index, { block: event.block, text: "" })
    else if (event.type === "delta") {
      const block = said.get(event.index)
      if (block !== undefined && "text" in event.delta) block.text += event.delta.text
    } else if (event.type !== "block_stop") rest.push(event)
  }
  const calls = [...said.values()].map(({ block, text }) => {
    const empty = text === "" && (block as JsonObject)["kind"] === "function"
    return { block, text: empty ? "{}" : text }
  })
  return { said: calls.filter(({ text }) => text !== ""), rest }
}

/** The order rules of the wire, as its strictest clients hold them. */
const assertOrder = (events: ReadonlyArray<JsonObject>): void => {
  const items: Array<{ id: unknown; open: boolean; part: boolean; text: string; item: JsonObject }> = []
  for (const [index, event] of events.entries()) {
    const type = String(event["type"])
    assert.strictEqual(event["sequence_number"], index)
    if (type === "response.output_item.added") {
      assert.strictEqual(event["output_index"], items.length)
      const item = event["item"] as JsonObject
      items.push({ id: item["id"], open: true, part: false, text: "", item })
      continue
    }
    const at = event["output_index"]
    if (typeof at !== "number") continue
    const item = items[at]
    assert.isTrue(item?.open)
    if (item === undefined) continue
    if (event["item_id"] !== undefined) assert.strictEqual(event["item_id"], item.id)
    if (type.endsWith("part.added")) item.part = true
    if (/(?:output_text|refusal|summary_text)\.delta$/.test(type)) assert.isTrue(item.part)
    if (type.endsWith(".delta")) item.text += String(event["delta"])
    if (/(?:text|refusal|arguments|input)\.done$/.test(type)) {
      assert.strictEqual(event["text"] ?? event["refusal"] ?? event["arguments"] ?? event["input"], item.text)
    }
    if (type === "response.output_item.done") {
      item.open = false
      item.item = event["item"] as JsonObject
    }
  }
  assert.deepEqual(
    events.slice(0, 2).map(({ type }) => type),
    ["response.created", "response.in_progress"]
  )
  const last = events.at(-1)
  assert.match(String(last?.["type"]), /^response\.(?:completed|incomplete)$/)
  const response = last?.["response"] as JsonObject
  assert.deepEqual(
    response["output"],
    items.map(({ item }) => item)
  )
  assert.isTrue(items.every(({ open }) => !open))
}

describe("responses requests", () => {
  it("encoding and decoding a conversation gives it back, and drops nothing", () => {
    FC.assert(
      FC.property(responsesRequest, (body) => {
        const first = Either.getOrThrow(responses.decodeRequest(body))
        const encoded = responses.encodeRequest(first, { ...options, model: first.model })
        assert.deepEqual(encoded.dropped, [])
        const again = Either.getOrThrow(responses.decodeRequest(encoded.body))
        // A picture's detail is always said.
        const plain = (value: unknown) => JSON.parse(JSON.stringify(value).replaceAll(',"detail":"auto"', ""))
        assert.deepEqual(plain(again), plain(first))
      }),
      { ...run, numRuns: 400 }
    )
  })

  it("keep texts, calls and results on the way to other wires, and back", () => {
    const facts = (codec: WireCodec, body: JsonObject) =>
      Either.getOrThrow(codec.decodeRequest(body)).messages.flatMap(({ parts }) =>
        parts.flatMap((part) =>
          part.type === "tool_call" ? [part.id, part.name] : part.type === "tool_result" ? part.callId : []
        )
      )
    FC.assert(
      FC.property(responsesRequest, (body) => {
        const { tool_choice: _choice, ...rest } = body
        const translated = translateRequest(responses, chat, rest, options)
        // What has no place is refused as a whole.
        if (Either.isLeft(translated)) return assert.match(translated.left.message, /has no place/)
        const there = translated.right
        const back = Either.getOrThrow(translateRequest(chat, responses, there.body, options))
        assert.deepEqual(facts(responses, back.body), facts(responses, rest))
        return undefined
      }),
      run
    )
    for (const [codec, requests] of [
      [chat, chatRequest],
      [messages, messagesRequest]
    ] as const) {
      FC.assert(
        FC.property(requests, (body) => {
          const { body: out } = Either.getOrThrow(translateRequest(codec, responses, body, options))
          assert.deepEqual(facts(responses, out), facts(codec, body))
        }),
        run
      )
    }
  })

  it("survive any mutation: a refusal or a translation, never a throw", () => {
    survivesMutations({
      source: responses,
      requests: responsesRequest,
      junk: [{ type: "input_text" }, [null], { type: "namespace" }],
      targets: [...others, responses],
      options,
      depth: 6,
      numRuns: 600
    })
  })
})

describe("responses streams", () => {
  it("follow the wire's order, and mean what the events meant", () => {
    FC.assert(
      FC.property(sequence, cutSizes, (events, sizes) => {
        const encoder = makeResponsesEventEncoder(context)
        assertOrder(events.flatMap((event) => encoder.encode(event)))
        const bytes = encodeAll(responses, events)
        assert.deepEqual(meaning(decodeAll(responses, bytes, sizes)), meaning(events))
      }),
      run
    )
  })

  it("do not depend on where the bytes are cut", () => {
    FC.assert(
      FC.property(sequence, cutSizes, (events, sizes) => {
        const bytes = encodeAll(responses, events)
        assert.deepEqual(decodeAll(responses, bytes, sizes), decodeAll(responses, bytes, [bytes.length * 4 + 1]))
      }),
      run
    )
  })

  it("are relayed exactly, and tell a tap what they tell a translator", () => {
    FC.assert(
      FC.property(sequence, cutSizes, (events, sizes) => {
        const bytes = encodeAll(responses, events)
        const tap = responses.makeStreamTap({ hideUsage: false })
        const translator = makeStreamTranslator(chat, responses, context)
        const pieces = cutBy(Buffer.from(bytes), sizes)
        const relayed = [...pieces.map((piece) => tap.push(piece)), tap.end()]
        for (const piece of pieces) translator.push(piece)
        translator.end()
        assert.strictEqual(Buffer.concat(relayed).toString(), bytes)
        const { events: _seen, ...learnt } = tap.facts
        const { events: _told, ...known } = translator.facts
        assert.deepEqual(learnt, known)
        assert.isTrue(learnt.terminated)
      }),
      run
    )
  })

  it("never end in success when cut before their end", () => {
    FC.assert(
      FC.property(sequence, FC.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (events, share) => {
        const bytes = encodeAll(responses, events)
        const end = bytes.lastIndexOf("event: response.")
        const part = Buffer.from(bytes.slice(0, Math.floor(end * share)))
        for (const client of [...others, responses]) {
          const translator = makeStreamTranslator(client, responses, context)
          const out = translator.push(part) + translator.end()
          assert.notMatch(out, /\[DONE\]|message_stop|response\.(?:completed|incomplete)/)
          assert.isNotNull(translator.facts.problem)
        }
      }),
      run
    )
  })

  it("keep texts, calls, usage and the stop of other wires' streams", () => {
    for (const [codec, streams] of [
      [chat, chatStream],
      [messages, messagesStream]
    ] as const) {
      FC.assert(
        FC.property(streams, (source) => {
          const translator = makeStreamTranslator(responses, codec, context)
          const out = translator.push(Buffer.from(source)) + translator.end()
          const there = meaning(decodeAll(codec, source, [1000]))
          const here = meaning(decodeAll(responses, out, [1000]))
          assert.deepEqual(here.said, there.said)
          const again = makeStreamTranslator(codec, responses, context)
          again.push(Buffer.from(out))
          assert.deepEqual(again.facts.usage, translator.facts.usage)
          assert.strictEqual(again.facts.textChars, translator.facts.textChars)
          assert.strictEqual(again.facts.reasoningChars, translator.facts.reasoningChars)
        }),
        run
      )
    }
  })

  it("survive any event: no throw, and every byte of a tap accounted for", () => {
    const type = FC.constantFrom(
      "response.created",
      "response.output_item.added",
      "response.output_item.done",
      "response.output_text.delta",
      "response.output_text.done",
      "response.reasoning_summary_text.delta",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_text.annotation.added",
      "response.web_search_call.searching",
      "response.completed",
      "response.failed",
      "error"
    )
    const item = FC.oneof(
      FC.jsonValue(),
      FC.record({ type: FC.constantFrom("message", "reasoning", "function_call", "new_call"), content: FC.jsonValue() })
    )
    const event = FC.record(
      { type, output_index: FC.nat(2), delta: FC.jsonValue(), item, response: FC.jsonValue(), part: FC.jsonValue() },
      { requiredKeys: ["type"] }
    )
    FC.assert(
      FC.property(FC.array(event, { maxLength: 12 }), (events) => {
        const bytes = Buffer.from(events.map((value) => `data: ${JSON.stringify(value)}\n\n`).join(""))
        for (const client of [...others, responses]) {
          const translator = makeStreamTranslator(client, responses, context)
          translator.push(bytes)
          translator.end()
          const { facts } = translator
          assert.isTrue(facts.problem !== null || (facts.terminated && facts.stop !== null))
        }
        const tap = responses.makeStreamTap({ hideUsage: false })
        const out = Buffer.concat([tap.push(bytes), tap.end()])
        assert.isTrue(bytes.toString().startsWith(out.toString()))
      }),
      { ...run, numRuns: 600 }
    )
  })
})
