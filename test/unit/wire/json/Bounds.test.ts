import { assert, describe, it } from "@effect/vitest"
import { readAnswerJson, readForeignJson, Unreadable } from "../../../../src/wire/json/Bounds.ts"
import {
  excessOf,
  maxRequestDepth,
  maxRequestKeys,
  maxRequestValues,
  maxTopMembers
} from "../../../../src/wire/json/Excess.ts"
import { type Json, parseJson } from "../../../../src/wire/json/Json.ts"

const nested = (levels: number, open = "[", close = "]", inner = ""): string =>
  open.repeat(levels) + inner + close.repeat(levels)
const members = (count: number): string => `{${Array.from({ length: count }, (_, index) => `"k${index}":0`).join(",")}}`

/** What a text of at least this many characters is read like: it is looked at before it is parsed. */
const long = `"${"a".repeat(70_000)}"`

describe("excessOf", () => {
  it.each<[string, string, ReturnType<typeof excessOf>]>([
    ["the deepest array", nested(maxRequestDepth), null],
    ["one level more", nested(maxRequestDepth + 1), "depth"],
    ["the deepest object", nested(maxRequestDepth, '{"a":', "}", "0"), null],
    ["one object more", nested(maxRequestDepth + 1, '{"a":', "}", "0"), "depth"],
    ["levels that never close", "[".repeat(20_000), "depth"],
    ["brackets one after the other", `[${"[],".repeat(20_000)}[]]`, null],
    ["brackets in a text", JSON.stringify("[".repeat(20_000)), null],
    ["brackets in a text behind escaped quotes", JSON.stringify({ a: `\\"${"[".repeat(1000)}"\\` }), null],
    ["brackets behind a text that ends in a backslash", `["\\\\"${`,${nested(300)}`}]`, "depth"],
    ["as many keys as may be", members(maxRequestKeys), null],
    ["one key more", members(maxRequestKeys + 1), "keys"],
    ["as many values as may be", `[${"{},".repeat(maxRequestValues / 2 - 1)}1]`, null],
    ["one list more", `[${"{},".repeat(maxRequestValues / 2 - 1)}[[]]]`, "values"],
    ["one item more", `[${"0,".repeat(maxRequestValues)}0]`, "values"],
    ["commas in a text", JSON.stringify(",".repeat(maxRequestValues + 1)), null],
    ["colons in a text", JSON.stringify(":".repeat(maxRequestKeys + 1)), null],
    ["a text that does not end", `"${":".repeat(maxRequestKeys + 1)}`, null]
  ])("%s", (_, text, expected) => assert.strictEqual(excessOf(text), expected))
})

describe("readForeignJson", () => {
  const message = (text: string): string => {
    const read = readForeignJson(text)
    return read instanceof Unreadable ? read.message : "read"
  }

  for (const [size, wrapped] of [
    ["short", (text: string) => text],
    ["long", (text: string) => `[${long},${text}]`]
  ] as const) {
    const room = size === "long" ? 1 : 0
    it(`${size} texts: reads up to the depth, and names the limit beyond`, () => {
      assert.strictEqual(message(wrapped(nested(maxRequestDepth - room))), "read")
      assert.include(message(wrapped(nested(maxRequestDepth + 1))), "200 levels")
      assert.include(message(wrapped(nested(20_000))), "200 levels")
      assert.include(message(wrapped('{"a":')), "not valid JSON")
    })
  }

  it.each<[string, string, string | null]>([
    ["at the top", '{"a":1,"a":2}', "a"],
    ["with the same value", '{"a":1,"b":[],"a":1}', "a"],
    ["below", '{"m":[{"x":1},{"role":"user","role":"system"}]}', "m.1.role"],
    ["written with an escape", '{"model":1,"mod\\u0065l":2}', "model"],
    ["around a nested object of the same name", '{"a":{"a":{"a":1}}}', null],
    ["in two objects", '[{"a":1},{"a":2}]', null],
    ["as a value", '{"a":"a","b":"a"}', null],
    ["named __proto__", '{"__proto__":{"x":1},"__proto__":{"x":2}}', "__proto__"],
    ["with an empty name", '{"":1,"":2}', ""],
    ["named like a number", '{"x":{"1":1,"1":2}}', "x.1"],
    [
      "behind a text of colons and quotes",
      '{"t":"\\":{\\"a\\":1,","t2":"\\\\","a":{"b":[{"c":null,"c":null}]}}',
      "a.b.0.c"
    ]
  ])("refuses a member that is repeated %s", (_, text, param) => {
    for (const body of [text, `[${long},${text}]`]) {
      const read = readForeignJson(body)
      if (param === null) assert.notInstanceOf(read, Unreadable)
      else {
        assert.instanceOf(read, Unreadable)
        assert.strictEqual(read.param, body === text ? param : `1.${param}`)
        assert.include(read.message, "is repeated")
      }
    }
  })

  it("leaves repeated members to answers, of which the last counts", () =>
    assert.deepStrictEqual(readAnswerJson('{"a":1,"a":2}'), { a: 2 }))

  it("names the limit of keys", () => {
    assert.strictEqual(message(members(maxRequestKeys)), "read")
    assert.include(message(members(maxRequestKeys + 1)), "100000 keys")
  })

  it("names the limit of fields at the top, of a long text, where there is one", () => {
    const top = (count: number): string => `${members(count).slice(0, -1)},"text":${long}}`
    const read = (text: string): Json | Unreadable => readForeignJson(text, maxTopMembers)
    assert.notInstanceOf(read(top(maxTopMembers - 1)), Unreadable)
    assert.deepStrictEqual(
      read(top(maxTopMembers)),
      new Unreadable(`The JSON has more than ${maxTopMembers} fields at its top level, the limit.`)
    )
    assert.notInstanceOf(read(`{"inner":${top(maxTopMembers)}}`), Unreadable)
    assert.strictEqual(message(top(maxTopMembers)), "read")
  })

  it("is JSON.parse otherwise", () => assert.deepStrictEqual(readForeignJson('{"a":[1,"b"]}'), { a: [1, "b"] }))
})

describe("parseJson", () => {
  it("refuses an upstream's text of more keys than the limit", () => {
    assert.isUndefined(parseJson(members(maxRequestKeys + 1)))
    assert.isObject(parseJson(members(maxRequestKeys)))
  })
})
