/** Which pages an answer names, and where. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { citationsOf } from "../../../../../src/plane/features/websearch/Cited.ts"

const hit = (url: string, snippet = "") => ({ url, title: "T", snippet, pageAge: null })
const wordsOf = (text: string, ...urls: ReadonlyArray<string>) =>
  citationsOf(
    text,
    urls.map((url) => hit(url))
  ).map(({ link }) => text.slice(link?.start ?? 0, link?.end ?? 0))

describe("links of an answer", () => {
  it("are the addresses of pages that were found, with the words of a Markdown link", () => {
    const [one, two] = ["https://a.test/x", "https://b.test/y"]
    assert.deepEqual(wordsOf(`See ${one}, and [the other](${two}).`, one, two), [one, `[the other](${two})`])
    assert.deepEqual(wordsOf(`(${one})`, one), [one])
  })

  it("are not those of longer addresses", () => {
    assert.deepEqual(wordsOf("https://a.test/xy and https://a.test/x.", "https://a.test/x"), ["https://a.test/x"])
  })

  it("are all pages, for all of the text, where it names none; and none where there is no text or page", () => {
    assert.deepEqual(wordsOf("Text.", "https://a.test/", "https://b.test/"), ["Text.", "Text."])
    assert.deepEqual(wordsOf(" ", "https://a.test/"), [])
    assert.deepEqual(wordsOf("Text."), [])
  })

  it("lie within the text, in their order, and are bounded", () => {
    const words = FastCheck.array(
      FastCheck.constantFrom("https://a.test/x", "https://b.test/", "[", "](", ")", "word", " ", "é🚀"),
      { maxLength: 300 }
    )
    FastCheck.assert(
      FastCheck.property(words, (pieces) => {
        const text = pieces.join("")
        const links = citationsOf(text, [hit("https://a.test/x"), hit("https://b.test/")]).flatMap(
          ({ link }) => link ?? []
        )
        assert.isAtMost(links.length, 50)
        let last = 0
        for (const { end, start } of links) {
          assert.isAtLeast(start ?? -1, last)
          assert.isAbove(end ?? 0, start ?? 0)
          assert.isAtMost(end ?? 0, text.length)
          last = start ?? 0
        }
      })
    )
  })

  it("are found in a long text in time", () => {
    const text = "[".repeat(500_000)
    const hits = Array.from({ length: 100 }, (_, index) => hit(`https://a.test/${index}`))
    const begun = performance.now()
    citationsOf(text, hits)
    assert.isBelow(performance.now() - begun, 2_000)
  })
})
