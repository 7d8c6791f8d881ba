import { isUtf8 } from "node:buffer"
import { assert, describe, it } from "@effect/vitest"
import { maxTopMembers } from "../../../../../src/wire/json/Excess.ts"
import { isObject, type JsonObject } from "../../../../../src/wire/json/Json.ts"
import { readForeignBody } from "../../../../../src/wire/json/LargeBodies.ts"
import { makeReadOutlined, outlineOf } from "../../../../../src/wire/json/outline/Outline.ts"
import { Unreadable } from "../../../../../src/wire/json/Bounds.ts"
import { counted } from "../../../../support/slowRun.ts"
import { brokenOf, jsonOf, makeDraw } from "./Texts.ts"

const read = makeReadOutlined(() => 0x1234_5678_9abc_def0n)
const rules = { list: "content", closed: ["input", "parameters"] }

const whole = (bytes: Buffer): JsonObject | null => {
  const value = readForeignBody(bytes, maxTopMembers)
  return value instanceof Unreadable || !isObject(value) ? null : value
}

const outlined = (text: string): JsonObject => {
  const body = read(Buffer.from(text), rules)
  if (body === null) throw new Error(`was not read: ${text}`)
  return body
}

const namesIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value !== "object" || value === null) return []
  const own = Array.isArray(value) ? [] : Object.keys(value)
  return own.concat(Object.values(value).flatMap(namesIn))
}

/** What is left to other means: bytes that are no UTF-8, and names with escapes or letters beyond ASCII. */
const isPlain = (bytes: Buffer, value: JsonObject): boolean =>
  isUtf8(bytes) && !bytes.includes("\\") && !/[^ -~]/.test(namesIn(value).join(""))

describe("bodies read with an outline", () => {
  it("are those that JSON.parse takes and that have one reading, with the same members", () => {
    const draw = makeDraw(20_261_126)
    let taken = 0
    const texts = counted(20_000, 1_000_000)
    for (let round = 0; round < texts; round += 1) {
      const sound = Buffer.from(jsonOf(draw))
      const bytes = draw.isOnceIn(2) ? sound : brokenOf(draw, sound)
      const body = read(bytes, rules)
      const expected = whole(bytes)
      if (body === null) {
        if (expected !== null && isPlain(bytes, expected)) assert.fail(`not read: ${bytes.toString("latin1")}`)
        continue
      }
      taken += 1
      if (expected === null) assert.fail(`read: ${bytes.toString("latin1")}`)
      const same = JSON.stringify(body) === JSON.stringify(expected)
      if (!same) assert.strictEqual(JSON.stringify(body), JSON.stringify(expected))
    }
    assert.isAbove(taken, texts / 4)
  }, 600_000)

  it("are cut anywhere without being taken for whole", () => {
    const draw = makeDraw(7)
    for (let round = 0; round < 40; round += 1) {
      const bytes = Buffer.from(jsonOf(draw).trim())
      for (let length = 0; length < bytes.length; length += 1) assert.isNull(read(bytes.subarray(0, length), rules))
    }
  })

  it("may be up to the limits of depth, members and values", () => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`
    assert.isNotNull(read(Buffer.from(nested(200)), rules))
    assert.isNull(read(Buffer.from(nested(201)), rules))
    const values = (count: number) => `{"a":[${"0,".repeat(count)}0]}`
    assert.isNotNull(read(Buffer.from(values(499_000)), rules))
    assert.isNull(read(Buffer.from(values(1_000_000)), rules))
  })

  it("keep what a client has written where strings are cut and items left out", () => {
    const long = "é".repeat(5_000)
    const items = Array.from({ length: 50 }, (_, index) => ({ role: "user", content: `${index}${long}` }))
    const body = outlined(JSON.stringify({ model: "m", content: items, note: long }))
    assert.deepStrictEqual(body["content"], items)
    assert.strictEqual(body["note"], long)
    assert.isBelow(JSON.stringify(outlineOf(body)).length, 1_000)
    assert.deepStrictEqual(Object.keys(body), ["model", "content", "note"])
    assert.deepStrictEqual({ ...body }, { model: "m", content: items, note: long })
  })

  it("take members that are set and removed, and their outline has the same", () => {
    const long = "x".repeat(500)
    const body = outlined(JSON.stringify({ model: "m", content: [long, long], note: long })) as Record<string, unknown>
    body["content"] = ["y"]
    body["other"] = 1
    Reflect.deleteProperty(body, "note")
    const left = { model: "m", content: ["y"], other: 1 }
    assert.deepStrictEqual({ ...body }, left as never)
    assert.deepStrictEqual(outlineOf(body as JsonObject), left as never)
    assert.strictEqual(JSON.stringify(body), JSON.stringify(left))
  })
})
