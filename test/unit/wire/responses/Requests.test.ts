import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { codecs, translateRequest } from "../../../../src/wire/Codec.ts"
import { responses } from "../../../../src/wire/responses/Codec.ts"
import { flatName } from "../../../../src/wire/responses/ToolNames.ts"
import { options } from "../support.ts"
import { item, translate, user } from "./support.ts"

const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] }

/** The shape of a coding agent's second turn. */
const agentTurn: JsonObject = {
  model: "m",
  input: [
    { type: "message", id: "msg_1", role: "developer", content: [{ type: "input_text", text: "Be exact." }] },
    {
      type: "message",
      role: "user",
      content: [
        { type: "input_text", text: "<image name=a.png>" },
        { type: "input_image", image_url: "data:image/png;base64,AAAA" },
        { type: "input_text", text: "</image>" }
      ]
    },
    { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }], content: null, encrypted_content: "enc" },
    {
      type: "message",
      id: "msg_2",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Looking.", annotations: [] }]
    },
    {
      type: "function_call",
      id: "fc_1",
      call_id: "c1",
      name: "read",
      namespace: "mcp__fs__",
      arguments: '{"path":"a"}'
    },
    { type: "custom_tool_call", id: "ctc_1", call_id: "c2", name: "apply_patch", input: "*** Begin" },
    { type: "function_call_output", call_id: "c1", output: "text of a" },
    { type: "custom_tool_call_output", call_id: "c2", output: "ok" }
  ],
  tools: [
    { type: "function", name: "shell", description: "Runs", strict: false, parameters: schema },
    {
      type: "namespace",
      name: "mcp__fs__",
      description: "Files",
      tools: [
        { type: "function", name: "read", description: "Reads", strict: true, parameters: schema },
        { type: "function", name: "list", parameters: schema }
      ]
    },
    { type: "custom", name: "apply_patch", format: { type: "grammar", syntax: "lark", definition: "start: x" } },
    { type: "web_search" }
  ],
  tool_choice: "auto",
  parallel_tool_calls: true,
  reasoning: { effort: "high", summary: "auto" },
  store: false,
  stream: true,
  include: ["reasoning.encrypted_content"],
  prompt_cache_key: "k",
  client_metadata: { turn: "1" },
  text: { format: { type: "json_schema", name: "out", strict: true, schema }, verbosity: "low" }
}

