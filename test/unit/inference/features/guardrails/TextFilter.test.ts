import { assert, describe, it } from "@effect/vitest"
import { draft, type Piece, type Reading } from "../../../../../src/plane/features/guardrails/answers/Reading.ts"
import { makeTextFilter } from "../../../../../src/plane/features/guardrails/answers/TextFilter.ts"
import { testGuard } from "../../../../support/PersonalData.ts"

const piece = (channel: string, text: string, form: Piece["form"] = "text"): Reading => ({
  ...draft(),
  pieces: [{ channel, path: ["t"], text, form }]
})

const call: Reading = { ...draft(), calls: [{ name: "f", path: null }] }

const setUp = (limits: { readonly maxWaiting?: number; readonly maxWaitingBytes?: number } = {}) => {
  const left: Array<string> = []
  let found = 0
  const filter = makeTextFilter<string>({
    guard: testGuard,
    found: () => (found += 1),
    release: (item, edits) => void left.push([item, ...edits.map(({ json }) => json)].join(" ")),
    ...limits
  })
  return { filter, left, found: () => found }
}

describe("a text filter", () => {
  it("waits no longer for reasoning once the answer begins", () => {
    const { filter, left } = setUp()
    filter.add("thought", piece("c0/reasoning", "so wor"), 1)
    assert.deepStrictEqual(left, [])
    filter.add("word", piece("c0/content", "Hello "), 1)
    assert.deepStrictEqual(left, ["thought", "word"])
  })

  it("does not wait for two that speak at once, each in its own pieces", () => {
    const { filter, left } = setUp()
    const both = (one: string, other: string): Reading => ({
      ...draft(),
      pieces: [
        { channel: "c0/reasoning", path: ["a"], text: one, form: "text" },
        { channel: "c0/details", path: ["b"], text: other, form: "text" }
      ]
    })
    filter.add("1", both("john.doe@", "john.doe@"), 1)
    filter.add("2", both("example.com ", "example.com "), 1)
    assert.deepStrictEqual(left, ['1 "[EMAIL_REDACTED]" "[EMAIL_REDACTED]"', '2 " " " "'])
  })

  it("waits for one answer of several only with its own next words", () => {
    const { filter, left } = setUp()
    filter.add("a", piece("c0/content", "john.doe@"), 1)
    filter.add("b", piece("c1/content", "Hello "), 1)
    assert.deepStrictEqual(left, [])
    filter.add("c", piece("c0/content", "example.com "), 1)
    assert.deepStrictEqual(left, ['a "[EMAIL_REDACTED]"', "b", 'c " "'])
  })

  it("lets text go when a tool is called, and still replaces what it can when the text goes on", () => {
    const { filter, left } = setUp()
    filter.add("a", piece("c0/content", "john.doe@"), 1)
    filter.add("call", call, 1)
    assert.deepStrictEqual(left, ["a", "call"])
    filter.add("b", piece("c0/content", "example.com "), 1)
    assert.deepStrictEqual(left.slice(2), ['b "[EMAIL_REDACTED] "'])
  })

  it("waits for arguments of calls that are written at once", () => {
    const { filter, left } = setUp()
    filter.add("1", piece("c0/call0", '{"to":"john.', "arguments"), 1)
    filter.add("2", piece("c0/call1", '{"to":"x"}', "arguments"), 1)
    assert.deepStrictEqual(left, [])
    filter.add("3", piece("c0/call0", 'doe@example.com"}', "arguments"), 1)
    assert.deepStrictEqual(left, ['1 "{\\"to\\":\\"[EMAIL_REDACTED]"', "2", '3 "\\"}"'])
  })

  it("ends a text with its block, and begins the next one anew", () => {
    const { filter, left } = setUp()
    filter.add("1", { ...piece("b0/text", "john.doe@"), ends: ["b0"] }, 1)
    assert.deepStrictEqual(left, ["1"])
    filter.add("2", { ...piece("b0/text", "example.com"), ends: ["b0"] }, 1)
    assert.deepStrictEqual(left, ["1", "2"])
  })

  it("keeps no more than its limits", () => {
    for (const limits of [{ maxWaiting: 3 }, { maxWaitingBytes: 30 }]) {
      const { filter, left } = setUp(limits)
      filter.add("held", piece("c0/content", "john"), 10)
      for (let at = 0; at < 3; at += 1) filter.add(`other ${at}`, null, 10)
      assert.strictEqual(filter.waiting(), 0)
      assert.lengthOf(left, 4)
    }
  })

  it("keeps an escape whole that was let go in its middle", () => {
    const { filter, left } = setUp({ maxWaiting: 1 })
    filter.add("1", piece("c0/call0", '{"to":"\\u00', "arguments"), 1)
    filter.add("2", null, 1)
    filter.add("3", piece("c0/call0", '6aohn.doe@example.com"}', "arguments"), 1)
    filter.flush()
    assert.deepStrictEqual(left.slice(0, 2), ["1", "2"])
    const [, edit = ""] = left[2]?.split("3 ") ?? []
    assert.strictEqual(JSON.parse(edit), '6a[EMAIL_REDACTED]"}')
  })
})
