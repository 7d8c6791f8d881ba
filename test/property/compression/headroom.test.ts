/** Columns read back as what they were made of, wherever in a text the values stand. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { columnar, decoded } from "../../../src/plane/compression/headroom/Columns.ts"
import { scan } from "../../../src/plane/compression/headroom/Scan.ts"

const names = FastCheck.uniqueArray(FastCheck.string({ minLength: 1, maxLength: 8, unit: "grapheme" }), {
  minLength: 1,
  maxLength: 6
})
/** JSON, with numbers as programs write them and reading would not give them back. */
const scalar = FastCheck.oneof(
  FastCheck.constantFrom(
    "1.0",
    "1e2",
    "-0",
    "12345678901234567890",
    "0.10",
    "true",
    "null",
    '"a\\"b\\\\"',
    '"\\u00e9 [headroom"'
  ),
  FastCheck.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value))
)
const rows = names.chain((own) =>
  FastCheck.array(FastCheck.tuple(...own.map(() => scalar)), { minLength: 1, maxLength: 30 }).map((values) =>
    values.map((row) => `{${own.map((name, index) => `${JSON.stringify(name)}:${row[index]}`).join(",")}}`)
  )
)

/** Of a text without what is outside strings and says nothing. */
const minified = (text: string): string => text.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, "$1")

const spread = (json: string): string =>
  json.replaceAll(/("(?:[^"\\]|\\.)*")|([[{,])|([\]}])/g, (all, text?: string, open?: string) =>
    text !== undefined ? text : open !== undefined ? `${open}\n  ` : `\n${all}`
  )

type Place = (own: ReadonlyArray<string>) => string
const places: Readonly<Record<string, Place>> = {
  "a whole text": (own) => `[${own.join(",")}]`,
  "a whole text on many lines": (own) => spread(`[${own.join(",")}]`),
  "an object": (own) => `{"object":"list","items":[${own.join(",")}],"total":1.0,"more":{"next":null}}`,
  "two arrays of an object on many lines": (own) =>
    spread(`{"a":[${own.join(",")}],"b":{"c":[${own.toReversed().join(",")}]}}`),
  "a list of pages": (own) => `[{"page":1,"items":[${own.join(",")}]},{"page":2}]`,
  "lines of one object each": (own) => own.join("\n"),
  "lines of one object each, between others": (own) => `$ cat log\n${own.join("\n")}\n{"other":1}\ndone\n`,
  "a fenced block": (own) => `The answer is:\n\n\`\`\`json\n[${own.join(",")}]\n\`\`\`\nSee "above".\n`,
  "behind a line": (own) => `HTTP/1.1 200 OK {x}\n{"data":[${own.join(", ")}]}\n`,
  "behind words": (own) => `Result: {"data":[${own.join(",")}]}`
}

describe("headroom", () => {
  for (const [name, place] of Object.entries(places)) {
    it(`reads back as what it was made of: ${name}`, () => {
      let made = 0
      FastCheck.assert(
        FastCheck.property(rows, (own) => {
          const text = place(own)
          const columns = columnar(text)
          if (columns === null) return
          made += 1
          assert.isBelow(columns.length, text.length)
          assert.strictEqual(minified(decoded(columns)), minified(text))
          assert.isNull(columnar(columns))
        }),
        { numRuns: 150, seed: 23 }
      )
      assert.isAbove(made, 30)
    })
  }

  it("writes values as they are spelled, one line for each object", () => {
    const own = Array.from({ length: 8 }, (_, index) => `{"name":"row ${index}","size":${index}.0,"tags":[1, 2]}`)
    assert.strictEqual(
      columnar(`{"items":[${own.join(",")}],"total":8}`),
      [
        '{"items":[headroom 8 rows]',
        '"name":string,"size":number,"tags":array',
        ...own.map((_, index) => `["row ${index}",${index}.0,[1, 2]]`),
        ',"total":8}'
      ].join("\n")
    )
  })

  it("leaves what is no homogeneous array", () => {
    const row = '{"name":"a","count":1}'
    const of = (last: string): string => `[${Array.from({ length: 9 }, () => row).join(",")},${last}]`
    assert.isNotNull(columnar(of(row)))
    for (const last of [
      '{"name":"a"}',
      '{"count":1,"name":"a"}',
      "1",
      "null",
      "[]",
      '{"name":"a","count":01}',
      '{"name":"a"'
    ]) {
      assert.isNull(columnar(of(last)), last)
    }
    for (const text of ["", "[", "[]", "{}", "text", `[${row}]`, `${of(row)}[headroom 3 rows]\n`]) {
      assert.isNull(columnar(text), text)
    }
  })

  it("reads a megabyte of what almost is JSON a few times at most", () => {
    const units = [
      '[{"a":',
      '[{"a":1},\n',
      '{"\n',
      '{"\\"',
      '[{"a":[\n',
      '{"a":1}\n',
      "[\n",
      '{"a":1,"a":2}\n',
      '[{},{},{},{},{},{},{},{"a":'
    ]
    for (const unit of units) {
      const long = unit.repeat(Math.ceil(1_048_576 / unit.length))
      const columns = columnar(long)
      if (columns !== null) assert.strictEqual(decoded(columns), long)
      assert.isAtMost(scan(long, 0).end, long.length)
    }
  })
})