describe("a coding agent's request", () => {
  it("→ chat: one assistant message with its calls, flat tool names, and everything left out is named", () => {
    const { body, dropped, mapped, toolNames } = translate("responses", "chat", agentTurn)
    assert.deepEqual(body["messages"], [
      { role: "developer", content: "Be exact." },
      {
        role: "user",
        content: [
          { type: "text", text: "<image name=a.png>" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          { type: "text", text: "</image>" }
        ]
      },
      {
        role: "assistant",
        content: "Looking.",
        tool_calls: [
          { id: "c1", type: "function", function: { name: "mcp__fs__read", arguments: '{"path":"a"}' } },
          { id: "c2", type: "function", function: { name: "apply_patch", arguments: '{"input":"*** Begin"}' } }
        ]
      },
      { role: "tool", tool_call_id: "c1", content: "text of a" },
      { role: "tool", tool_call_id: "c2", content: "ok" }
    ])
    assert.deepEqual(body["tools"], [
      { type: "function", function: { name: "shell", description: "Runs", parameters: schema, strict: false } },
      { type: "function", function: { name: "mcp__fs__read", description: "Reads", parameters: schema, strict: true } },
      { type: "function", function: { name: "mcp__fs__list", parameters: schema } },
      {
        type: "function",
        function: {
          name: "apply_patch",
          parameters: {
            type: "object",
            properties: {
              input: {
                type: "string",
                description: "The whole input of the tool, as plain text. It must follow this lark grammar:\nstart: x"
              }
            },
            required: ["input"]
          }
        }
      }
    ])
    assert.deepEqual([...(toolNames ?? [])], [["apply_patch", { name: "apply_patch", custom: true }]])
    assert.strictEqual(body["reasoning_effort"], "high")
    assert.deepEqual(body["response_format"], {
      type: "json_schema",
      json_schema: { name: "out", schema, strict: true }
    })
    assert.sameMembers(
      [...dropped],
      [
        "input.reasoning",
        "tools.web_search",
        "store",
        "include",
        "prompt_cache_key",
        "client_metadata",
        "text.verbosity"
      ]
    )
    assert.sameMembers([...mapped], ["tools.namespace", "tools.custom"])
  })

  it("→ messages: results first in one user turn", () => {
    const { body, dropped, mapped } = translate("responses", "messages", agentTurn)
    const turns = body["messages"] as ReadonlyArray<JsonObject>
    assert.deepEqual(
      turns.map(({ role }) => role),
      ["user", "assistant", "user"]
    )
    assert.deepEqual(turns[1]?.["content"], [
      { type: "text", text: "Looking." },
      { type: "tool_use", id: "c1", name: "mcp__fs__read", input: { path: "a" } },
      { type: "tool_use", id: "c2", name: "apply_patch", input: { input: "*** Begin" } }
    ])
    assert.deepEqual(turns[2]?.["content"], [
      { type: "tool_result", tool_use_id: "c1", content: "text of a" },
      { type: "tool_result", tool_use_id: "c2", content: "ok" }
    ])
    assert.strictEqual(body["system"], "Be exact.")
    assert.include(mapped, "tools.custom")
    assert.include(dropped, "input.reasoning")
  })

  it("→ responses: says the same again", () => {
    const { body, dropped } = translate("responses", "responses", agentTurn, { stream: true })
    const { input, ...rest } = body
    const { input: before, ...expected } = agentTurn
    assert.deepEqual(rest, { ...expected, model: "up" })
    assert.deepEqual(dropped, [])
    const [, question, ...history] = input as ReadonlyArray<JsonObject>
    const content = question?.["content"] as ReadonlyArray<JsonObject>
    assert.deepEqual(content[1], {
      type: "input_image",
      image_url: "data:image/png;base64,AAAA",
      detail: "auto"
    })
    assert.deepEqual(history, (before as ReadonlyArray<JsonObject>).slice(2))
  })
})

describe("responses request", () => {
  it("keeps instructions apart from system items", () => {
    const body = { model: "m", instructions: "Rule.", input: [{ role: "system", content: "More." }, user("Hi")] }
    assert.deepEqual(translate("responses", "chat", body).body["messages"], [
      { role: "system", content: "Rule." },
      { role: "system", content: "More." },
      { role: "user", content: "Hi" }
    ])
    const { body: again } = translate("responses", "responses", body)
    assert.strictEqual(again["instructions"], "Rule.")
    assert.deepEqual((again["input"] as ReadonlyArray<JsonObject>)[0], {
      type: "message",
      role: "system",
      content: [{ type: "input_text", text: "More." }]
    })
  })

  it("takes a string as the user's words", () => {
    const { body } = translate("responses", "chat", { model: "m", input: "Hi" })
    assert.deepEqual(body["messages"], [{ role: "user", content: "Hi" }])
  })

  it("gives back items only its own upstreams know, and says what they say elsewhere", () => {
    const call = { type: "local_shell_call", id: "lsh_1", call_id: "x", status: "completed", action: { type: "exec" } }
    const output = { type: "local_shell_call_output", id: "o", output: "done" }
    const reference = { type: "item_reference", id: "msg_9" }
    const body = { ...item(user("Hi"), call, output, reference), previous_response_id: "resp_1", truncation: "auto" }
    const own = translate("responses", "responses", body)
    assert.deepEqual((own.body["input"] as ReadonlyArray<JsonObject>).slice(1), [call, output, reference])
    assert.strictEqual(own.body["previous_response_id"], "resp_1")
    const elsewhere = translate("responses", "chat", { ...item(user("Hi"), call, output), truncation: "auto" })
    assert.deepEqual(elsewhere.dropped, ["truncation"])
    assert.deepEqual(elsewhere.mapped, ["input.local_shell_call", "input.local_shell_call_output"])
    assert.include(JSON.stringify(elsewhere.body), "done")
  })

  it("reads outputs with pictures, and files", () => {
    const image = { type: "input_image", image_url: "data:image/png;base64,AA==", detail: "high" }
    const body = item(
      {
        role: "user",
        content: [{ type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" }]
      },
      { type: "function_call", call_id: "c", name: "shot", arguments: "" },
      { type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "see" }, image] }
    )
    const [, , result] = translate("responses", "messages", body).body["messages"] as ReadonlyArray<JsonObject>
    assert.deepEqual(result?.["content"], [
      {
        type: "tool_result",
        tool_use_id: "c",
        content: [
          { type: "text", text: "see" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } }
        ]
      }
    ])
    const own = translate("responses", "responses", body).body["input"] as ReadonlyArray<JsonObject>
    assert.deepEqual(own[2]?.["output"], [{ type: "input_text", text: "see" }, image])
    assert.strictEqual(own[1]?.["arguments"], "{}")
  })

  it("keeps a choice of a provider's own tool for its own wire", () => {
    const body = { ...item(user("Hi")), tools: [{ type: "web_search" }], tool_choice: { type: "web_search" } }
    assert.deepEqual(translate("responses", "responses", body).body["tool_choice"], { type: "web_search" })
    // Forced where it cannot run, the model would make its result up.
    assert.isTrue(Either.isLeft(translateRequest(codecs.responses, codecs.chat, body, options)))
    assert.include(translate("responses", "chat", { ...body, tool_choice: "auto" }).dropped, "tools.web_search")
  })

  it("turns choices of tools both ways", () => {
    const tools = [
      { type: "function", name: "f", parameters: schema },
      { type: "custom", name: "g" }
    ]
    const choice = (tool_choice: JsonObject) =>
      translate("responses", "chat", { ...item(user("Hi")), tools, tool_choice }, { openAiTools: true })
    assert.deepEqual(choice({ type: "function", name: "f" }).body["tool_choice"], {
      type: "function",
      function: { name: "f" }
    })
    assert.deepEqual(choice({ type: "custom", name: "g" }).body["tool_choice"], {
      type: "custom",
      custom: { name: "g" }
    })
    const allowed = { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "f" }] }
    assert.deepEqual(choice(allowed).body["tool_choice"], {
      type: "allowed_tools",
      allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "f" } }] }
    })
  })

  it("tells reasoning the gateway wrote itself from a provider's own", () => {
    const reasoning = (id: string) => ({ type: "reasoning", id, summary: [{ type: "summary_text", text: "so" }] })
    const assistant = (id: string) => {
      const body = item(user("Hi"), reasoning(id), { role: "assistant", content: "Hello" })
      const { body: sent } = translate("responses", "chat", body, { model: "deepseek-v4-pro" })
      return (sent["messages"] as ReadonlyArray<JsonObject>)[1]
    }
    assert.strictEqual(assistant("rs_gw_r1_0")?.["reasoning_content"], "so")
    assert.isUndefined(assistant("rs_abc")?.["reasoning_content"])
    const own = translate("responses", "responses", item(user("Hi"), reasoning("rs_gw_r1_0"), reasoning("rs_abc")))
    assert.deepEqual((own.body["input"] as ReadonlyArray<JsonObject>).slice(1), [reasoning("rs_abc")])
    assert.deepEqual(own.dropped, ["input.reasoning"])
  })

  it("refuses what it cannot read, and says where", () => {
    const details = (body: JsonObject) => {
      const result = responses.decodeRequest(body)
      return Either.isLeft(result) ? result.left.details.map(({ field }) => field) : []
    }
    assert.deepEqual(details({ input: 5 }), ["model", "input"])
    assert.deepEqual(details({ model: "m", input: [] }), ["input"])
    assert.deepEqual(details(item({ role: "tool", content: "x" })), ["input[0].role"])
    assert.deepEqual(details(item({ content: "x" })), ["input[0].type"])
    assert.deepEqual(details(item({ type: "function_call", name: "f" })), ["input[0]"])
    assert.deepEqual(details(item({ type: "function_call_output", output: "x" })), ["input[0].call_id"])
    assert.deepEqual(details(item({ role: "user", content: [{ type: "input_image" }] })), [
      "input[0].content[0].image_url"
    ])
    assert.deepEqual(details({ ...item(user("x")), tools: [{ type: "function" }] }), ["tools[0].name"])
    assert.deepEqual(details({ model: "m", input: [], previous_response_id: "r" }), [])
  })
})

