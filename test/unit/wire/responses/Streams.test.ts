import { assert, describe, it } from "@effect/vitest"
import OpenAI from "openai"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { responses } from "../../../../src/wire/responses/Codec.ts"
import { chunk, context, cut, type Piece, sse } from "../support.ts"
import { translateStream, type Wire } from "./support.ts"

/** A response stream of these events, between its created and its completed event. */
const stream = (events: ReadonlyArray<JsonObject>, end: JsonObject = {}, last = "completed"): string =>
  sse(
    { type: "response.created", response: { id: "resp_1", model: "gpt", created_at: 1_700_000_000, output: [] } },
    { type: "response.in_progress", response: { id: "resp_1", output: [] } },
    ...events,
    { type: `response.${last}`, response: { id: "resp_1", status: last, output: [], usage: null, ...end } }
  )
const added = (output_index: number, item: JsonObject) => ({ type: "response.output_item.added", output_index, item })
const done = (output_index: number, item: JsonObject) => ({ type: "response.output_item.done", output_index, item })
const text = (delta: string, more: JsonObject = {}) => ({
  type: "response.output_text.delta",
  output_index: 0,
  content_index: 0,
  delta,
  ...more
})
const call = (more: JsonObject = {}) => ({ id: "fc", type: "function_call", call_id: "c1", name: "look", ...more })

const chatText = (client: Wire, source: string) => {
  const { events, facts } = translateStream(client, "responses", source)
  const content = events.map((event) => event.choices?.[0]?.delta.content ?? "").join("")
  const reasoning = events.map((event) => event.choices?.[0]?.delta.reasoning_content ?? "").join("")
  const calls = events.flatMap((event) => event.choices?.[0]?.delta.tool_calls ?? [])
  const args = calls.map((piece) => piece.function?.arguments ?? "").join("")
  return {
    content,
    reasoning,
    calls,
    args,
    facts,
    finish: events.at(-3)?.choices?.[0]?.finish_reason,
    last: events.at(-1)
  }
}

describe("a response stream", () => {
  it("is read whole: reasoning, text, calls, usage, and a stop that the calls decide", () => {
    const out = chatText(
      "chat",
      stream(
        [
          added(0, { id: "rs", type: "reasoning", summary: [] }),
          { type: "response.reasoning_summary_text.delta", output_index: 0, summary_index: 0, delta: "one" },
          { type: "response.reasoning_summary_text.delta", output_index: 0, summary_index: 1, delta: "two" },
          done(0, { id: "rs", type: "reasoning", summary: [], encrypted_content: "enc" }),
          added(1, { id: "msg", type: "message", content: [] }),
          text("Hi", { output_index: 1 }),
          done(1, { id: "msg", type: "message", content: [{ type: "output_text", text: "Hi" }] }),
          added(2, call({ arguments: "" })),
          { type: "response.function_call_arguments.delta", output_index: 2, delta: '{"q"' },
          { type: "response.function_call_arguments.delta", output_index: 2, delta: ":1}" },
          { type: "response.function_call_arguments.done", output_index: 2, arguments: '{"q":1}' },
          done(2, call({ arguments: '{"q":1}' }))
        ],
        { usage: { input_tokens: 5, output_tokens: 2, input_tokens_details: { cached_tokens: 1 } } }
      )
    )
    assert.deepEqual(
      [out.reasoning, out.content, out.args, out.finish, out.last],
      ["one\n\ntwo", "Hi", '{"q":1}', "tool_calls", "[DONE]"]
    )
    assert.deepEqual(out.calls[0], {
      index: 0,
      id: "c1",
      type: "function",
      function: { name: "look", arguments: "" }
    })
    assert.deepEqual(out.facts.usage, { in: 5, out: 2, cacheRead: 1, cacheWrite: 0, reasoning: 0 })
  })

  it("takes from the end what the deltas left out", () => {
    const silent = stream([
      done(0, { type: "message", content: [{ type: "output_text", text: "Hi" }] }),
      added(1, call()),
      done(1, call({ arguments: '{"q":1}' })),
      { type: "response.reasoning_text.done", output_index: 2, content_index: 0, text: "hm" }
    ])
    const out = chatText("chat", silent)
    assert.deepEqual([out.content, out.args, out.reasoning], ["Hi", '{"q":1}', "hm"])
    const unstreamed = stream([], { output: [{ type: "message", content: [{ type: "output_text", text: "All" }] }] })
    assert.strictEqual(chatText("chat", unstreamed).content, "All")
  })

  it("is not confused by ids that change with every event", () => {
    const rotating = stream([
      added(0, { id: "a", type: "message", content: [] }),
      text("H", { item_id: "b" }),
      text("i", { item_id: "c" }),
      { type: "response.output_text.done", output_index: 0, content_index: 0, item_id: "d", text: "Hi" },
      done(0, { id: "e", type: "message", content: [{ type: "output_text", text: "Hi" }] })
    ])
    assert.strictEqual(chatText("chat", rotating).content, "Hi")
    const ids = translateStream("responses", "responses", rotating).events.flatMap(
      (event) => event.item_id ?? event.item?.id ?? []
    )
    assert.strictEqual(new Set(ids).size, 1)
  })

  it("keeps citations, and the items only this wire knows", () => {
    const annotation = { type: "url_citation", start_index: 0, end_index: 1, url: "u", title: "t" }
    const search = { id: "ws", type: "web_search_call", status: "in_progress" }
    const { events } = translateStream(
      "responses",
      "responses",
      stream([
        added(0, search),
        { type: "response.web_search_call.searching", output_index: 0, item_id: "ws", sequence_number: 99 },
        done(0, { ...search, status: "completed" }),
        text("Hi", { output_index: 1 }),
        { type: "response.output_text.annotation.added", output_index: 1, content_index: 0, annotation }
      ])
    )
    assert.deepEqual(
      events.map(({ sequence_number }) => sequence_number),
      events.map((_, index) => index)
    )
    assert.deepEqual(events.find(({ type }) => type.endsWith("searching")).output_index, 0)
    const { output } = events.at(-1).response
    assert.deepEqual(output[0], { ...search, status: "completed" })
    assert.deepEqual(output[1].content[0].annotations, [annotation])
  })

  it("ends in failure when it failed, broke off or began anew", () => {
    const problem = (source: string) => {
      const { facts, text: out } = translateStream("chat", "responses", source)
      assert.notInclude(out, "[DONE]")
      return facts.problem
    }
    const quota = { code: "insufficient_quota", message: "no quota" }
    assert.strictEqual(problem(stream([], { error: quota }, "failed"))?.status, 429)
    assert.strictEqual(problem(sse({ type: "error", ...quota }))?.message, "no quota")
    assert.deepInclude(
      problem(sse({ type: "error", sequence_number: 2, error: { type: "server_error", message: "x" } })),
      {
        status: 500,
        message: "x",
        type: "server_error",
        code: null
      }
    )
    assert.strictEqual(problem(sse(text("Hi")))?.code, "incomplete_stream")
    const twice = sse({ type: "response.created", response: {} }, text("Hi")) + stream([])
    assert.strictEqual(problem(twice)?.code, "incomplete_stream")
  })

  it("is bounded in its items", () => {
    const decoder = responses.makeStreamDecoder()
    let failed = false
    for (let index = 0; index < 10_100 && !failed; index += 1) {
      const events = decoder.push(Buffer.from(sse(added(index, { type: "message" }))))
      failed = events.some(({ type }) => type === "error")
    }
    assert.isTrue(failed)
  })
})

