import { assert, describe, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import { readForeignJson, Unreadable } from "../../../src/wire/json/Bounds.ts"
import type { Json, JsonObject } from "../../../src/wire/json/Json.ts"
import { factsOf, keepReading, readForeignBody, slicedFromBytes } from "../../../src/wire/json/LargeBodies.ts"
import { SlicedJson } from "../../../src/wire/json/SlicedJson.ts"
import { SlicedText } from "../../../src/wire/json/SlicedText.ts"
import { setTopLevel } from "../../../src/wire/json/TopLevelSplice.ts"
import { counted } from "../../support/slowRun.ts"

const topMembers = 40

const readSliced = (bytes: Buffer, sliceBytes: number): Json | Unreadable => {
  const reading = new SlicedJson(bytes, { sliceBytes, topMembers })
  for (let slices = 0; slices <= bytes.length + 1; slices += 1) {
    const read = reading.next()
    if (read !== null) return read.value
  }
  throw new Error("It does not come to an end.")
}

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 60 }),
  fc.stringMatching(/^[ab"\\\n\u00e9\u{1F600}]{0,80}$/u),
  fc.constantFrom("__proto__", "a", "", "1", "0")
)
const blanks = fc.stringMatching(/^[ \n]{0,3}$/)
const longBlanks = fc.oneof({ weight: 12, arbitrary: blanks }, { weight: 1, arbitrary: fc.constant(" ".repeat(150)) })

const escaped = (value: string, at: number): string => {
  const json = JSON.stringify(value)
  const code = value.charCodeAt(0)
  return at % 3 === 0 && value !== ""
    ? `"\\u${code.toString(16).padStart(4, "0")}${JSON.stringify(value.slice(1)).slice(1)}`
    : json
}

/** JSON as texts, with blanks in all places, escapes, and members that may be repeated. */
const { json } = fc.letrec<{ json: string }>((tie) => {
  const name = fc.tuple(text, fc.nat()).map(([value, at]) => escaped(value, at))
  const scalar = fc.oneof(
    name,
    fc.constantFrom("0", "-1.5e3", "true", "false", "null"),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String)
  )
  const list = fc
    .tuple(longBlanks, fc.array(fc.tuple(longBlanks, tie("json"), blanks), { maxLength: 7 }))
    .map(([inner, items]) => `[${items.length === 0 ? inner : items.map((each) => each.join("")).join(",")}]`)
  const object = fc
    .tuple(longBlanks, fc.array(fc.tuple(blanks, name, longBlanks, blanks, tie("json"), blanks), { maxLength: 7 }))
    .map(([inner, members]) => {
      const written = members.map(([before, key, space, gap, value, after]) => [
        before,
        key,
        space,
        ":",
        gap,
        value,
        after
      ])
      return `{${members.length === 0 ? inner : written.map((each) => each.join("")).join(",")}}`
    })
  return { json: fc.oneof({ maxDepth: 6, depthSize: "large" }, scalar, object, list) }
})

const document = fc.tuple(longBlanks, json, longBlanks).map((parts) => parts.join(""))
const sizes = fc.constantFrom(1, 2, 3, 5, 8, 16, 33, 64, 200)

/** Of several members that are repeated, either reader may name another one. */
const kindOf = ({ message, param }: Unreadable): string => (param === null ? message : "repeated")

const assertSame = (bytes: Buffer, sliceBytes: number, isExact: boolean): void => {
  const whole = readForeignJson(bytes.toString("utf8"), topMembers)
  const sliced = readSliced(bytes, sliceBytes)
  if (!(whole instanceof Unreadable)) return assert.deepStrictEqual(sliced, whole)
  assert.instanceOf(sliced, Unreadable)
  if (isExact) assert.strictEqual(kindOf(sliced as Unreadable), kindOf(whole))
}

