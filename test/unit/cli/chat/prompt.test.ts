/** What a prompt names, and what is made of it. */
import { assert, describe, it } from "@effect/vitest"
import { attachmentOf, contentOf } from "../../../../src/cli/commands/use/chat/Content.ts"
import { piecesOf, wholeMention } from "../../../../src/cli/commands/use/chat/Mentions.ts"
import { lastOf, safely } from "../../../../src/cli/commands/use/chat/SafeText.ts"

/** The text with `{…}` around what may be files. */
const marked = (text: string): string =>
  piecesOf(text)
    .map((piece) => (piece._tag === "Text" ? piece.text : `{${piece.paths.join("|")}}`))
    .join("")

describe("files in a prompt", () => {
  const cases: ReadonlyArray<readonly [text: string, marked: string]> = [
    ["no file here", "no file here"],
    ["what is @notes.txt", "what is {notes.txt}"],
    ["is it @a/b.ts?", "is it {a/b.ts?|a/b.ts}"],
    ["(@x.md), @y.md.", "({x.md),|x.md} {y.md.|y.md}"],
    ["@first and @second", "{first} and {second}"],
    ['see @"my notes.txt" now', "see {my notes.txt} now"],
    ["me@example.com", "me@example.com"],
    ["@@alice and @@", "@alice and @"],
    ["a lone @ sign", "a lone @ sign"],
    ["line\n@next.txt\n", "line\n{next.txt}\n"],
    ["@日本.txt", "{日本.txt}"]
  ]
  it.each(cases)("%j", (text, expected) => {
    assert.strictEqual(marked(text), expected)
  })

  it("are words of their own on the command line only when nothing else is in them", () => {
    assert.strictEqual(wholeMention("@a b.txt"), "a b.txt")
    assert.strictEqual(wholeMention("@../x"), "../x")
    for (const word of ["@", "@@x", "x@y", "look at @x"]) assert.isNull(wholeMention(word), word)
  })

  it("are found in linear time", () => {
    const text = "@".repeat(200_000) + " @a".repeat(100_000)
    assert.isAbove(piecesOf(text).length, 100_000)
  })
})

const png = Buffer.from("\u0089PNG\r\n\u001a\nrest", "latin1")

describe("a file for a model", () => {
  it("is an image or text, told by its bytes and not by its name", () => {
    assert.deepInclude(attachmentOf("a.txt", png), { _tag: "Image", mediaType: "image/png" })
    const webp = Buffer.from("RIFF\0\0\0\0WEBPVP8 ", "latin1")
    assert.deepInclude(attachmentOf("a", webp), { _tag: "Image", mediaType: "image/webp" })
    assert.deepStrictEqual(attachmentOf("a.png", Buffer.from("grüße")), { _tag: "Text", name: "a.png", text: "grüße" })
    assert.deepStrictEqual(attachmentOf("a", Buffer.from("\ufeffx")), { _tag: "Text", name: "a", text: "x" })
  })

  it.each([
    ["a program", Buffer.from("\u007fELF\0\0", "latin1")],
    ["a PDF", Buffer.from("%PDF-1.7\n%\u00e2\u00e3\u00cf", "latin1")],
    ["text in UTF-16", Buffer.from("hello", "utf16le")],
    ["sound in a RIFF", Buffer.from("RIFF\0\0\0\0WAVEfmt ", "latin1")]
  ])("is refused when it is %s", (_, bytes) => {
    assert.strictEqual(attachmentOf("x", bytes)._tag, "Unfit")
  })

  it("stands with its name below the prompt, and images as parts behind the text", () => {
    const note = { _tag: "Text" as const, name: 'a"b.txt', text: "one" }
    const image = { _tag: "Image" as const, name: "p.png", mediaType: "image/png", bytes: Buffer.from("abc") }
    assert.strictEqual(contentOf("Read it", []), "Read it")
    assert.strictEqual(contentOf("Read it", [note]), `Read it\n\n<file name="a'b.txt">\none\n</file>`)
    assert.strictEqual(contentOf("", [note]), `<file name="a'b.txt">\none\n</file>`)
    assert.deepStrictEqual(contentOf("Look", [image, note]), [
      { type: "text", text: `Look\n\n<file name="a'b.txt">\none\n</file>` },
      { type: "image_url", image_url: { url: "data:image/png;base64,YWJj" } }
    ])
    assert.deepStrictEqual(contentOf("", [image]), [
      { type: "image_url", image_url: { url: "data:image/png;base64,YWJj" } }
    ])
  })
})

describe("text that comes in pieces", () => {
  const shown = (...pieces: ReadonlyArray<string>): string => {
    let held = ""
    const parts = pieces.map((piece) => {
      const safe = safely(held, piece)
      held = safe.held
      return safe.shown
    })
    return parts.join("") + lastOf(held)
  }

  it("is safe for a terminal wherever it is cut", () => {
    const text = "a\u001b[31mb\r\nc\td\u{1f600}\u202e\u{e0041}\u0007\n"
    const whole = shown(text)
    assert.strictEqual(whole, "a?[31mb\nc\td\u{1f600}???\n")
    for (let at = 0; at <= text.length; at += 1) {
      for (let second = at; second <= text.length; second += 1) {
        assert.strictEqual(shown(text.slice(0, at), text.slice(at, second), text.slice(second)), whole)
      }
    }
    assert.strictEqual(shown("x\r"), "x?")
    assert.strictEqual(shown("x\ud83d"), "x?")
  })
})
