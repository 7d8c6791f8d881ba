/** What tells the same as a text in another form does not tell what was replaced. */
import { assert, describe, it } from "@effect/vitest"
import type { WireName } from "../../../../../src/contract/domain/Wire.ts"
import { filterWhole } from "../../../../../src/plane/features/guardrails/answers/WholeFilter.ts"
import { makeStreamFilter } from "../../../../../src/plane/features/guardrails/answers/StreamFilter.ts"
import { readers } from "../../../../../src/plane/features/guardrails/answers/wires/readers.ts"
import { testGuard } from "../../../../support/PersonalData.ts"

const email = "john.doe@example.com"

// eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
const whole = (wire: WireName, body: unknown): any => {
  const out = filterWhole(JSON.stringify(body), {
    reader: readers[wire],
    guard: testGuard,
    found: () => {},
    read: () => {},
    unread: () => assert.fail("unread")
  })
  assert.notInclude(out.toString(), "example.com")
  return JSON.parse(out.toString())
}

// eslint-disable-next-line typescript/no-explicit-any -- as above
const streamed = (wire: WireName, events: ReadonlyArray<unknown>): ReadonlyArray<any> => {
  let out = ""
  let found = 0
  const filter = makeStreamFilter({
    framing: wire === "ollama" ? "lines" : "events",
    reader: readers[wire],
    guard: testGuard,
    found: () => (found += 1),
    unread: () => assert.fail("unread"),
    read: () => {},
    release: (bytes) => (out += bytes.toString())
  })
  for (const event of events)
    filter.push(wire === "ollama" ? `${JSON.stringify(event)}\n` : `data: ${JSON.stringify(event)}\n\n`)
  filter.end()
  assert.notInclude(out, "example.com")
  return out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line.replace(/^data: /, "")))
}

const tokens = [
  { token: "john", logprob: -1 },
  { token: ".doe@example.com", logprob: -1 }
]

