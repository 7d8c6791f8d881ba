/** Pure parts of the playground and the inspector: requests of endpoints, answers, differences of texts, filters, places in a tall list. */
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { offsetsOf, rowAt } from "../../src/dashboard/ui/lists/tallRows.ts"
import { textDiff } from "../../src/dashboard/ui/merge/textDiff.ts"
import { readFilter } from "../../src/dashboard/views/inspector/filter.ts"
import { emptyDraft, paramsOfPreset } from "../../src/dashboard/views/playground/draft.ts"
import { askedOf, endpoints, WrongField } from "../../src/dashboard/views/playground/endpoints.ts"
import { costOf, idle, tokensPerSecond } from "../../src/dashboard/views/playground/estimates.ts"
import { outcomeOf, typeOf, usageOf } from "../../src/dashboard/views/playground/outcome.ts"

describe("the difference of two texts", () => {
  it("gives back both of them, whatever they are", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.array(fc.constantFrom("a", "b", " ", "\n", "word "), { maxLength: 200 }).map((parts) => parts.join(""))
    )
    fc.assert(
      fc.property(text, text, (before, after) => {
        const parts = textDiff(before, after)
        const without = (kind: string) => parts.flatMap((part) => (part.kind === kind ? [] : [part.text])).join("")
        assert.strictEqual(without("added"), before)
        assert.strictEqual(without("removed"), after)
      }),
      { numRuns: 1_000, seed: 45 }
    )
  })

  it("is the shortest for one changed word, and bounded for texts that share nothing", () => {
    assert.deepStrictEqual(textDiff("a b c", "a x c"), [
      { kind: "same", text: "a " },
      { kind: "removed", text: "b" },
      { kind: "added", text: "x" },
      { kind: "same", text: " c" }
    ])
    const began = performance.now()
    textDiff("one ".repeat(100_000), "two ".repeat(100_000))
    textDiff(
      Array.from({ length: 9_000 }, (_, n) => `a${n}`).join(" "),
      Array.from({ length: 9_000 }, (_, n) => `b${n}`).join(" ")
    )
    assert.isBelow(performance.now() - began, 10_000)
  })
})

describe("the filter of captured requests", () => {
  it("reads what has a name, searches for the rest, and names what it does not understand", () => {
    assert.deepStrictEqual(readFilter("status:5xx host:a.example time out http://x context:5f2a"), {
      query: { status: "5xx", host: "a.example", contextKey: "5f2a", q: "time out http://x" },
      wrong: []
    })
    assert.deepStrictEqual(readFilter("status:teapot pid:x host: constructor:x").wrong, [
      "status:teapot",
      "pid:x",
      "host:"
    ])
  })
})

describe("a list of rows of different heights", () => {
  it("finds the row at a place", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 200 }),
        fc.nat(),
        (heights, seed) => {
          const offsets = offsetsOf(heights)
          const place = seed % (offsets.at(-1) ?? 1)
          const row = rowAt(offsets, place)
          assert.isAtMost(offsets[row] ?? Infinity, place)
          assert.isAbove(offsets[row + 1] ?? -1, place)
        }
      ),
      { numRuns: 500, seed: 45 }
    )
  })
})

describe("questions of the ten endpoints", () => {
  const draft = { ...emptyDraft("one\ntwo"), documents: "a\n\n b ", system: "S", file: new File(["x"], "x.mp3") }

  it("go to the path of each, with what it takes", () => {
    const paths = endpoints.map((endpoint) => askedOf(endpoint, "m", draft).path)
    assert.deepStrictEqual(paths, [
      "v1/chat/completions",
      "v1/completions",
      "v1/embeddings",
      "v1/images/generations",
      "v1/music/generations",
      "v1/audio/speech",
      "v1/audio/transcriptions",
      "v1/moderations",
      "v1/rerank",
      "v1/search"
    ])
    assert.deepStrictEqual(askedOf("embeddings", "m", draft).body, { model: "m", input: ["one", "two"] })
    assert.deepStrictEqual(askedOf("rerank", "m", draft).body, { model: "m", query: "one\ntwo", documents: ["a", "b"] })
    assert.deepStrictEqual(askedOf("search", "tavily", draft).body, { query: "one\ntwo", provider: "tavily" })
    assert.isNotNull(askedOf("transcriptions", "m", draft).file)
    const withParams = { ...draft, params: { ...draft.params, temperature: "0.5", seed: "x", stop: "A\nB" } }
    assert.include(askedOf("completions", "m", withParams).body, { temperature: 0.5 })
    assert.notProperty(askedOf("completions", "m", withParams).body, "seed")
  })

  it("are refused by the field that is wrong", () => {
    for (const [name, change] of [
      ["tools", { tools: "{}" }],
      ["tools", { tools: "[" }],
      ["schema", { schema: "[1]" }]
    ] as const) {
      try {
        askedOf("chat", "m", { ...draft, ...change })
        assert.fail(name)
      } catch (error) {
        assert.isTrue(error instanceof WrongField && error.field === name)
      }
    }
    assert.throws(() => askedOf("transcriptions", "m", { ...draft, file: null }), WrongField)
  })

  it("take the parameters of a preset, and nothing of one that is broken", () => {
    assert.deepInclude(paramsOfPreset('{"temperature":0.2,"stop":["A","B"],"x":1}'), {
      temperature: "0.2",
      stop: "A\nB"
    })
    assert.strictEqual(paramsOfPreset("{").temperature, "")
  })
})

describe("estimates", () => {
  it("are of the stream after its first token; of an answer that came at once, of the whole time", () => {
    const run = { ...idle, firstMs: 100, wholeMs: 1_100, pieces: 3, tokensOut: 101 }
    assert.strictEqual(tokensPerSecond(run), 100)
    assert.strictEqual(tokensPerSecond({ ...run, pieces: 1, firstMs: 999, wholeMs: 1_000, tokensOut: 50 }), 50)
    assert.isNull(tokensPerSecond({ ...run, firstMs: null }))
    assert.strictEqual(costOf({ tokensIn: 1_000_000, tokensOut: 500_000 }, { input: 2, output: 4 }), 4)
    assert.isNull(costOf({ tokensIn: 1, tokensOut: 1 }, null))
  })
})

describe("answers", () => {
  it("are read whatever they are", () => {
    fc.assert(
      fc.property(fc.constantFrom(...endpoints), fc.jsonValue({ maxDepth: 4 }), (endpoint, value) => {
        assert.isString(outcomeOf(endpoint, value)._tag)
        usageOf(value)
      }),
      { numRuns: 500, seed: 45 }
    )
  })

  it("lead to http and https only, and bytes are what they begin with", () => {
    const found = outcomeOf("search", {
      results: [
        { title: "x", url: "javascript:alert(1)" },
        { title: "y", url: "https://a.example/" }
      ]
    })
    assert.deepStrictEqual(found._tag === "Hits" ? found.hits.map(({ host }) => host) : [], [null, "a.example"])
    assert.strictEqual(typeOf(new Uint8Array([0x89, 0x50, 0x4e, 0x47])), "image/png")
    assert.strictEqual(typeOf(new TextEncoder().encode("<svg onload=alert(1)>")), "application/octet-stream")
  })
})
