import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { familyOf } from "../../../src/plane/tokens/Family.ts"
import { imageSizeOf } from "../../../src/plane/tokens/ImageSize.ts"
import { reckon, totalOf } from "../../../src/plane/tokens/TokenEstimate.ts"
import type { Conversation } from "../../../src/wire/canonical/Conversation.ts"
import { codecs } from "../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"

const base64 = (bytes: Buffer): string => bytes.toString("base64")

const png = (width: number, height: number): string => {
  const bytes = Buffer.alloc(64)
  bytes.write("\u0089PNG\r\n\u001a\n", "latin1")
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return base64(bytes)
}

const gif = (width: number, height: number): string => {
  const bytes = Buffer.alloc(64)
  bytes.write("GIF89a", "latin1")
  bytes.writeUInt16LE(width, 6)
  bytes.writeUInt16LE(height, 8)
  return base64(bytes)
}

/** A JPEG with a long segment and fill bytes in front of its size. */
const jpeg = (width: number, height: number): string => {
  const preview = Buffer.alloc(60_002, 1)
  preview.writeUInt16BE(60_002, 0)
  const frame = Buffer.from([0xff, 0xff, 0xc2, 0, 17, 8, height >> 8, height & 255, width >> 8, width & 255, 3])
  return base64(Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe1]), preview, frame, Buffer.alloc(32)]))
}

const webp = (kind: "VP8 " | "VP8L" | "VP8X", write: (bytes: Buffer) => void): string => {
  const bytes = Buffer.alloc(64)
  bytes.write("RIFF", 0, "latin1")
  bytes.write(`WEBP${kind}`, 8, "latin1")
  write(bytes)
  return base64(bytes)
}

describe("picture sizes", () => {
  const pictures: Readonly<Record<string, string>> = {
    png: png(300, 200),
    gif: gif(300, 200),
    jpeg: jpeg(300, 200),
    "lossy webp": webp("VP8 ", (bytes) => {
      bytes.writeUInt16LE(300, 26)
      bytes.writeUInt16LE(200, 28)
    }),
    "lossless webp": webp("VP8L", (bytes) => void bytes.writeUInt32LE(299 | (199 << 14), 21)),
    "extended webp": webp("VP8X", (bytes) => {
      bytes.writeUIntLE(299, 24, 3)
      bytes.writeUIntLE(199, 27, 3)
    })
  }
  for (const [name, data] of Object.entries(pictures)) {
    it(`of a ${name}`, () => assert.deepStrictEqual(imageSizeOf(data), { width: 300, height: 200 }))
  }

  it("unknown, cut and empty headers have none", () => {
    assert.isNull(imageSizeOf(""))
    assert.isNull(imageSizeOf("not base64 at all"))
    assert.isNull(imageSizeOf(base64(Buffer.alloc(64))))
    assert.isNull(imageSizeOf(png(300, 200).slice(0, 24)))
    assert.isNull(imageSizeOf(png(0, 200)))
    assert.isNull(imageSizeOf(base64(Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0]), Buffer.alloc(64)]))))
  })
})

describe("families", () => {
  it("depend on the model's name, whatever the provider", () => {
    assert.isAbove(familyOf("anthropic/claude-sonnet-4-6").factor, 1)
    assert.strictEqual(familyOf("gpt-5.4").factor, 1)
    assert.strictEqual(familyOf("google/gemini-2.5-pro").perPage, 258)
  })

  it("count pictures by their makers' rules", () => {
    const { image: claude } = familyOf("claude-opus-4-8")
    assert.strictEqual(claude({ width: 1000, height: 750 }, null), 1_000)
    assert.strictEqual(claude({ width: 8000, height: 6000 }, null), 1_600)
    assert.strictEqual(claude(null, null), 1_600)
    const { image: gpt } = familyOf("gpt-4.1")
    assert.strictEqual(gpt({ width: 1024, height: 1024 }, null), 765)
    assert.strictEqual(gpt({ width: 2048, height: 4096 }, "high"), 1_105)
    assert.strictEqual(gpt({ width: 4096, height: 8192 }, "low"), 85)
    const { image: gemini } = familyOf("gemini-2.5-flash")
    assert.strictEqual(gemini({ width: 384, height: 384 }, null), 258)
    assert.strictEqual(gemini({ width: 960, height: 540 }, null), 516)
  })
})

const decoded = (body: JsonObject): Conversation =>
  Either.getOrThrow(codecs.messages.decodeRequest({ model: "m", max_tokens: 9, ...body }))

describe("reckoning", () => {
  const gpt = familyOf("gpt-4.1")

  it("takes in system, messages, tools, calls and results", () => {
    const { fixed, texts } = reckon(
      decoded({
        system: "Be brief.",
        tools: [{ name: "read", description: "Reads a file", input_schema: { type: "object", properties: {} } }],
        messages: [
          { role: "user", content: "Look" },
          { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "read", input: { path: "a.txt" } }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "contents of a" }] }
        ]
      }),
      gpt
    )
    const all = texts.join("\n")
    for (const text of ["Be brief.", "Reads a file", "Look", '{"path":"a.txt"}', "contents of a"]) {
      assert.include(all, text)
    }
    assert.strictEqual(fixed, 4 * gpt.perMessage)
  })

  it("counts pictures by their size, also those in tool results", () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: png(1024, 1024) } }
    const { fixed, texts } = reckon(
      decoded({
        messages: [
          { role: "user", content: [image] },
          { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "shot", input: {} }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: [image] }] }
        ]
      }),
      gpt
    )
    assert.strictEqual(fixed, 2 * 765 + 3 * gpt.perMessage)
    assert.isFalse(texts.some((text) => text.includes(png(1024, 1024))))
  })

  it("a document counts by its pages, a text file by its text", () => {
    const file = (source: JsonObject) => ({ messages: [{ role: "user", content: [{ type: "document", source }] }] })
    const pdf = "A".repeat(400_000)
    const paged = reckon(decoded(file({ type: "base64", media_type: "application/pdf", data: pdf })), gpt)
    assert.strictEqual(paged.fixed, 4 * gpt.perPage + gpt.perMessage)
    const told = reckon(decoded(file({ type: "text", media_type: "text/plain", data: "some text" })), gpt)
    assert.deepStrictEqual(told.texts, ["some text"])
  })

  it("Claude's reasoning of finished turns is no input, that of the running turn is", () => {
    const thinking = (text: string) => ({ type: "thinking", thinking: text, signature: "s" })
    const conversation = decoded({
      messages: [
        { role: "user", content: "One" },
        { role: "assistant", content: [thinking("old"), { type: "text", text: "First" }] },
        { role: "user", content: "Two" },
        { role: "assistant", content: [thinking("new"), { type: "tool_use", id: "t", name: "f", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "done" }] }
      ]
    })
    const { texts } = reckon(conversation, familyOf("claude-sonnet-4-6"))
    assert.include(texts, "new")
    assert.notInclude(texts, "old")
    assert.include(reckon(conversation, gpt).texts, "old")
  })

  it("the total scales the text alone and is never zero", () => {
    const claude = familyOf("claude-sonnet-4-6")
    assert.strictEqual(totalOf(100, { texts: [], fixed: 7 }, claude), 127)
    assert.strictEqual(totalOf(0, { texts: [], fixed: 0 }, claude), 1)
  })
})
