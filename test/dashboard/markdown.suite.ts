/** The Markdown of models' answers as a tree: what it reads, and that hostile texts neither break it, nor lead anywhere, nor hold it up. */
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { type Block, blocksOf } from "../../src/dashboard/ui/markdown/blocks.ts"
import { type Inline, inlinesOf, linkOf, plainOf } from "../../src/dashboard/ui/markdown/inline.ts"
import { piecesOf } from "../../src/dashboard/ui/pieces.ts"

const inlinesIn = (blocks: ReadonlyArray<Block>): ReadonlyArray<Inline> =>
  blocks.flatMap((block): ReadonlyArray<Inline> => {
    switch (block._tag) {
      case "Paragraph":
      case "Heading":
        return block.inlines
      case "Quote":
        return inlinesIn(block.blocks)
      case "List":
        return block.items.flatMap((item) => inlinesIn(item.blocks))
      case "Table":
        return [...block.head, ...block.rows.flat()].flat()
      case "Code":
        return [{ _tag: "Code", text: block.text }]
      case "Rule":
        return []
    }
  })

const flat = (inlines: ReadonlyArray<Inline>): ReadonlyArray<Inline> =>
  inlines.flatMap((inline) => ("inlines" in inline ? [inline, ...flat(inline.inlines)] : [inline]))

const depthOf = (blocks: ReadonlyArray<Block>): number =>
  Math.max(
    0,
    ...blocks.map((block) => {
      if (block._tag === "Quote") return 1 + depthOf(block.blocks)
      return block._tag === "List" ? 1 + Math.max(...block.items.map((item) => depthOf(item.blocks))) : 0
    })
  )

const pieces = [
  "*",
  "**",
  "_",
  "__",
  "~~",
  "`",
  "```",
  "[",
  "]",
  "(",
  ")",
  "![",
  "](",
  "<",
  ">",
  "\\",
  "|",
  "---",
  "#",
  "- ",
  "1. ",
  "> ",
  "\n",
  "\n\n",
  " ",
  "a",
  "ß",
  "\u202e",
  "\u0000",
  "http://",
  "https://a.example/",
  "javascript:alert(1)",
  "<script>",
  "data:text/html,x",
  "[x](javascript:alert(1))",
  "![p](https://evil.example/?q=1)",
  "😀",
  "\ud83d"
] as const

const hostile = fc.array(fc.constantFrom(...pieces), { maxLength: 400 }).map((parts) => parts.join(""))

