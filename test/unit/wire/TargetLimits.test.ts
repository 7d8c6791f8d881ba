/** What targets take: limits of answers, types of pictures, films. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { codecs, translateRequest } from "../../../src/wire/Codec.ts"
import { mediaOfUrl } from "../../../src/wire/canonical/DataUrl.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { chatBody, messagesBody, options, translate } from "./support.ts"

const png = "iVBORw0KGgoAAAANSUhEUgAA"
const jpeg = "/9j/4AAQSkZJRgABAQAAAQ=="

describe("the limit of an answer", () => {
  it("of -1 is none", () => {
    for (const name of ["max_tokens", "max_completion_tokens"]) {
      const body = chatBody({ [name]: -1 })
      assert.isTrue(Either.isRight(codecs.chat.checkEnvelope(body)), name)
      for (const wire of ["responses", "gemini", "ollama"] as const) {
        const { body: sent, dropped } = translate("chat", wire, body)
        assert.notInclude(JSON.stringify(sent), "-1")
        assert.deepStrictEqual(dropped, [])
      }
      assert.strictEqual(translate("chat", "messages", body, { maxOutputTokens: 8_000 }).body["max_tokens"], 8_000)
    }
    assert.isTrue(Either.isRight(codecs.responses.checkEnvelope({ model: "m", input: "a", max_output_tokens: -1 })))
    for (const wrong of [0, -2, 1.5, "9"])
      assert.isTrue(Either.isLeft(codecs.chat.checkEnvelope(chatBody({ max_tokens: wrong }))), String(wrong))
  })

  it("is the lower of what was asked and what the model can", () => {
    const sent = (asked: number, most: number | null) =>
      (["responses", "gemini", "ollama", "messages"] as const).map((wire) => {
        const { body, mapped } = translate("chat", wire, chatBody({ max_tokens: asked }), { maxOutputTokens: most })
        const limits = [
          body["max_output_tokens"],
          (body["generationConfig"] as JsonObject | undefined)?.["maxOutputTokens"],
          (body["options"] as JsonObject | undefined)?.["num_predict"],
          body["max_tokens"]
        ]
        return [limits.find((limit) => limit !== undefined), mapped.join()]
      })
    assert.deepStrictEqual(
      sent(9_000, 4_096),
      Array.from({ length: 4 }, () => [4_096, "max_tokens"])
    )
    assert.deepStrictEqual(
      sent(1_000, 4_096),
      Array.from({ length: 4 }, () => [1_000, ""])
    )
    assert.deepStrictEqual(
      sent(9_000, null),
      Array.from({ length: 4 }, () => [9_000, ""])
    )
    const body = messagesBody({ max_tokens: 9_000 })
    assert.strictEqual(translate("messages", "chat", body, { maxOutputTokens: 4_096 }).body["max_tokens"], 4_096)
    // Its own wire's client decides.
    assert.strictEqual(
      translate("chat", "chat", chatBody({ max_tokens: 9_000 }), { maxOutputTokens: 10 }).body["max_tokens"],
      9_000
    )
  })
})

describe("a picture", () => {
  it("has the type that its first bytes prove", () => {
    const picture = (url: string) =>
      chatBody({ messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] })
    const typeOf = (url: string): unknown => {
      const { body } = translate("chat", "messages", picture(url), { maxOutputTokens: 9 })
      const [turn] = body["messages"] as ReadonlyArray<{ content: ReadonlyArray<{ source: JsonObject }> }>
      return turn?.content[0]?.source["media_type"]
    }
    assert.strictEqual(typeOf(`data:image/jpeg;base64,${png}`), "image/png")
    assert.strictEqual(typeOf(`data:image/png;base64,${jpeg}`), "image/jpeg")
    assert.strictEqual(typeOf(`data:;base64,${png}`), "image/png")
    assert.strictEqual(typeOf("data:image/webp;base64,AAAA"), "image/webp")
  })

  it("in a tool's result, too", () => {
    const { body } = translate(
      "messages",
      "gemini",
      messagesBody({
        messages: [
          { role: "user", content: "Hi" },
          { role: "assistant", content: [{ type: "tool_use", id: "t", name: "shot", input: {} }] },
          {
            role: "user",
            content: [
              {
                type: "tool_result",
                tool_use_id: "t",
                content: [{ type: "image", source: { type: "base64", media_type: "image/jpeg", data: png } }]
              }
            ]
          }
        ]
      })
    )
    assert.include(JSON.stringify(body), '"mimeType":"image/png"')
  })

  it("or a file without a type is data all the same", () => {
    assert.deepStrictEqual(mediaOfUrl(`data:;base64,${png}`), { kind: "base64", mediaType: "image/png", data: png })
    const pdf = Buffer.from("%PDF-1.4\n").toString("base64")
    assert.deepInclude(mediaOfUrl(`data:;base64,${pdf}`), { mediaType: "application/pdf" })
    assert.deepInclude(mediaOfUrl("data:;charset=utf-8;base64,aGk="), { mediaType: "text/plain" })
  })
})

describe("a film", () => {
  const film = (url: string) =>
    chatBody({
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is it?" },
            { type: "video_url", video_url: { url } }
          ]
        }
      ]
    })

  it("reaches Gemini as data, as a link, and from YouTube", () => {
    const part = (url: string): JsonObject | undefined => {
      const { body, dropped } = translate("chat", "gemini", film(url))
      assert.deepStrictEqual(dropped, [])
      return (body["contents"] as ReadonlyArray<{ parts: ReadonlyArray<JsonObject> }>)[0]?.parts[1]
    }
    assert.deepStrictEqual(part("data:video/mp4;base64,AAAA"), { inlineData: { mimeType: "video/mp4", data: "AAAA" } })
    assert.deepStrictEqual(part("https://x.test/a.mp4"), {
      fileData: { mimeType: "video/mp4", fileUri: "https://x.test/a.mp4" }
    })
    assert.deepInclude(part("https://youtu.be/abc"), { fileData: { fileUri: "https://youtu.be/abc" } })
  })

  it("stays on its own wire, and has no place on the others", () => {
    const body = film("https://x.test/a.mp4")
    assert.deepStrictEqual(translate("chat", "chat", body).body["messages"], body["messages"])
    for (const wire of ["messages", "responses", "ollama"] as const) {
      const result = translateRequest(codecs.chat, codecs[wire], body, { ...options, maxOutputTokens: 9 })
      assert.strictEqual(Either.isLeft(result) ? result.left.param : null, "messages.content.video_url", wire)
    }
  })
})
