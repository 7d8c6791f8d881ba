/** What a conversation holds is never left out: it goes on as text, pictures and files, or the target is not asked. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import { codecs, translateRequest } from "../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { chatBody, messagesBody, options, translate } from "./support.ts"

const png = "iVBORw0KGgoAAAANSUhEUgAA"
const text = (said: string): JsonObject => ({ type: "text", text: said })

/** The text of the last turn of a chat request. */
const lastOf = (
  source: WireName,
  body: JsonObject
): { readonly said: string; readonly sent: ReturnType<typeof translate> } => {
  const sent = translate(source, "chat", body)
  const turns = sent.body["messages"] as ReadonlyArray<{ content: string | ReadonlyArray<JsonObject> }>
  const said = turns.map(({ content }) =>
    typeof content === "string" ? content : content.map((part) => part["text"] ?? part["type"]).join("\n")
  )
  return { said: said.join("\n"), sent }
}

const refusedField = (source: WireName, target: WireName, body: JsonObject): string | null => {
  const result = translateRequest(codecs[source], codecs[target], body, { ...options, maxOutputTokens: 100 })
  if (Either.isRight(result)) return null
  assert.match(result.left.message, /no place/)
  assert.match(result.left.message, new RegExp(`the ${source} wire`))
  return result.left.param
}

const others = (source: WireName): ReadonlyArray<WireName> =>
  (["chat", "messages", "responses", "gemini", "ollama"] as const).filter((wire) => wire !== source)

describe("blocks of the messages wire go on as what they say", () => {
  const asked = (...content: ReadonlyArray<JsonObject>): JsonObject =>
    messagesBody({ messages: [{ role: "user", content }] })

  const cases: ReadonlyArray<readonly [string, JsonObject, RegExp]> = [
    [
      "search_result",
      {
        type: "search_result",
        title: "Title",
        source: "https://x.test",
        content: [text("Found")],
        citations: { enabled: true }
      },
      /Title\nhttps:\/\/x\.test\nFound/
    ],
    [
      "document",
      {
        type: "document",
        title: "Title",
        context: "From a shelf",
        source: { type: "content", content: [text("One"), text("Two")] }
      },
      /Title\nFrom a shelf\nOne\nTwo/
    ],
    ["document", { type: "document", source: { type: "content", content: "Plain" } }, /Plain/],
    [
      "mcp_tool_use",
      { type: "mcp_tool_use", id: "m", name: "look", server_name: "s", input: { at: 1 } },
      /\[s\/look\] \{"at":1\}/
    ],
    [
      "mcp_tool_result",
      { type: "mcp_tool_result", tool_use_id: "m", is_error: true, content: [text("Gone")] },
      /error:\nGone/
    ],
    [
      "server_tool_use",
      { type: "server_tool_use", id: "s", name: "web_search", input: { query: "q" } },
      /\[web_search\] \{"query":"q"\}/
    ],
    [
      "web_search_tool_result",
      {
        type: "web_search_tool_result",
        tool_use_id: "s",
        content: [
          { type: "web_search_result", title: "T", url: "https://x.test", encrypted_content: "x", page_age: "today" }
        ]
      },
      /T\nhttps:\/\/x\.test\ntoday/
    ],
    [
      "web_fetch_tool_result",
      {
        type: "web_fetch_tool_result",
        tool_use_id: "s",
        content: {
          type: "web_fetch_result",
          url: "https://x.test",
          content: { type: "document", title: "T", source: { type: "text", media_type: "text/plain", data: "Page" } }
        }
      },
      /T\nhttps:\/\/x\.test\nPage/
    ],
    [
      "bash_code_execution_tool_result",
      {
        type: "bash_code_execution_tool_result",
        tool_use_id: "s",
        content: { type: "bash_code_execution_result", stdout: "out", stderr: "err", return_code: 1, content: [] }
      },
      /out\nerr\nreturn code 1/
    ],
    ["compaction", { type: "compaction", content: "So far: all" }, /So far: all/],
    ["new_block", { type: "new_block", text: "Words" }, /Words/]
  ]
  for (const [kind, block, said] of cases) {
    it(`${kind}`, () => {
      const { said: heard, sent } = lastOf("messages", asked(block, text("And?")))
      assert.match(heard, said)
      assert.deepStrictEqual(sent.mapped, [`messages.content.${kind}`])
      assert.deepStrictEqual(sent.dropped, [])
      for (const wire of others("messages")) assert.isNull(refusedField("messages", wire, asked(block)), wire)
    })
  }

  it("inside of a tool's result, with pictures, and with the cache mark of a block", () => {
    const block = {
      type: "document",
      source: {
        type: "content",
        content: [text("One"), { type: "image", source: { type: "base64", media_type: "image/png", data: png } }]
      }
    }
    const { body } = translate(
      "messages",
      "gemini",
      messagesBody({
        messages: [
          { role: "user", content: "Hi" },
          { role: "assistant", content: [{ type: "tool_use", id: "t", name: "look", input: {} }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: [block] }] }
        ],
        tools: [{ name: "look", input_schema: { type: "object" } }]
      })
    )
    assert.include(JSON.stringify(body), "One")
    assert.include(JSON.stringify(body), png)
  })

  it("but for what says nothing of the conversation, which is named", () => {
    const { sent } = lastOf("messages", asked({ type: "tool_reference", tool_name: "look" }, text("And?")))
    assert.deepStrictEqual(sent.dropped, ["messages.content.tool_reference"])
  })
})