describe("chat request → responses", () => {
  const chatBody = (more: JsonObject) => ({ model: "m", messages: [{ role: "user", content: "Hi" }], ...more })

  it("says instructions, items and flat tools; strictness is told, for this wire is strict by itself", () => {
    const { body, dropped } = translate("chat", "responses", {
      model: "m",
      messages: [
        { role: "system", content: "Rule." },
        { role: "system", content: "More." },
        { role: "user", content: [{ type: "image_url", image_url: { url: "https://x.test/a", detail: "low" } }] },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "t", type: "function", function: { name: "f", arguments: "" } }]
        },
        { role: "tool", tool_call_id: "t", content: "r" },
        { role: "assistant", content: "Done", refusal: null }
      ],
      tools: [{ type: "function", function: { name: "f" } }],
      tool_choice: "required",
      max_tokens: 5,
      service_tier: "flex",
      verbosity: "low",
      seed: 1
    })
    assert.deepEqual(body, {
      model: "up",
      instructions: "Rule.",
      input: [
        { type: "message", role: "system", content: [{ type: "input_text", text: "More." }] },
        {
          type: "message",
          role: "user",
          content: [{ type: "input_image", image_url: "https://x.test/a", detail: "low" }]
        },
        { type: "function_call", call_id: "t", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "t", output: "r" },
        {
          type: "message",
          role: "assistant",
          content: [{ type: "output_text", text: "Done", annotations: [] }]
        }
      ],
      tools: [{ type: "function", name: "f", parameters: { type: "object", properties: {} }, strict: false }],
      tool_choice: "required",
      max_output_tokens: 16,
      text: { verbosity: "low" },
      store: false,
      service_tier: "flex"
    })
    assert.deepEqual(dropped, ["seed"])
  })

  it("asks for reasoning, and for its proof", () => {
    const { body } = translate("chat", "responses", chatBody({ reasoning_effort: "low", temperature: 0.5 }), {
      model: "gpt-5"
    })
    assert.deepEqual(body["reasoning"], { effort: "low" })
    assert.deepEqual(body["include"], ["reasoning.encrypted_content"])
    assert.isUndefined(body["temperature"])
  })

  it("asks for log probabilities where they can be given back", () => {
    const asked = chatBody({ logprobs: true, top_logprobs: 2 })
    const { body, dropped } = translate("chat", "responses", asked)
    assert.deepEqual([body["include"], body["top_logprobs"], dropped], [["message.output_text.logprobs"], 2, []])
    assert.deepEqual(translate("chat", "responses", asked, { stream: true }).dropped, [])
    const fixed = translate("chat", "responses", asked, { model: "gpt-5" })
    assert.deepEqual([fixed.body["include"], fixed.dropped], [undefined, ["logprobs", "top_logprobs"]])
  })

  it("speaks a conversation of instructions alone as an item", () => {
    const { body } = translate("chat", "responses", chatBody({ messages: [{ role: "system", content: "Rule." }] }))
    assert.isUndefined(body["instructions"])
    assert.lengthOf(body["input"] as ReadonlyArray<unknown>, 1)
  })
})