describe("JSON that is read in slices", () => {
  it("is read as it is in one piece, with the same member named where one is repeated", () => {
    fc.assert(
      fc.property(document, sizes, (written, sliceBytes) => assertSame(Buffer.from(written), sliceBytes, true)),
      { numRuns: counted(120, 500) }
    )
  })

  it.each([
    '{"a":1,"a":2}',
    '{"a":{"b":[0,{"c":1,"d":[1,2,3],"c":{}}]}}',
    '{"messages":[{"role":"user"},{"role":"user","content":"long enough for a slice","role":"x"}]}',
    '[[1,2,{"a":[],"b":"some text","\\u0061":1}]]',
    '{"":{"":{"x":1,"x":2}}}',
    '{"a":{"__proto__":1,"b":[1,2,3,4],"__proto__":2}}'
  ])("names the repeated member of %s", (written) => {
    for (const sliceBytes of [1, 4, 16, 64, 1_000]) {
      assert.deepStrictEqual(readSliced(Buffer.from(written), sliceBytes), readForeignJson(written, topMembers))
    }
  })

  it("is refused where it is refused in one piece", () => {
    const change = fc.tuple(
      fc.nat(),
      fc.nat({ max: 3 }),
      fc.constantFrom("", ",", ":", "{", "}", "[", "]", '"', "\\", "1", " ", "nul", "\u00e9")
    )
    fc.assert(
      fc.property(document, fc.array(change, { minLength: 1, maxLength: 3 }), sizes, (written, changes, sliceBytes) => {
        let mutated = written
        for (const [place, removed, added] of changes) {
          const at = place % (mutated.length + 1)
          mutated = mutated.slice(0, at) + added + mutated.slice(at + removed)
        }
        assertSame(Buffer.from(mutated), sliceBytes, false)
      }),
      { numRuns: counted(150, 600) }
    )
  })

  it("has the same characters in the place of bytes that are no UTF-8", () => {
    const bytes = fc
      .uint8Array({ maxLength: 200 })
      .map((raw) => raw.map((byte) => (byte === 34 || byte === 92 || byte < 32 ? 0xe2 : byte)))
    fc.assert(
      fc.property(bytes, sizes, (raw, sliceBytes) =>
        assertSame(Buffer.concat([Buffer.from('{"a":["'), raw, Buffer.from('"]}')]), sliceBytes, true)
      ),
      { numRuns: counted(120, 500) }
    )
  })
})

describe("facts of a body that was read in slices", () => {
  /** A large body with the same members. */
  const large = (members: string): Buffer => Buffer.from(`{"pad":"${"x".repeat(slicedFromBytes)}"${members}}`)
  const read = (body: Buffer): Buffer => {
    const reading = new SlicedJson(body, { sliceBytes: 65_536, topMembers })
    let value = reading.next()
    while (value === null) value = reading.next()
    keepReading(body, topMembers, value.value, reading)
    return body
  }

  it("place its members where a scan of its bytes finds them", () => {
    const member = fc.tuple(blanks, fc.constantFrom("model", "a", "stream", "\u00e9"), fc.nat(), blanks, json, blanks)
    fc.assert(
      fc.property(fc.uniqueArray(member, { maxLength: 3, selector: ([, name]) => name }), (members) => {
        const written = members.map(
          ([before, name, at, gap, value, after]) => `,${before}${escaped(name, at)}${gap}:${gap}${value}${after}`
        )
        const body = large(written.join(""))
        const parsed = readForeignJson(body.toString(), topMembers)
        if (parsed instanceof Unreadable) return
        const edits = [
          ["model", '"other"'],
          ["stream", null],
          ["new", "[1]"]
        ] as const
        const plain = setTopLevel(Buffer.from(body), parsed as never, edits)
        assert.strictEqual(factsOf(read(body))?.topMembers.length, members.length + 1)
        assert.strictEqual(
          setTopLevel(body, parsed as never, edits)
            .toString()
            .slice(-300),
          plain.toString().slice(-300)
        )
      }),
      { numRuns: 60 }
    )
  })

  it("are kept for objects only, and the value is given once", () => {
    const body = read(large(',"a":1'))
    const value = readForeignBody(body, topMembers)
    assert.strictEqual((value as { a: number }).a, 1)
    assert.notStrictEqual(readForeignBody(body, topMembers), value)
    assert.isNull(factsOf(read(Buffer.from(`["${"x".repeat(slicedFromBytes)}"]`))))
    assert.isNull(factsOf(Buffer.from("{}")))
  })

  it.each([
    ["\\ud83d\\ude00", true],
    ["\\uDE00", true],
    ["\\u00fd", false],
    ["\\\\ud83d", false]
  ])("%s is half of a pair: %s", (text, expected) =>
    assert.strictEqual(factsOf(read(large(`,"a":"${text}"`)))?.hasSurrogateEscape, expected)
  )
})

describe("JSON that is written in slices", () => {
  it("has the bytes of JSON that is written at once", () => {
    const value = fc
      .dictionary(text, fc.jsonValue({ maxDepth: 4 }))
      .map((members) => Object.assign(members, { none: undefined }))
    fc.assert(
      fc.property(value, fc.string({ unit: "binary", maxLength: 50 }), sizes, (members, long, pieceChars) => {
        const whole = { ...members, long } as unknown as JsonObject
        const writing = new SlicedText(whole, pieceChars)
        while (!writing.next());
        const bytes = Buffer.concat(writing.pieces)
        assert.strictEqual(bytes.toString(), JSON.stringify(whole))
        assert.strictEqual(writing.bytes, bytes.length)
      }),
      { numRuns: counted(120, 500) }
    )
  })
})