describe("beside a text that is changed", () => {
  it("log probabilities go, and others stay", () => {
    const [first, second] = whole("chat", {
      choices: [
        { index: 0, message: { content: email }, logprobs: { content: tokens }, finish_reason: "stop" },
        { index: 1, message: { content: "clean" }, logprobs: { content: [{ token: "clean" }] }, finish_reason: "stop" }
      ]
    }).choices
    assert.isNull(first.logprobs)
    assert.deepStrictEqual(second.logprobs, { content: [{ token: "clean" }] })

    const candidate = { index: 0, content: { parts: [{ text: email }] }, logprobsResult: { chosenCandidates: tokens } }
    assert.deepStrictEqual(whole("gemini", { candidates: [candidate] }).candidates[0].logprobsResult, {})
    assert.deepStrictEqual(whole("ollama", { message: { content: email }, logprobs: tokens, done: true }).logprobs, [])

    const part = { type: "output_text", text: email, annotations: [], logprobs: tokens }
    const answer = whole("responses", { output: [{ type: "message", content: [part] }] })
    assert.deepStrictEqual(answer.output[0].content[0].logprobs, [])
  })

  it("what repeats it in a stream of responses says the same, and is counted once", () => {
    const at = { item_id: "i", output_index: 0, content_index: 0 }
    const text = `to ${email} now`
    const part = { type: "output_text", text, annotations: [], logprobs: tokens }
    const item = { type: "message", id: "i", content: [part] }
    const events = streamed("responses", [
      { type: "response.output_text.delta", ...at, delta: "to john.doe", logprobs: [tokens[0]] },
      { type: "response.output_text.delta", ...at, delta: "@example.com now", logprobs: [tokens[1]] },
      { type: "response.output_text.done", ...at, text, logprobs: tokens },
      { type: "response.content_part.done", ...at, part },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { id: "r", output: [item] } }
    ])
    const expected = "to [EMAIL_REDACTED] now"
    assert.strictEqual(events[0].delta + events[1].delta, expected)
    assert.deepStrictEqual(events[0].logprobs, [])
    assert.strictEqual(events[2].text, expected)
    assert.deepStrictEqual(events[2].logprobs, [])
    assert.strictEqual(events[3].part.text, expected)
    assert.strictEqual(events[4].item.content[0].text, expected)
    assert.strictEqual(events[5].response.output[0].content[0].text, expected)
  })

  it("is found in a stream that only has the whole text", () => {
    const events = streamed("responses", [
      { type: "response.output_text.done", output_index: 0, content_index: 0, text: `to ${email}` },
      {
        type: "response.completed",
        response: { output: [{ type: "message", content: [{ type: "output_text", text: `to ${email}` }] }] }
      }
    ])
    assert.strictEqual(events[0].text, "to [EMAIL_REDACTED]")
    assert.strictEqual(events[1].response.output[0].content[0].text, "to [EMAIL_REDACTED]")
  })

  it("the signature of changed thinking goes, that of other thinking stays", () => {
    const answer = whole("messages", {
      content: [
        { type: "thinking", thinking: `He is ${email}`, signature: "s1" },
        { type: "thinking", thinking: "Nothing", signature: "s2" },
        { type: "text", text: "x", citations: [{ type: "char_location", cited_text: `by ${email}` }] },
        { type: "tool_use", id: "t", name: "f", input: { deep: [{ to: email }] } },
        {
          type: "web_search_tool_result",
          content: [{ type: "web_search_result", title: email, encrypted_content: "e" }]
        }
      ]
    })
    assert.strictEqual(answer.content[0].signature, "")
    assert.strictEqual(answer.content[1].signature, "s2")
    assert.strictEqual(answer.content[3].input.deep[0].to, "[EMAIL_REDACTED]")
    assert.strictEqual(answer.content[4].content[0].encrypted_content, "e")

    const events = streamed("messages", [
      { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "john.doe@" } },
      { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "example.com" } },
      { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "s1" } },
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: { type: "thinking", thinking: "", signature: "" } },
      { type: "content_block_delta", index: 1, delta: { type: "thinking_delta", thinking: "fine" } },
      { type: "content_block_delta", index: 1, delta: { type: "signature_delta", signature: "s2" } },
      { type: "content_block_stop", index: 1 }
    ])
    assert.strictEqual(events[3].delta.signature, "")
    assert.strictEqual(events[7].delta.signature, "s2")
  })

  it("segments of grounding and outputs of a provider's tools are texts too", () => {
    const candidate = {
      index: 0,
      content: { parts: [{ text: `to ${email}` }, { codeExecutionResult: { outcome: "OK", output: email } }] },
      groundingMetadata: { groundingSupports: [{ segment: { startIndex: 3, text: email } }] }
    }
    const [out] = whole("gemini", { candidates: [candidate] }).candidates
    assert.strictEqual(out.groundingMetadata.groundingSupports[0].segment.text, "[EMAIL_REDACTED]")
  })

  it("arguments of Gemini that come in pieces are one text per place", () => {
    const call = (partialArgs: ReadonlyArray<unknown>) => ({
      candidates: [{ index: 0, content: { parts: [{ functionCall: { partialArgs, willContinue: true } }] } }]
    })
    const events = streamed("gemini", [
      call([{ jsonPath: "$.to", stringValue: "john.doe@", willContinue: true }]),
      call([{ jsonPath: "$.to", stringValue: "example.com" }]),
      call([{ jsonPath: "$.cc", stringValue: email }])
    ])
    const pieces = events.flatMap((event) => event.candidates[0].content.parts[0].functionCall.partialArgs)
    assert.deepStrictEqual(
      pieces.map(({ stringValue }) => stringValue),
      ["[EMAIL_REDACTED]", "", "[EMAIL_REDACTED]"]
    )
  })
})

describe("arguments of a call", () => {
  const args = (text: string): string =>
    whole("chat", { choices: [{ message: { tool_calls: [{ function: { name: "f", arguments: text } }] } }] }).choices[0]
      .message.tool_calls[0].function.arguments

  it("stay the JSON that they are", () => {
    assert.strictEqual(
      args(`{ "to":"${email}", "n": 4111111111111111, "x":[1.50,"\\u00e9"] }`),
      '{ "to":"[EMAIL_REDACTED]", "n": 4111111111111111, "x":[1.50,"\\u00e9"] }'
    )
  })

  it("hide nothing behind escapes or inside of JSON in a string", () => {
    const hidden = Array.from(email, (char) => `\\u00${char.charCodeAt(0).toString(16)}`).join("")
    assert.strictEqual(args(`{"to":"${hidden}!"}`), '{"to":"[EMAIL_REDACTED]!"}')
    const inner = JSON.stringify({ input: JSON.stringify({ to: email }) })
    assert.deepStrictEqual(JSON.parse(JSON.parse(args(inner)).input), { to: "[EMAIL_REDACTED]" })
  })

  it("are text where they are no JSON", () => {
    assert.strictEqual(args(`to: ${email}`), "to: [EMAIL_REDACTED]")
    assert.strictEqual(args(`{"a":1} and ${email}`), '{"a":1} and [EMAIL_REDACTED]')
  })
})
