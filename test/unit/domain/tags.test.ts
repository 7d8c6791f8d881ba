/** Tags of requests, as callers give them. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  mostTagChars,
  mostTags,
  mostTagsChars,
  tagsIn,
  tagsOf,
  tagsOfBody,
  tagsOnFile,
  withTags
} from "../../../src/contract/domain/Tags.ts"
import type { BillLine } from "../../../src/subjects/bills/entity.ts"
import { billed, grouped, linesByTag, otherTags, rolledUp, textOf, totalOf } from "../../../src/subjects/bills/rules.ts"

describe("tags of a header", () => {
  it("are kept in one order, each once", () => {
    assert.deepStrictEqual(tagsIn(" project=atlas ,nightly,project=atlas"), { tags: "nightly,project=atlas" })
    assert.deepStrictEqual(tagsOf(tagsOnFile("b, a")), ["a", "b"])
    assert.deepStrictEqual(tagsOf(null), [])
  })

  it.each([
    ["an empty one", ""],
    ["an empty tag", "a,,b"],
    ["a space within", "a b"],
    ["a quote", "a='b'"],
    ["two values", "a=b=c"],
    ["a formula's beginning", "a,@b"],
    ["a value alone", "=b"],
    ["letters beyond ASCII", "projekt=grün"],
    ["control characters", "a\u001b[31m"],
    ["a long name", "a".repeat(mostTagChars + 1)],
    ["a long value", `a=${"b".repeat(mostTagChars + 1)}`],
    ["many tags", Array.from({ length: mostTags + 1 }, (_, n) => `t${n}`).join(",")],
    ["much of all", Array.from({ length: mostTags }, (_, n) => `${n}${"a".repeat(62)}`).join(",")]
  ])("are refused, and not kept: %s", (_, header) => {
    assert.property(tagsIn(header), "problem")
    assert.isNull(tagsOnFile(header))
  })

  it("are read of any text, whatever it is, and what is kept is read as the same again", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: mostTagsChars + 10 }), (header) => {
        const found = tagsIn(header)
        if ("tags" in found) assert.deepStrictEqual(tagsIn(found.tags), found)
      })
    )
  })
})

describe("tags of a body", () => {
  const sources = ["user", "metadata"] as const

  it("are its user and the members of its metadata, as far as they have the form of tags", () => {
    const body = { user: "ada", metadata: { project: "atlas", n: 7, text: "two words", deep: { a: 1 }, "=": "x" } }
    assert.deepStrictEqual(tagsOfBody(body, sources), ["user=ada", "project=atlas", "n=7"])
    assert.deepStrictEqual(tagsOfBody(body, []), [])
    for (const odd of [null, 7, "x", ["a"], {}]) assert.deepStrictEqual(tagsOfBody({ metadata: odd }, sources), [])
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`m${n}`, "x"]))
    assert.lengthOf(tagsOfBody({ metadata: many }, sources), 16)
  })

  it("follow those of the header while there is room, and are never more than a header could say", () => {
    assert.isNull(withTags(null, []))
    assert.strictEqual(withTags("b", ["a", "b"]), "a,b")
    const tag = fc.stringMatching(/^[a-z0-9_]{1,64}=[a-z0-9]{1,64}$/)
    fc.assert(
      fc.property(fc.array(tag, { maxLength: 8 }), fc.array(tag, { maxLength: 20 }), (given, more) => {
        const header = tagsOnFile(given.join(","))
        const all = withTags(header, more)
        if (all !== null) assert.deepStrictEqual(tagsIn(all), { tags: all })
        assert.includeMembers([...tagsOf(all)], [...tagsOf(header)])
      })
    )
  })
})

describe("lines by tag", () => {
  const line = (requests: number): BillLine => ({
    person: "",
    team: "t",
    key: "",
    model: "",
    provider: "",
    requests,
    unpriced: 0,
    tokensIn: 0,
    tokensOut: 0,
    costNanoUsd: requests
  })

  it("have a request in the line of each of its tags, and once in that of the others", () => {
    const lines = linesByTag(
      [
        { line: line(5), tags: ["a", "b"] },
        { line: line(3), tags: ["a"] },
        { line: line(2), tags: ["c", "d"] },
        { line: line(1), tags: [] }
      ],
      2
    )
    assert.deepStrictEqual(
      grouped(billed(lines, {}), ["tag"]).map(({ requests, tag }) => [tag, requests]),
      [
        ["a", 8],
        ["b", 5],
        [otherTags, 2],
        ["", 1]
      ]
    )
    assert.deepStrictEqual(
      grouped(billed([line(1), line(2)], {}), ["team"]).map(({ requests, tag, team }) => [team, tag, requests]),
      [["t", "", 3]]
    )
  })
})

describe("what is billed", () => {
  const line = (team: string, costNanoUsd: number): BillLine => ({
    person: "",
    team,
    key: "",
    model: team,
    provider: "",
    requests: 1,
    unpriced: 0,
    tokensIn: 0,
    tokensOut: 0,
    costNanoUsd
  })
  const lines = [line("a", 100), line("b", 10), line("", 1)]

  it("is the cost times the team's factor, whatever it is summed up by; the cost stays the cost", () => {
    const found = billed(lines, { a: 1.5, b: 0 })
    assert.deepInclude(totalOf(found), { costNanoUsd: 111, billedNanoUsd: 151 })
    const [all] = grouped(found, [])
    assert.deepInclude(all, { team: "", costNanoUsd: 111, billedNanoUsd: 151 })
    assert.deepStrictEqual(
      grouped(found, ["team"]).map(({ billedNanoUsd, team }) => [team, billedNanoUsd]),
      [
        ["a", 150],
        ["b", 0],
        ["", 1]
      ]
    )
  })

  it("counts in the teams above as it is billed to its own, where that is asked for", () => {
    const above: Readonly<Record<string, ReadonlyArray<string>>> = { a: ["top"], b: ["a", "top"] }
    const found = grouped(
      rolledUp(billed(lines, { a: 1.5 }), (team) => above[team] ?? []),
      ["team"]
    )
    assert.deepStrictEqual(
      found.map(({ billedNanoUsd, costNanoUsd, team }) => [team, costNanoUsd, billedNanoUsd]),
      [
        ["a", 110, 160],
        ["top", 110, 160],
        ["b", 10, 10],
        ["", 1, 1]
      ]
    )
  })

  it("is in the text of a report, and a report without factors has the text that it always had", () => {
    const report = { month: "2035-01", timeZone: "UTC", fromMs: 0, untilMs: 1, lines, corrections: [] }
    const names = { person: {}, team: {}, key: {} }
    const plain = textOf({ ...report, names, rates: {} })
    assert.notInclude(plain, "rates")
    assert.match(textOf({ ...report, names, rates: { b: 2, a: 1.5 } }), /"rates":\{"a":1\.5,"b":2\}\}$/)
  })
})
