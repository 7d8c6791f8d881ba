/** Pictures and files whose kind or place differs from wire to wire. */
import { assert, describe, it } from "@effect/vitest"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { chatBody, messagesBody, translate } from "./support.ts"

const jpeg = "/9j/4AAQ"
const png = "iVBORw0KGgo="
const words = "# Grüße\n"
const base64 = Buffer.from(words).toString("base64")

const responsesBody = (part: JsonObject): JsonObject => ({ model: "m", input: [{ role: "user", content: [part] }] })
const messagesWith = (block: JsonObject): JsonObject => messagesBody({ messages: [{ role: "user", content: [block] }] })
const chatWith = (part: JsonObject): JsonObject => chatBody({ messages: [{ role: "user", content: [part] }] })
const geminiWith = (part: JsonObject): JsonObject => ({ model: "m", contents: [{ role: "user", parts: [part] }] })

const contentOf = (body: JsonObject, at: "messages" | "input"): unknown => {
  const [message] = body[at] as ReadonlyArray<JsonObject>
  return message?.["content"]
}

describe("image/jpg", () => {
  const pictures: ReadonlyArray<readonly [WireName, JsonObject]> = [
    ["chat", chatWith({ type: "image_url", image_url: { url: `data:image/jpg;base64,${jpeg}` } })],
    ["responses", responsesBody({ type: "input_image", image_url: `data:image/jpg;base64,${jpeg}` })],
    ["messages", messagesWith({ type: "image", source: { type: "base64", media_type: "image/jpg", data: jpeg } })],
    ["gemini", geminiWith({ inlineData: { mimeType: "image/jpg", data: jpeg } })]
  ]

  for (const [source, body] of pictures) {
    it(`from ${source} is image/jpeg for every wire`, () => {
      for (const target of ["chat", "responses", "messages", "gemini"] as const) {
        if (target === source) continue
        const sent = JSON.stringify(translate(source, target, body).body)
        assert.include(sent, "image/jpeg", target)
        assert.notInclude(sent, "image/jpg", target)
      }
    })
  }
})

describe("a data address in file_url", () => {
  const file = (file_url: string) => responsesBody({ type: "input_file", file_url, filename: "a.pdf" })

  it("is the file itself", () => {
    const { body, dropped } = translate("responses", "messages", file(`data:application/pdf;base64,${png}`))
    assert.deepEqual(contentOf(body, "messages"), [
      { type: "document", source: { type: "base64", media_type: "application/pdf", data: png }, title: "a.pdf" }
    ])
    assert.deepEqual(dropped, [])
    const chat = translate("responses", "chat", file(`data:application/pdf;base64,${png}`))
    assert.deepEqual(contentOf(chat.body, "messages"), [
      { type: "file", file: { file_data: `data:application/pdf;base64,${png}`, filename: "a.pdf" } }
    ])
  })

  it("may hold its text as it is", () => {
    const { body } = translate("responses", "messages", file("data:text/plain;charset=utf-8,Gr%C3%BC%C3%9Fe, all"))
    assert.deepEqual(contentOf(body, "messages"), [
      { type: "document", source: { type: "text", media_type: "text/plain", data: "Grüße, all" }, title: "a.pdf" }
    ])
  })

  it("that cannot be read stays a link", () => {
    const { body } = translate("responses", "messages", file("data:text/plain,%E0%A4%A"))
    assert.deepInclude(contentOf(body, "messages"), {
      type: "document",
      source: { type: "url", url: "data:text/plain,%E0%A4%A" },
      title: "a.pdf"
    })
  })
})

describe("a text file for a chat upstream", () => {
  const said = `notes.md:\n${words}`
  const files: ReadonlyArray<readonly [string, WireName, JsonObject]> = [
    [
      "base64",
      "responses",
      responsesBody({ type: "input_file", file_data: `data:text/markdown;base64,${base64}`, filename: "notes.md" })
    ],
    [
      "its text",
      "messages",
      messagesWith({ type: "document", source: { type: "text", data: words }, title: "notes.md" })
    ],
    [
      "inline data",
      "gemini",
      geminiWith({ inlineData: { mimeType: "application/json", data: base64, displayName: "notes.md" } })
    ]
  ]
  for (const [form, source, body] of files) {
    it(`that came as ${form} is its words, under its own name`, () => {
      const sent = translate(source, "chat", body)
      assert.strictEqual(contentOf(sent.body, "messages"), said)
      assert.deepEqual(sent.dropped, [])
    })
  }

  it("without a name is its words alone", () => {
    const sent = translate(
      "messages",
      "chat",
      messagesWith({ type: "document", source: { type: "text", data: words } })
    )
    assert.strictEqual(contentOf(sent.body, "messages"), words)
  })

  it("is no other document", () => {
    for (const type of ["application/pdf", "application/zip"]) {
      const body = responsesBody({ type: "input_file", file_data: `data:${type};base64,${png}`, filename: "f.bin" })
      assert.deepEqual(contentOf(translate("responses", "chat", body).body, "messages"), [
        { type: "file", file: { file_data: `data:${type};base64,${png}`, filename: "f.bin" } }
      ])
    }
  })
})