describe("a stream for a responses client", () => {
  const toResponses = (...parts: ReadonlyArray<Piece>) => translateStream("responses", "chat", sse(...parts))
  const usage = { prompt_tokens: 5, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 1 } }

  it("has every event, in order, and repeats the output at its end", () => {
    const { events, text: out } = toResponses(
      chunk({ reasoning_content: "hm" }),
      chunk({ content: "Hi" }),
      chunk({ content: " you" }),
      chunk({ tool_calls: [{ index: 0, id: "t1", function: { name: "look", arguments: "" } }] }),
      chunk({}, "tool_calls"),
      chunk({}, null, { choices: [], usage }),
      "[DONE]"
    )
    assert.deepEqual(
      events.map(({ type }) => type.replace("response.", "")),
      [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed"
      ]
    )
    assert.notInclude(out, "[DONE]")
    assert.include(out, "event: response.created\ndata: {")
    const { response } = events.at(-1)
    assert.deepEqual(response.output, [
      { id: "rs_gw_c1_0", type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] },
      {
        id: "msg_gw_c1_1",
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: "Hi you", annotations: [], logprobs: [] }]
      },
      {
        id: "fc_gw_c1_2",
        type: "function_call",
        status: "completed",
        call_id: "t1",
        name: "look",
        arguments: "{}"
      }
    ])
    assert.deepEqual(response.usage, {
      input_tokens: 5,
      input_tokens_details: { cached_tokens: 1 },
      output_tokens: 2,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 7
    })
  })

  it("tells a cut answer by its last event", () => {
    const { events } = toResponses(chunk({ content: "Hi" }), chunk({}, "length"), "[DONE]")
    const last = events.at(-1)
    assert.deepEqual(
      [last.type, last.response.status, last.response.incomplete_details],
      ["response.incomplete", "incomplete", { reason: "max_output_tokens" }]
    )
  })

  describe("when the provider's filter left nothing to say", () => {
    const ending = (request: JsonObject, ...parts: ReadonlyArray<Piece>) => {
      const source = sse(...parts, chunk({}, "content_filter"), "[DONE]")
      const { response, type } = translateStream("responses", "chat", source, { request }).events.at(-1)
      return [type, response.status, response.error?.code ?? null, response.incomplete_details?.reason ?? null]
    }
    const codex = { client_metadata: { "x-codex-installation-id": "1", turn_id: "2" } }
    const cutShort = ["response.incomplete", "incomplete", null, "content_filter"]

    it("fails for Codex with invalid_prompt, and not when something was said", () => {
      const failed = ["response.failed", "failed", "invalid_prompt", null]
      assert.deepEqual(ending(codex), failed)
      assert.deepEqual(ending(codex, chunk({ role: "assistant", content: "" })), failed)
      assert.deepEqual(ending(codex, chunk({ reasoning_content: "hm" })), failed)
      assert.deepEqual(ending(codex, chunk({ content: "Hi" })), cutShort)
      assert.deepEqual(ending(codex, chunk({ refusal: "No." })), cutShort)
    })

    it("is cut short by the filter for every other client, as OpenAI tells it", () => {
      for (const request of [{}, { client_metadata: { session: "1" } }]) assert.deepEqual(ending(request), cutShort)
    })
  })

  it("refuses in refusal events", () => {
    const { events } = toResponses(chunk({ refusal: "No." }), chunk({}, "stop"), "[DONE]")
    assert.deepEqual(
      events.slice(2, -1).map(({ type }) => type),
      [
        "response.output_item.added",
        "response.content_part.added",
        "response.refusal.delta",
        "response.refusal.done",
        "response.content_part.done",
        "response.output_item.done"
      ]
    )
  })

  it("calls tools by the client's own names and in its own form", () => {
    const request = {
      tools: [
        { type: "custom", name: "patch" },
        { type: "namespace", name: "fs", tools: [{ type: "function", name: "read" }] }
      ]
    }
    const piece = (index: number, args: string, name?: string) =>
      chunk({
        tool_calls: [{ index, ...(name === undefined ? {} : { id: `t${index}` }), function: { name, arguments: args } }]
      })
    const { events } = translateStream(
      "responses",
      "chat",
      sse(
        piece(0, '{"inp', "patch"),
        piece(0, 'ut":"*** Begin"}'),
        piece(1, '{"p":1}', "fs__read"),
        chunk({}, "tool_calls"),
        "[DONE]"
      ),
      { request }
    )
    const inputs = events.filter(({ type }) => type.startsWith("response.custom_tool_call_input"))
    assert.deepEqual(
      inputs.map(({ delta, input }) => delta ?? input),
      ["*** Begin", "*** Begin"]
    )
    const [patch, read] = events.at(-1).response.output
    assert.deepEqual([patch.type, patch.input], ["custom_tool_call", "*** Begin"])
    assert.deepEqual([read.name, read.namespace, read.arguments], ["read", "fs", '{"p":1}'])
  })

  it("says nothing after a failure, and pings in comments", () => {
    const encoder = responses.makeStreamEncoder(context)
    assert.strictEqual(encoder.encode({ type: "ping" }), ": ping\n\n")
    const problem = { status: 500, message: "x", type: null, code: null }
    assert.strictEqual(encoder.encode({ type: "error", problem }), "")
    assert.strictEqual(encoder.encode({ type: "done" }), "")
  })

  it("is what the official SDK's helper takes", async () => {
    const { text: body } = toResponses(
      chunk({ reasoning_content: "hm" }),
      chunk({ content: "Hi" }),
      chunk({ tool_calls: [{ index: 0, id: "t1", function: { name: "look", arguments: '{"q":1}' } }] }),
      chunk({}, "tool_calls"),
      chunk({}, null, { choices: [], usage }),
      "[DONE]"
    )
    const headers = { "content-type": "text/event-stream" }
    const client = new OpenAI({
      apiKey: "k",
      baseURL: "http://upstream.invalid/v1",
      fetch: async () => new Response(body, { headers })
    })
    const final = await client.responses.stream({ model: "m", input: "Hi" }).finalResponse()
    assert.strictEqual(final.output_text, "Hi")
    assert.deepEqual(
      final.output.map(({ type }) => type),
      ["reasoning", "message", "function_call"]
    )
    assert.strictEqual(final.usage?.total_tokens, 7)
  })
})

describe("the tap", () => {
  const source = stream([text("Hi"), text(" you")], { usage: { input_tokens: 5, output_tokens: 2 } })

  it("relays a stream as it came, and learns what a translator learns", () => {
    const tap = responses.makeStreamTap({ hideUsage: false })
    const pieces = cut(source, 9).map((piece) => tap.push(piece))
    assert.strictEqual(Buffer.concat([...pieces, tap.end()]).toString(), source)
    const { events: _events, ...facts } = tap.facts
    const { events: _others, ...translated } = translateStream("chat", "responses", source).facts
    assert.deepEqual(facts, translated)
  })

  it("withholds the upstream's failure", () => {
    const tap = responses.makeStreamTap({ hideUsage: false })
    const head = sse(text("Hi"))
    const error = sse({ type: "error", code: "server_error", message: "x" })
    const out = Buffer.concat([tap.push(Buffer.from(head + error + sse({ type: "response.failed" }))), tap.end()])
    assert.strictEqual(out.toString(), head)
    assert.strictEqual(tap.facts.problem?.message, "x")
  })
})