describe("items of the responses wire go on as what they say", () => {
  const cases: ReadonlyArray<readonly [string, JsonObject, RegExp]> = [
    ["web_search_call", { action: { type: "search", query: "q" } }, /\[web_search\] search\nq/],
    ["file_search_call", { queries: ["q"], results: [{ filename: "a.txt", text: "Found" }] }, /a\.txt\nFound/],
    ["code_interpreter_call", { code: "1+1", outputs: [{ type: "logs", logs: "2" }] }, /1\+1\n2/],
    ["mcp_call", { server_label: "s", name: "look", arguments: "{}", output: "Found" }, /\[s\/look\] \{\}\nFound/],
    ["mcp_approval_request", { name: "look", arguments: "{}" }, /\[approval of look\] \{\}/],
    ["local_shell_call", { call_id: "c", action: { command: ["ls"] } }, /\["ls"\]/],
    ["local_shell_call_output", { call_id: "c", output: "a.txt" }, /a\.txt/],
    ["shell_call_output", { call_id: "c", output: [{ stdout: "a", stderr: "b" }] }, /a\nb/],
    ["apply_patch_call", { call_id: "c", operation: { type: "delete_file", path: "a" } }, /delete_file/]
  ]
  for (const [type, item, said] of cases) {
    it(`${type}`, () => {
      const body = {
        model: "m",
        input: [
          { role: "user", content: "Hi" },
          { type, id: "i", ...item },
          { role: "user", content: "And?" }
        ]
      }
      const { said: heard, sent } = lastOf("responses", body)
      assert.match(heard, said)
      assert.deepStrictEqual(sent.mapped, [`input.${type}`])
    })
  }

  it("a picture is shown by the user where assistants have none", () => {
    const body = {
      model: "m",
      input: [
        { role: "user", content: "Draw" },
        { type: "image_generation_call", id: "i", result: png },
        { role: "user", content: "Redder" }
      ]
    }
    const { body: sent } = translate("responses", "chat", body)
    const turns = sent["messages"] as ReadonlyArray<JsonObject>
    assert.deepStrictEqual(
      turns.map(({ role }) => role),
      ["user", "user"]
    )
    assert.include(JSON.stringify(turns[1]), png)
  })
})