describe("the Markdown of answers", () => {
  it("reads blocks and marks", () => {
    const blocks = blocksOf(
      "# Title\nA *b* **c** `d*` ~~e~~\n\n- one\n  - two\n- three\n\n3. x\n\n> q\n\n```ts\n<b>1</b>\n```\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\n---"
    )
    assert.deepStrictEqual(
      blocks.map(({ _tag }) => _tag),
      ["Heading", "Paragraph", "List", "List", "Quote", "Code", "Table", "Rule"]
    )
    assert.deepStrictEqual(
      flat(inlinesIn(blocks.slice(1, 2))).map(({ _tag }) => _tag),
      ["Text", "Stress", "Text", "Text", "Strong", "Text", "Text", "Code", "Text", "Struck", "Text"]
    )
    const [, , list, numbered, , code] = blocks
    assert.isTrue(list?._tag === "List" && list.items.length === 2 && list.items[0]?.blocks[1]?._tag === "List")
    assert.isTrue(numbered?._tag === "List" && numbered.isOrdered && numbered.start === 3)
    assert.deepStrictEqual(code, { _tag: "Code", language: "ts", text: "<b>1</b>", isOpen: false })
  })

  it("keeps what has no partner as it is written", () => {
    for (const text of ["2 * 3 * 4", "a_b_c", "**open", "[x]", "[x](y)", "`", "snake_case_name and __init__x"]) {
      assert.strictEqual(plainOf(inlinesOf(text)), text)
    }
    assert.strictEqual(plainOf(inlinesOf("\\*a\\*")), "*a*")
  })

  it("follows http and https only, and tells the host that the browser would ask", () => {
    for (const text of [
      "javascript:alert(1)",
      "JaVaScRiPt:alert(1)",
      "data:text/html,<script>",
      "vbscript:x",
      "file:///etc/passwd",
      "//evil.example",
      "/dashboard",
      "http:evil.example",
      "https://user:pw@evil.example/",
      "https://good.example@evil.example/",
      "https://a\u202eb.example",
      "https://",
      "http://\u0000",
      " https://a.example",
      "blob:https://a.example/x",
      `https://a.example/${"x".repeat(3_000)}`
    ]) {
      assert.isNull(linkOf(text), text)
    }
    assert.strictEqual(linkOf("https://аpple.example/")?.host, "xn--pple-43d.example")
    assert.strictEqual(linkOf("HTTP://A.example:8080/x?y#z")?.host, "a.example:8080")
    const [link] = inlinesOf("[https://bank.example](https://evil.example/x)")
    assert.isTrue(link?._tag === "Link" && link.host === "evil.example")
    const [picture] = inlinesOf("![secret](https://evil.example/?q=secret)")
    assert.deepStrictEqual(picture, { _tag: "Picture", text: "secret", url: "https://evil.example/?q=secret" })
  })

  it("reads every text: links are http(s), depth is bounded, no letter is made up", () => {
    fc.assert(
      fc.property(fc.oneof(hostile, fc.string({ unit: "binary", maxLength: 500 })), (text) => {
        const blocks = blocksOf(text)
        const inlines = flat(inlinesIn(blocks))
        for (const inline of inlines) {
          if (inline._tag === "Link" || inline._tag === "Picture") {
            assert.match(inline.url, /^https?:\/\/[^/\s]/)
            assert.isNotNull(linkOf(inline.url))
          }
          if (inline._tag === "Link") {
            assert.strictEqual(new URL(inline.url).host, inline.host)
            assert.isFalse(
              flat(inline.inlines).some(({ _tag }) => _tag === "Link"),
              "a link in a link"
            )
          }
        }
        assert.isAtMost(depthOf(blocks), 7)
        assert.isAtMost(plainOf(inlinesIn(blocks)).length, text.length)
      }),
      { numRuns: 1_000, seed: 45 }
    )
  })

  it("takes no longer for hostile texts than in proportion to their length", () => {
    const length = 200_000
    for (const part of [
      ...pieces,
      "[](",
      "[](http://",
      "http://@",
      "*a ",
      "**a*",
      "a_",
      "[![",
      "`` ` ",
      "> > ",
      "- - ",
      "- a\n",
      "|-",
      "|a|\n|-|\n",
      " ",
      "\t",
      "-",
      "| ",
      "1. a\n\n",
      "[a](https://a.example/ "
    ]) {
      const text = part.repeat(Math.ceil(length / part.length)).slice(0, length)
      const began = performance.now()
      blocksOf(text)
      assert.isBelow(performance.now() - began, 1_500, JSON.stringify(part))
      const padded = `-${text}x`
      blocksOf(`a|b\n${padded}`)
      assert.isBelow(performance.now() - began, 3_000, JSON.stringify(part))
    }
  })
})

describe("a long text", () => {
  it("is cut into pieces of which all together are the text, and no letter is cut in two", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 400 }), fc.integer({ min: 1, max: 50 }), (text, most) => {
        const cut = piecesOf(text, most)
        assert.strictEqual(cut.join(""), text)
        for (const piece of cut) assert.isAtMost(piece.length, most + 1)
        if (most > 1) {
          for (const piece of cut) assert.notMatch(piece, /[\ud800-\udbff]$/)
        }
      }),
      { numRuns: 500, seed: 45 }
    )
  })
})
