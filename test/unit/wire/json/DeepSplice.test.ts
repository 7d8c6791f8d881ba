import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type Path, spliceValues } from "../../../../src/wire/json/DeepSplice.ts"
import { isArray, isObject, type Json } from "../../../../src/wire/json/Json.ts"

const pathsIn = (value: Json | undefined, path: Path = []): ReadonlyArray<Path> => {
  const below = isArray(value)
    ? value.flatMap((item, index) => pathsIn(item, [...path, index]))
    : isObject(value)
      ? Object.keys(value).flatMap((name) => pathsIn(value[name], [...path, name]))
      : []
  return [path, ...below]
}

const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, step) => (inner as Record<string, unknown>)[String(step)], value)

describe("values replaced in a JSON text", () => {
  it("changes nothing else", () => {
    const text = ' { "n" : 1.50, "a":[ "x" , {"b":"\\u00e9"} ],"big":12345678901234567890 } '
    assert.strictEqual(
      spliceValues(text, [
        { path: ["a", 1, "b"], json: '"y"' },
        { path: ["missing", 3], json: "0" }
      ]),
      ' { "n" : 1.50, "a":[ "x" , {"b":"y"} ],"big":12345678901234567890 } '
    )
  })

  it("replaces a member each time that it occurs, however its name is written", () => {
    assert.strictEqual(
      spliceValues('{"a":1,"\\u0061":{"a":2}}', [{ path: ["a"], json: "null" }]),
      '{"a":null,"\\u0061":null}'
    )
  })

  it("any value of any text, whatever its spacing", () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 5 }),
        fc.nat(),
        fc.constantFrom("", " ", "\t", "\n  "),
        (source, pick, space) => {
          const value = source as Json
          const text = JSON.stringify(value, null, space)
          const paths = pathsIn(value)
          const path = paths[pick % paths.length] ?? []
          const spliced: unknown = JSON.parse(spliceValues(text, [{ path, json: '{"new":[]}' }]))
          assert.deepStrictEqual(at(spliced, path), { new: [] })
          const back = spliceValues(JSON.stringify(spliced), [{ path, json: JSON.stringify(at(value, path)) }])
          assert.deepStrictEqual(JSON.parse(back), JSON.parse(text))
        }
      ),
      { numRuns: 500 }
    )
  })
})