describe("messages request → responses", () => {
  it("maps thinking to effort and a summary, and drops what another provider signed", () => {
    const { body, dropped, mapped } = translate("messages", "responses", {
      model: "m",
      max_tokens: 9000,
      system: [
        { type: "text", text: "One.", cache_control: { type: "ephemeral" } },
        { type: "text", text: "Two." }
      ],
      thinking: { type: "enabled", budget_tokens: 8192 },
      stop_sequences: ["END"],
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "sig" },
            { type: "text", text: "Hello" }
          ]
        },
        { role: "user", content: "Go on" }
      ]
    })
    assert.strictEqual(body["instructions"], "One.\n\nTwo.")
    assert.deepEqual(body["reasoning"], { effort: "medium", summary: "auto" })
    assert.strictEqual(body["max_output_tokens"], 9000)
    assert.lengthOf(body["input"] as ReadonlyArray<unknown>, 3)
    assert.sameMembers([...dropped], ["stop_sequences", "messages.content.thinking", "cache_control"])
    assert.deepEqual(mapped, ["thinking"])
  })

  it("names what the model may not do", () => {
    const body = {
      model: "m",
      max_tokens: 9000,
      thinking: { type: "adaptive" },
      messages: [{ role: "user", content: "x" }]
    }
    assert.deepEqual(translate("messages", "responses", body, { reasoning: false }).dropped, ["thinking"])
    assert.deepEqual(translate("messages", "responses", body, { reasoning: true }).body["reasoning"], {
      summary: "auto"
    })
  })
})

describe("flat names", () => {
  it("fit every wire, and differ when their sources do", () => {
    assert.strictEqual(flatName("fs", "read"), "fs__read")
    assert.strictEqual(flatName("mcp__fs__", "read"), "mcp__fs__read")
    assert.strictEqual(flatName("a.b", "c"), "a_b__c")
    const long = "x".repeat(80)
    const [one, two] = [flatName("n", `${long}1`), flatName("n", `${long}2`)]
    assert.notStrictEqual(one, two)
    assert.match(one, /^[a-zA-Z0-9_-]{64}$/)
  })
})

describe("codec options", () => {
  it("puts the model and the stream flag of the attempt", () => {
    const conversation = Either.getOrThrow(responses.decodeRequest(item(user("x"))))
    const { body } = responses.encodeRequest(conversation, { ...options, model: "other", stream: true })
    assert.deepEqual([body["model"], body["stream"]], ["other", true])
  })
})
