import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { responses } from "../../../../src/wire/responses/Codec.ts"
import { ResponsesResponse } from "../../../../src/wire/responses/Schema.ts"
import { context } from "../support.ts"
import { translateAnswer } from "./support.ts"

const usage = {
  input_tokens: 50,
  input_tokens_details: { cached_tokens: 20 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 57
}

const link = { start_index: 0, end_index: 2, url: "https://x.test", title: "X" }
const annotation = { type: "url_citation", ...link }
const logprob = { token: "Hi", logprob: -0.1, bytes: [72, 105], top_logprobs: [] }

const answer = (more: JsonObject = {}): JsonObject => ({
  id: "resp_1",
  object: "response",
  created_at: 1_700_000_000,
  status: "completed",
  error: null,
  incomplete_details: null,
  model: "gpt",
  output: [
    { id: "rs_0", type: "reasoning", summary: [] },
    {
      id: "rs_1",
      type: "reasoning",
      summary: [
        { type: "summary_text", text: "one" },
        { type: "summary_text", text: "two" }
      ],
      encrypted_content: "enc"
    },
    {
      id: "msg_1",
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Hi", annotations: [annotation], logprobs: [logprob] }]
    },
    { id: "ws_1", type: "web_search_call", status: "completed", action: { type: "search", query: "q" } },
    { id: "fc_1", type: "function_call", status: "completed", call_id: "call_1", name: "look", arguments: '{"q":1}' }
  ],
  usage,
  ...more
})

describe("a responses answer", () => {
  it("becomes a chat completion", () => {
    const out = translateAnswer("chat", "responses", answer())
    const [choice] = out["choices"] as ReadonlyArray<JsonObject>
    assert.deepEqual(choice, {
      index: 0,
      message: {
        role: "assistant",
        content: "Hi",
        refusal: null,
        annotations: [{ type: "url_citation", url_citation: link }],
        reasoning_content: "one\n\ntwo",
        tool_calls: [{ id: "call_1", type: "function", function: { name: "look", arguments: '{"q":1}' } }]
      },
      logprobs: { content: [logprob] },
      finish_reason: "tool_calls"
    })
    assert.strictEqual((out["usage"] as JsonObject)["completion_tokens"], 7)
  })

  it("goes through the canonical form and back", () => {
    const out = translateAnswer("responses", "responses", answer(), { nowMs: 1_700_000_002_000 })
    const { output } = answer()
    const [, reasoning, , search, call] = output as ReadonlyArray<JsonObject>
    assert.deepEqual(out["output"], [
      { ...reasoning, summary: [{ type: "summary_text", text: "one\n\ntwo" }] },
      {
        id: "msg_gw_resp1_1",
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: "Hi", annotations: [annotation], logprobs: [logprob] }]
      },
      search,
      { ...call, id: "fc_gw_resp1_3" }
    ] as never)
    assert.deepEqual(out["usage"], usage)
    assert.strictEqual(out["completed_at"], 1_700_000_002)
  })

  const stopOf = (more: JsonObject) => Either.getOrThrow(responses.decodeResponse(answer({ output: [], ...more }))).stop

  it("tells why it stopped", () => {
    assert.strictEqual(stopOf({}).reason, "stop")
    const incomplete = (reason: string) => stopOf({ status: "incomplete", incomplete_details: { reason } })
    assert.deepEqual(incomplete("max_output_tokens"), { reason: "length", raw: "max_output_tokens", sequence: null })
    assert.strictEqual(incomplete("content_filter").reason, "content_filter")
    assert.strictEqual(incomplete("new_reason").reason, "other")
  })

  it("is refused when it failed, is not over, or is something else", () => {
    const problem = (body: JsonObject) => Either.getOrThrow(Either.flip(responses.decodeResponse(body)))
    const failed = problem(answer({ status: "failed", error: { code: "rate_limit_exceeded", message: "slow down" } }))
    assert.deepEqual([failed.status, failed.message], [429, "slow down"])
    assert.strictEqual(problem(answer({ status: "in_progress" })).status, 502)
    assert.strictEqual(problem({ choices: [] }).status, 502)
    assert.strictEqual(problem({ error: { message: "no", type: "server_error" } }).message, "no")
  })

  it("reads the same facts for the usage row as a translation", () => {
    assert.deepEqual(responses.readAnswer(answer()), {
      usage: {
        in: 50,
        out: 7,
        cacheRead: 20,
        cacheWrite: 0,
        reasoning: 3,
        billing: { tools: { webSearches: 1 } }
      },
      stop: { reason: "tool_calls", raw: "completed", sequence: null },
      hasContent: true,
      textChars: 2,
      toolArgChars: 7,
      reasoningChars: 8
    })
    assert.isNull(responses.readAnswer({}).usage)
  })
})