describe("code of the generative-language wire goes on as text", () => {
  it("with what it wrote", () => {
    const { said } = lastOf("gemini", {
      model: "m",
      contents: [
        { role: "user", parts: [{ text: "Sum" }] },
        {
          role: "model",
          parts: [
            { executableCode: { language: "PYTHON", code: "print(2)" } },
            { codeExecutionResult: { outcome: "OUTCOME_OK", output: "2" } }
          ]
        },
        { role: "user", parts: [{ text: "And?" }] }
      ]
    })
    assert.match(said, /```python\nprint\(2\)\n```/)
    assert.match(said, /2/)
  })
})

describe("what other wires have no place for", () => {
  const file = (source: JsonObject): JsonObject =>
    messagesBody({ messages: [{ role: "user", content: [{ type: "document", source }] }] })
  const input = (...items: ReadonlyArray<JsonObject>): JsonObject => ({
    model: "m",
    input: [{ role: "user", content: "Hi" }, ...items]
  })
  const said = (part: JsonObject): JsonObject => chatBody({ messages: [{ role: "user", content: [text("Hi"), part] }] })

  const cases: ReadonlyArray<readonly [WireName, string, JsonObject]> = [
    ["messages", "messages.content.document", file({ type: "file", file_id: "file_1" })],
    [
      "messages",
      "messages.content.container_upload",
      messagesBody({ messages: [{ role: "user", content: [{ type: "container_upload", file_id: "f" }] }] })
    ],
    ["responses", "input.item_reference", input({ type: "item_reference", id: "msg_1" })],
    ["responses", "previous_response_id", { ...input(), previous_response_id: "resp_1" }],
    ["responses", "conversation", { ...input(), conversation: "conv_1" }],
    ["responses", "prompt", { model: "m", prompt: { id: "pmpt_1" } }],
    [
      "responses",
      "input.content.input_file",
      input({ role: "user", content: [{ type: "input_file", file_id: "file_1" }] })
    ],
    [
      "gemini",
      "cachedContent",
      { model: "m", contents: [{ role: "user", parts: [{ text: "Hi" }] }], cachedContent: "cachedContents/1" }
    ],
    [
      "gemini",
      "contents.parts.fileData",
      {
        model: "m",
        contents: [
          {
            role: "user",
            parts: [
              {
                fileData: { fileUri: "https://generativelanguage.googleapis.com/v1beta/files/a", mimeType: "video/mp4" }
              }
            ]
          }
        ]
      }
    ],
    ["chat", "messages.content.file", said({ type: "file", file: { file_id: "file_1" } })],
    [
      "chat",
      "messages.content.audio",
      chatBody({
        messages: [
          { role: "user", content: "Hi" },
          { role: "assistant", content: null, audio: { id: "audio_1" } },
          { role: "user", content: "And?" }
        ]
      })
    ]
  ]
  for (const [source, field, body] of cases) {
    it(`${field} of ${source}`, () => {
      for (const target of others(source)) {
        if (source === "chat" && field === "messages.content.audio" && target === "chat") continue
        assert.strictEqual(refusedField(source, target, body), field, target)
      }
    })
  }

  it("is refused where dropping would empty the request", () => {
    const sound = chatBody({
      messages: [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "CCCC", format: "wav" } }] }]
    })
    const pdf = chatBody({
      messages: [{ role: "user", content: [{ type: "file", file: { file_data: "data:application/pdf;base64,BBBB" } }] }]
    })
    assert.strictEqual(refusedField("chat", "ollama", sound), "messages.content.input_audio")
    assert.strictEqual(refusedField("chat", "ollama", pdf), "messages.content.file")
  })

  it("earlier sound goes on by its transcript", () => {
    const body = chatBody({
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: null, audio: { id: "a", transcript: "Hello" } },
        { role: "user", content: "And?" }
      ]
    })
    assert.include(JSON.stringify(translate("chat", "messages", body, { maxOutputTokens: 10 }).body), "Hello")
  })
})
