import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { plainDialect } from "../../../../../src/contract/domain/Dialect.ts"
import { asksForWebSearch } from "../../../../../src/wire/canonical/WebSearchAsk.ts"
import { isRefusedBy } from "../../../../../src/wire/chat/Refusals.ts"
import { inOwnForm } from "../../../../../src/wire/ClientForm.ts"
import { codecs } from "../../../../../src/wire/Codec.ts"
import { isObject, type Json, type JsonObject } from "../../../../../src/wire/json/Json.ts"
import { itemsIn, makeReadOutlined, outlineOf } from "../../../../../src/wire/json/outline/Outline.ts"
import type { WireCodec } from "../../../../../src/wire/WireCodec.ts"
import { counted } from "../../../../support/slowRun.ts"
import { type Draw, makeDraw } from "./Texts.ts"

const read = makeReadOutlined(() => 0x0f1e_2d3c_4b5a_6978n)

const words = "What came before decides what comes after, and a letter like ß or 語 or 😀 takes more than a byte. "
const longText = words.repeat(4)
const schema = { type: "object", properties: { path: { type: "string" }, Messages: { Type: "x" } }, required: ["path"] }

type Item = (at: number) => Json

const chat: JsonObject = { model: "m", stream: true, max_tokens: 50, n: 1, response_format: { type: "json_schema" } }
const chatItems: ReadonlyArray<Item> = [
  () => ({ role: "user", content: longText }),
  (at) => ({ role: "user", content: [{ type: "text", text: `${at} ${longText}` }] }),
  (at) => ({
    role: "assistant",
    content: null,
    tool_calls: [{ id: `call_${at}`, type: "function", function: { name: "read", arguments: `{"path":"${at}"}` } }]
  }),
  (at) => ({
    role: "assistant",
    tool_calls: [{ id: `aB3dE6gH${at % 10}`, type: "function", function: { name: "x" } }]
  }),
  (at) => ({ role: "tool", tool_call_id: `call_${at}`, content: longText }),
  () => ({ role: "assistant", content: "So.", reasoning_content: longText }),
  () => ({ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] }),
  (at) => ({ role: "assistant", content: [{ type: "tool_use", id: `toolu_${at}`, name: "read", input: { a: at } }] })
]
const chatTool: Item = (at) => ({
  type: "function",
  function: { name: `tool_${at}`, description: longText, parameters: schema }
})

const messagesItems: ReadonlyArray<Item> = [
  () => ({ role: "user", content: longText }),
  (at) => ({
    role: "user",
    content: [{ type: "text", text: `${at} ${longText}`, cache_control: { type: "ephemeral" } }]
  }),
  (at) => ({
    role: "assistant",
    content: [
      { type: "thinking", thinking: longText, signature: `${"c2ln".repeat(40)}${at}` },
      { type: "tool_use", id: `toolu_${at}`, name: "read", input: { path: longText, Text: { Type: at } } }
    ]
  }),
  (at) => ({ role: "user", content: [{ type: "tool_result", tool_use_id: `toolu_${at}`, content: longText }] }),
  () => ({ role: "assistant", content: [{ type: "thinking", thinking: longText, signature: "" }] }),
  () => ({ role: "system", content: "Between." }),
  () => ({ role: "user", content: [{ type: "image", source: { type: "url", url: "https://example.com/a.png" } }] }),
  (at) => ({
    role: "assistant",
    content: [{ type: "server_tool_use", id: `srvtoolu_gw${at}`, name: "web_search", input: {} }]
  }),
  () => ({
    role: "assistant",
    content: [
      { type: "text", text: longText, citations: [{ type: "web_search_result_location", encrypted_index: "" }] }
    ]
  })
]
const messagesTool: Item = (at) => ({ name: `tool_${at}`, description: longText, input_schema: schema })

const responsesItems: ReadonlyArray<Item> = [
  () => ({ role: "user", content: longText }),
  (at) => ({ type: "message", role: "user", content: [{ type: "input_text", text: `${at} ${longText}` }] }),
  (at) => ({
    type: "function_call",
    call_id: `call_${at}`,
    name: "read",
    arguments: `{"path":"${longText.slice(0, 90)}"}`
  }),
  (at) => ({ type: "function_call_output", call_id: `call_${at}`, output: longText }),
  (at) => ({ type: "reasoning", id: `rs_${at}`, summary: [], encrypted_content: "gAAAA".repeat(50) }),
  (at) => ({ type: "reasoning", id: `rs_gw_${at}`, summary: [{ type: "summary_text", text: longText }] }),
  () => ({ role: "user", content: [{ type: "input_image", image_url: "https://example.com/a.png" }] })
]
const responsesTool: Item = (at) => ({
  type: "function",
  name: `tool_${at}`,
  description: longText,
  parameters: schema
})

const geminiItems: ReadonlyArray<Item> = [
  () => ({ role: "user", parts: [{ text: longText }] }),
  (at) => ({ role: "model", parts: [{ functionCall: { name: "read", args: { path: at, Text: longText } } }] }),
  (at) => ({ role: "user", parts: [{ functionResponse: { name: "read", response: { output: longText, at } } }] }),
  () => ({ role: "model", parts: [{ text: longText, thought: true, thoughtSignature: "c2ln".repeat(60) }] }),
  () => ({ parts: { text: "one" } }),
  () => ({ role: "user", parts: [{ inline_data: { mime_type: "image/png", data: "AAAA".repeat(99) } }] })
]
const geminiTool: Item = (at) => ({
  functionDeclarations: [{ name: `tool_${at}`, description: longText, parameters: schema }]
})