describe("an answer for a responses client", () => {
  const request = {
    model: "asked",
    instructions: "Rule.",
    tools: [
      { type: "namespace", name: "fs", tools: [{ type: "function", name: "read", parameters: { type: "object" } }] },
      { type: "function", name: "look" },
      { type: "custom", name: "patch" }
    ],
    temperature: 0.3,
    text: { verbosity: "low" }
  }
  const chatAnswer = (message: JsonObject, finish: string) => ({
    id: "c1",
    created: 1_700_000_000,
    model: "gpt",
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }],
    usage: { prompt_tokens: 5, completion_tokens: 2 }
  })

  it("has every member clients expect, with the request's settings", () => {
    const out = translateAnswer("responses", "chat", chatAnswer({ content: "Hi" }, "stop"), { request })
    Schema.decodeUnknownSync(ResponsesResponse)(out)
    assert.strictEqual(out["instructions"], "Rule.")
    assert.strictEqual(out["temperature"], 0.3)
    assert.deepEqual(out["text"], { format: { type: "text" }, verbosity: "low" })
    assert.deepEqual((out["tools"] as ReadonlyArray<JsonObject>)[1], {
      type: "function",
      name: "look",
      description: null,
      parameters: null,
      strict: null
    })
    const bare = responses.encodeResponse(
      Either.getOrThrow(responses.decodeResponse({ output: [], status: "completed" })),
      context
    )
    Schema.decodeUnknownSync(ResponsesResponse)(bare)
    assert.deepEqual([bare["id"], bare["model"], bare["tool_choice"], bare["tools"]], ["gen-1", "asked", "auto", []])
  })

  it("calls tools by the client's own names, and gives free text where it was asked for", () => {
    const call = (id: string, name: string, args: string) => ({
      id,
      type: "function",
      function: { name, arguments: args }
    })
    const tool_calls = [
      call("a", "fs__read", '{"p":1}'),
      call("b", "patch", '{"input":"*** Begin"}'),
      call("c", "patch", "not JSON"),
      call("d", "fs__other", "")
    ]
    const out = translateAnswer("responses", "chat", chatAnswer({ content: null, tool_calls }, "tool_calls"), {
      request
    })
    assert.deepEqual(
      (out["output"] as ReadonlyArray<JsonObject>).map(({ id: _id, status: _status, ...rest }) => rest),
      [
        { type: "function_call", call_id: "a", name: "read", namespace: "fs", arguments: '{"p":1}' },
        { type: "custom_tool_call", call_id: "b", name: "patch", input: "*** Begin" },
        { type: "custom_tool_call", call_id: "c", name: "patch", input: "not JSON" },
        { type: "function_call", call_id: "d", name: "fs__other", arguments: "{}" }
      ]
    )
    assert.strictEqual(out["status"], "completed")
  })

  it("is incomplete when it was cut or filtered", () => {
    const status = (finish: string) => {
      const out = translateAnswer("responses", "chat", chatAnswer({ content: "Hi" }, finish))
      return [out["status"], out["incomplete_details"], out["completed_at"]]
    }
    assert.deepEqual(status("length"), ["incomplete", { reason: "max_output_tokens" }, null])
    assert.deepEqual(status("content_filter"), ["incomplete", { reason: "content_filter" }, null])
  })

  it("keeps Claude's thinking as a summary, without the proof of another wire", () => {
    const out = translateAnswer("responses", "messages", {
      id: "msg_1",
      type: "message",
      model: "claude",
      content: [
        { type: "thinking", thinking: "hm", signature: "sig" },
        { type: "text", text: "Hi" }
      ],
      stop_reason: "end_turn",
      usage: { input_tokens: 1, cache_read_input_tokens: 2, cache_creation_input_tokens: 4, output_tokens: 3 }
    })
    assert.deepEqual((out["output"] as ReadonlyArray<JsonObject>)[0], {
      id: "rs_gw_msg1_0",
      type: "reasoning",
      summary: [{ type: "summary_text", text: "hm" }]
    })
    assert.deepEqual(out["usage"], {
      input_tokens: 7,
      input_tokens_details: { cached_tokens: 2, cache_write_tokens: 4 },
      output_tokens: 3,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 10
    })
  })

  it("flattens the citations of a chat upstream", () => {
    const { type: _type, ...url_citation } = annotation
    const message = { content: "Hi", annotations: [{ type: "url_citation", url_citation }] }
    const out = translateAnswer("responses", "chat", chatAnswer(message, "stop"))
    const [item] = out["output"] as ReadonlyArray<{ content: ReadonlyArray<JsonObject> }>
    assert.deepEqual(item?.content[0]?.["annotations"], [annotation])
  })
})
