import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { codecs, translateRequest } from "../../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { ollama } from "../../../../src/wire/ollama/Codec.ts"
import { chatBody, messagesBody, options } from "../support.ts"
import { ollamaBody, png, refusal, translate } from "./support.ts"

const toolTurn = (results: ReadonlyArray<JsonObject>, calls: ReadonlyArray<JsonObject>): JsonObject =>
  ollamaBody({
    messages: [{ role: "user", content: "Hi" }, { role: "assistant", content: "", tool_calls: calls }, ...results]
  })

const call = (name: string, args: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  ...more,
  function: { name, arguments: args }
})

/** Which call each result answers, as a chat upstream is told. */
const answered = (body: JsonObject): ReadonlyArray<readonly [string, unknown]> => {
  const { messages } = translate("ollama", "chat", body).body as { messages: ReadonlyArray<JsonObject> }
  return messages
    .filter(({ role }) => role === "tool")
    .map((message) => [String(message["content"]), message["tool_call_id"]])
}

describe("ollama → chat", () => {
  it("maps the options and names what has no place", () => {
    const body = ollamaBody({
      options: {
        temperature: 0.5,
        top_p: 0.9,
        top_k: 40,
        seed: 7,
        stop: ["a", "b"],
        num_predict: 50,
        presence_penalty: 0.1,
        frequency_penalty: 0.2,
        num_ctx: 8192,
        repeat_penalty: 1.1
      },
      format: { type: "object", properties: { a: { type: "string" } } },
      think: "low",
      keep_alive: "5m"
    })
    const { body: sent, dropped } = translate("ollama", "chat", body, { stream: true })
    assert.deepEqual(sent, {
      model: "up",
      messages: [{ role: "user", content: "Hi" }],
      max_tokens: 50,
      temperature: 0.5,
      top_p: 0.9,
      seed: 7,
      presence_penalty: 0.1,
      frequency_penalty: 0.2,
      stop: ["a", "b"],
      response_format: {
        type: "json_schema",
        json_schema: { name: "answer", schema: { type: "object", properties: { a: { type: "string" } } } }
      },
      reasoning_effort: "low",
      stream: true,
      stream_options: { include_usage: true }
    })
    assert.sameMembers([...dropped], ["options.top_k", "options.num_ctx", "options.repeat_penalty", "keep_alive"])
  })

  it("streams unless told not to", () => {
    const streams = [{}, { stream: null }, { stream: true }, { stream: false }].map(
      (more) => Either.getOrThrow(ollama.decodeRequest(ollamaBody(more))).stream
    )
    assert.deepEqual(streams, [true, true, true, false])
  })

  it("takes limits that are none for not said", () => {
    const { body, dropped } = translate("ollama", "chat", ollamaBody({ options: { num_predict: -1, top_k: 0 } }))
    assert.notProperty(body, "max_tokens")
    assert.deepEqual(dropped, ["options.num_predict"])
  })

  it("takes think: true for the model's own level, false for none", () => {
    const efforts = [true, false, "high"].map(
      (think) => translate("ollama", "messages", ollamaBody({ think }), { maxOutputTokens: 64_000 }).body["thinking"]
    )
    assert.deepEqual(efforts, [
      { type: "enabled", budget_tokens: 8192 },
      undefined,
      { type: "enabled", budget_tokens: 24_576 }
    ])
  })

  it("finds out what kind of picture it is", () => {
    const body = ollamaBody({
      messages: [{ role: "user", content: "What?", images: [png, `data:image/jpeg;base64,${png}`, "AAAA"] }]
    })
    assert.deepEqual(translate("ollama", "chat", body).body["messages"], [
      {
        role: "user",
        content: [
          { type: "text", text: "What?" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
          { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
          { type: "image_url", image_url: { url: "data:application/octet-stream;base64,AAAA" } }
        ]
      }
    ])
  })

  it("gives calls unique ids and pairs results by id, by tool, by order", () => {
    const calls = [call("a", { n: 1 }), call("b"), call("a", { n: 2 })]
    const result = (content: string, more: JsonObject = {}): JsonObject => ({ role: "tool", content, ...more })
    const byOrder = answered(toolTurn([result("x"), result("y"), result("z")], calls))
    assert.deepEqual(byOrder, [
      ["x", "call_1_0"],
      ["y", "call_1_1"],
      ["z", "call_1_2"]
    ])
    const named = [result("z", { tool_name: "b" }), result("x", { tool_name: "a" }), result("y", { tool_name: "a" })]
    assert.deepEqual(answered(toolTurn(named, calls)), [
      ["z", "call_1_1"],
      ["x", "call_1_0"],
      ["y", "call_1_2"]
    ])
    const own = [call("a", {}, { id: "k1" }), call("a", {}, { id: "k2" })]
    const swapped = [result("y", { tool_call_id: "k2" }), result("x", { tool_name: "a" })]
    assert.deepEqual(answered(toolTurn(swapped, own)), [
      ["y", "k2"],
      ["x", "k1"]
    ])
  })

  it("pairs by order what was not paired by name", () => {
    const results = [
      { role: "tool", content: "y", tool_name: "b" },
      { role: "tool", content: "x" },
      { role: "tool", content: "z", tool_name: "nobody" }
    ]
    assert.deepEqual(answered(toolTurn(results, [call("a"), call("b"), call("c")])), [
      ["y", "call_1_1"],
      ["x", "call_1_0"],
      ["z", "call_1_2"]
    ])
  })

  it("keeps the ids of a turn when the history grows", () => {
    const first = toolTurn([{ role: "tool", content: "x" }], [call("a")])
    const turn = first["messages"] as ReadonlyArray<JsonObject>
    const longer = { ...first, messages: [...turn, { role: "assistant", content: "ok" }, ...turn] }
    assert.deepEqual(answered(first), [["x", "call_1_0"]])
    assert.deepEqual(answered(longer), [
      ["x", "call_1_0"],
      ["x", "call_5_0"]
    ])
  })

  it("names every field that is wrong", () => {
    const body = {
      messages: [
        { role: "bot", content: "x" },
        { role: "user", content: [{ type: "text" }] },
        { role: "user", content: "x", images: ["no base64!", 5] },
        { role: "tool", content: "nobody asked" },
        { role: "assistant", tool_calls: [{ function: { name: "", arguments: "text" } }] }
      ],
      options: { temperature: "hot", stop: [1] },
      format: "xml",
      think: 3,
      tools: [{ type: "function", function: {} }]
    }
    assert.sameMembers(
      refusal(ollama, body).details.map(({ field }) => field),
      [
        "model",
        "messages[0].role",
        "messages[1].content",
        "messages[2].images[0]",
        "messages[2].images[1]",
        "messages[3]",
        "messages[4].tool_calls[0].function.name",
        "messages[4].tool_calls[0].function.arguments",
        "options.temperature",
        "options.stop",
        "format",
        "think",
        "tools[0].function.name"
      ]
    )
    assert.strictEqual(refusal(ollama, { model: "m", messages: [] }).param, "messages")
  })
})

describe("chat → ollama", () => {
  it("says stream also when it is off, and puts sampling into options", () => {
    const { body, dropped } = translate(
      "chat",
      "ollama",
      chatBody({
        max_tokens: 5,
        stop: "x",
        temperature: 1,
        top_p: 0.5,
        seed: 3,
        logprobs: true,
        logit_bias: { a: 1 },
        user: "u",
        store: true
      })
    )
    assert.deepEqual(body, {
      model: "up",
      stream: false,
      logprobs: true,
      options: { num_predict: 5, temperature: 1, top_p: 0.5, seed: 3, stop: ["x"] },
      messages: [{ role: "user", content: "Hi" }]
    })
    assert.sameMembers([...dropped], ["logit_bias", "user", "store"])
  })

  it("sends calls as objects, results with the name of their tool", () => {
    const messages = [
      { role: "developer", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" }
        ]
      },
      {
        role: "assistant",
        content: null,
        reasoning_content: "hm",
        tool_calls: [
          { id: "t1", type: "function", function: { name: "f", arguments: '{"a":1}' } },
          { id: "t2", type: "function", function: { name: "g", arguments: "{broken" } }
        ]
      },
      { role: "tool", tool_call_id: "t2", content: "two" },
      {
        role: "tool",
        tool_call_id: "t1",
        content: [
          { type: "text", text: "on" },
          { type: "text", text: "e" }
        ]
      }
    ]
    const { body, dropped, mapped } = translate("chat", "ollama", chatBody({ messages }))
    assert.deepEqual(body["messages"], [
      { role: "system", content: "Be brief." },
      { role: "user", content: "a\nb" },
      {
        role: "assistant",
        content: "",
        thinking: "hm",
        tool_calls: [
          { id: "t1", function: { name: "f", arguments: { a: 1 } } },
          { id: "t2", function: { name: "g", arguments: { arguments: "{broken" } } }
        ]
      },
      { role: "tool", content: "two", tool_name: "g", tool_call_id: "t2" },
      { role: "tool", content: "on\ne", tool_name: "f", tool_call_id: "t1" }
    ])
    assert.deepEqual([dropped, mapped], [[], ["messages.tool_calls.function.arguments"]])
  })

  it("sends pictures it was given, and cannot be sent links, documents and sound", () => {
    const part = (type: string, value: JsonObject): JsonObject => ({ type, [type]: value })
    const content = [
      part("image_url", { url: `data:image/png;base64,${png}` }),
      part("file", { file_data: `data:text/plain;base64,${Buffer.from("note").toString("base64")}` })
    ]
    const { body, dropped } = translate("chat", "ollama", chatBody({ messages: [{ role: "user", content }] }))
    assert.deepEqual(body["messages"], [{ role: "user", content: "note", images: [png] }])
    assert.deepEqual(dropped, [])
    for (const lost of [
      part("image_url", { url: "https://x.test/a.png" }),
      part("file", { file_data: "data:application/pdf;base64,AAAA" }),
      part("input_audio", { data: "AAAA", format: "wav" })
    ]) {
      const asked = chatBody({ messages: [{ role: "user", content: [...content, lost] }] })
      const result = translateRequest(codecs.chat, codecs.ollama, asked, options)
      assert.strictEqual(Either.isLeft(result) ? result.left.param : null, `messages.content.${String(lost["type"])}`)
    }
  })

  it("cannot choose a tool: what it cannot say is named", () => {
    const tool = (name: string): JsonObject => ({ type: "function", function: { name } })
    const send = (choice: JsonObject[string], more: JsonObject = {}) => {
      const request = chatBody({ tools: [tool("a"), tool("b")], tool_choice: choice, ...more })
      const { body, dropped, mapped } = translate("chat", "ollama", request)
      const tools = (body["tools"] ?? []) as ReadonlyArray<{ function: { name: string } }>
      return [tools.map((item) => item.function.name).join(), dropped.join(), mapped.join()]
    }
    assert.deepEqual(send("auto"), ["a,b", "", ""])
    assert.deepEqual(send("none"), ["a,b", "tool_choice", ""])
    assert.deepEqual(send("required"), ["a,b", "tool_choice", ""])
    assert.deepEqual(send({ type: "function", function: { name: "a" } }), ["a,b", "tool_choice", ""])
    assert.deepEqual(send({ type: "allowed_tools", allowed_tools: { mode: "auto", tools: [tool("b")] } }), [
      "b",
      "",
      "tool_choice"
    ])
    assert.deepEqual(send("auto", { parallel_tool_calls: false }), ["a,b", "parallel_tool_calls", ""])
  })

  it("asks for thinking by level only where a level is understood", () => {
    const think = (effort: string, model: string, reasoning: boolean | null = null) => {
      const { body, dropped, mapped } = translate("chat", "ollama", chatBody({ reasoning_effort: effort }), {
        model,
        reasoning
      })
      return [body["think"], [...dropped, ...mapped].join()]
    }
    assert.deepEqual(think("high", "gpt-oss:20b"), ["high", ""])
    assert.deepEqual(think("minimal", "gpt-oss:20b"), ["low", "reasoning_effort"])
    assert.deepEqual(think("high", "qwen3"), [true, "reasoning_effort"])
    assert.deepEqual(think("medium", "qwen3"), [true, ""])
    assert.deepEqual(think("none", "qwen3"), [false, ""])
    assert.deepEqual(think("high", "llama3", false), [undefined, "reasoning_effort"])
  })
})

describe("messages → ollama", () => {
  it("gathers blocks, and names what only its own provider understands", () => {
    const { body, dropped } = translate(
      "messages",
      "ollama",
      messagesBody({
        system: [
          { type: "text", text: "One." },
          { type: "text", text: "Two.", cache_control: { type: "ephemeral" } }
        ],
        messages: [
          { role: "user", content: "Go" },
          {
            role: "assistant",
            content: [
              { type: "thinking", thinking: "secret", signature: "c2ln" },
              { type: "text", text: "A" },
              { type: "tool_use", id: "t", name: "f", input: {} }
            ]
          },
          {
            role: "user",
            content: [
              {
                type: "tool_result",
                tool_use_id: "t",
                is_error: true,
                content: [
                  { type: "text", text: "bad" },
                  { type: "image", source: { type: "base64", media_type: "image/png", data: png } }
                ]
              },
              { type: "text", text: "and now?" }
            ]
          }
        ]
      })
    )
    assert.deepEqual(body["messages"], [
      { role: "system", content: "One.\n\nTwo." },
      { role: "user", content: "Go" },
      { role: "assistant", content: "A", tool_calls: [{ id: "t", function: { name: "f", arguments: {} } }] },
      { role: "tool", content: "bad", images: [png], tool_name: "f", tool_call_id: "t" },
      { role: "user", content: "and now?" }
    ])
    assert.sameMembers(
      [...dropped],
      ["cache_control", "messages.content.thinking", "messages.content.tool_result.is_error"]
    )
  })
})