const wires = [
  { codec: codecs.chat, options: chat, items: chatItems, tool: chatTool },
  {
    codec: codecs.messages,
    options: { model: "m", max_tokens: 9_000, system: longText, thinking: { type: "enabled", budget_tokens: 2_000 } },
    items: messagesItems,
    tool: messagesTool
  },
  {
    codec: codecs.responses,
    options: { model: "m", instructions: longText },
    items: responsesItems,
    tool: responsesTool
  },
  {
    codec: codecs.gemini,
    options: { model: "m", systemInstruction: { parts: [{ text: longText }] }, generationConfig: { topP: 0.5 } },
    items: geminiItems,
    tool: geminiTool
  }
]

const values: ReadonlyArray<Json> = [
  null,
  true,
  0,
  "",
  "x",
  "web_search_20250305",
  "not plain!",
  "y".repeat(70),
  `${"z".repeat(70)}!`,
  longText,
  [],
  {},
  ["x"],
  { type: "text" },
  { Type: "text" }
]

/** Members that checks look at, and others. */
const added = [
  "type",
  "role",
  "content",
  "id",
  "tool_use_id",
  "reasoning",
  "custom",
  "input_schema",
  "signature",
  "other"
]

/** Changes one place of a value that is drawn: a name to one of other letters, a value to another, or a member more or less. */
const changed = (draw: Draw, value: Json): Json => {
  if (Array.isArray(value)) {
    const at = draw.below(value.length + 1)
    if (at === value.length || draw.isOnceIn(12)) return value.toSpliced(at, 0, draw.of(values))
    return value.with(at, changed(draw, value[at]))
  }
  if (!isObject(value)) return draw.of(values)
  const names = Object.keys(value)
  const kind = draw.below(6)
  if (names.length === 0 || kind === 0) return { ...value, [draw.of(added)]: draw.of(values) }
  const name = draw.of(names)
  const { [name]: inner, ...rest } = value
  if (kind === 1)
    return { ...rest, [draw.of([name.toUpperCase(), `${name.charAt(0).toUpperCase()}${name.slice(1)}`])]: inner }
  if (kind === 2) return rest
  return { ...value, [name]: changed(draw, inner ?? null) }
}

const requestOf = (draw: Draw, { codec, items, options, tool }: (typeof wires)[number]): JsonObject => {
  const conversation = Array.from({ length: draw.below(12) }, (_, at) => draw.of(items)(at))
  const tools = Array.from({ length: draw.below(5) }, (_, at) => tool(at))
  let body: Json = { ...options, tools, [codec.outline?.list ?? ""]: conversation }
  for (let changes = draw.below(4); changes > 0; changes -= 1) body = changed(draw, body)
  return isObject(body) ? body : {}
}

/** Two readings of one check: of the outline, and of the body. */
const envelopes = (codec: WireCodec, body: JsonObject, whole: JsonObject) => {
  const outlined = codec.checkEnvelope(outlineOf(body))
  const expected = codec.checkEnvelope(whole)
  assert.strictEqual(Either.isLeft(outlined), Either.isLeft(expected))
  if (Either.isLeft(outlined) || Either.isLeft(expected)) return
  const counted = itemsIn(body, codec.outline?.list ?? "")
  assert.deepStrictEqual({ ...outlined.right, messageCount: counted ?? outlined.right.messageCount }, expected.right)
}

const form = (codec: WireCodec, body: JsonObject) =>
  Either.match(inOwnForm(codec, body), { onLeft: () => "wrong", onRight: ({ body: own }) => own === body })

const dialects = [
  plainDialect,
  { ...plainDialect, callIds: { is: "nine_letters_or_digits", docs: "" } as const },
  { ...plainDialect, reasoningHistory: { is: "refused", docs: "" } as const }
]

describe("outlines of requests", () => {
  for (const wire of wires) {
    it(`say of ${wire.codec.name} what its whole requests say`, () => {
      const draw = makeDraw(4_711)
      const requests = counted(4_000, 30_000)
      let refused = 0
      for (let round = 0; round < requests; round += 1) {
        const text = JSON.stringify(requestOf(draw, wire), null, draw.isOnceIn(4) ? 2 : 0)
        const whole = JSON.parse(text) as JsonObject
        const rules = wire.codec.outline
        const body = rules === undefined ? null : read(Buffer.from(text), rules)
        if (body === null) return assert.fail(`not read: ${text}`)
        try {
          assert.strictEqual(wire.codec.misspelt(outlineOf(body)) === null, wire.codec.misspelt(whole) === null)
          envelopes(wire.codec, body, whole)
          assert.strictEqual(form(wire.codec, outlineOf(body)), form(wire.codec, whole))
          for (const dialect of dialects)
            assert.strictEqual(isRefusedBy(dialect, outlineOf(body)), isRefusedBy(dialect, whole))
          assert.strictEqual(
            asksForWebSearch(wire.codec.name, outlineOf(body)),
            asksForWebSearch(wire.codec.name, whole)
          )
        } catch (error) {
          throw new Error(`of ${text}`, { cause: error })
        }
        if (Either.isLeft(wire.codec.checkEnvelope(whole))) refused += 1
        assert.strictEqual(JSON.stringify(body), JSON.stringify(whole))
      }
      assert.isAbove(refused, requests / 50)
      assert.isBelow(refused, requests / 2)
    }, 600_000)
  }
})
