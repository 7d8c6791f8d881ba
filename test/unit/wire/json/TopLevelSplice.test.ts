import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { replaceModelBytes, setTopLevel } from "../../../../src/wire/json/TopLevelSplice.ts"

const replace = (text: string, model = "new") =>
  replaceModelBytes(Buffer.from(text), JSON.parse(text) as JsonObject, model).toString()

describe("TopLevelSplice", () => {
  it("changes the model's value and not one other byte", () => {
    assert.strictEqual(
      replace('{ "messages": [{"model":"x","t":"é \\"model\\":1"}],\n  "model" : "old" , "z":1.50 }'),
      '{ "messages": [{"model":"x","t":"é \\"model\\":1"}],\n  "model" : "new" , "z":1.50 }'
    )
  })

  it("finds a member that is spelled with escapes", () => {
    assert.strictEqual(
      replace('{"x":{"model":"b"},"mod\\u0065l":"c","y":1}'),
      '{"x":{"model":"b"},"mod\\u0065l":"new","y":1}'
    )
  })

  it("finds a member before, in, at the end of and after the beginning that it looks at first", () => {
    for (let filler = 980; filler < 1_040; filler += 1) {
      const before = `{"messages":["${"é".repeat(filler % 7)}${"x".repeat(filler)}"]`
      assert.strictEqual(replace(`${before},"model":"old","z":[1]}`), `${before},"model":"new","z":[1]}`)
      assert.strictEqual(replace(`${before},"model":"old"}`), `${before},"model":"new"}`)
      assert.strictEqual(replace(`{"model":"old",${before.slice(1)}}`), `{"model":"new",${before.slice(1)}}`)
    }
  })

  it("is not led astray by a value that reads like the key", () => {
    assert.strictEqual(
      replace('{"a":"model","b":["model",":","x"],"model":"old"}'),
      '{"a":"model","b":["model",":","x"],"model":"new"}'
    )
  })

  it("escapes the new model", () => {
    assert.strictEqual(replace('{"model":"a"}', 'q"\\'), '{"model":"q\\"\\\\"}')
  })

  it("puts a missing member first, into empty objects too", () => {
    const edits = [["stream_options", '{"include_usage":true}']] as const
    const set = (text: string) => setTopLevel(Buffer.from(text), JSON.parse(text) as JsonObject, edits).toString()
    assert.strictEqual(
      set('{"a":[{"stream_options":1}]}'),
      '{"stream_options":{"include_usage":true},"a":[{"stream_options":1}]}'
    )
    assert.strictEqual(set(" { } "), ' {"stream_options":{"include_usage":true} } ')
    assert.strictEqual(set('{"stream_options":null,"b":2}'), '{"stream_options":{"include_usage":true},"b":2}')
  })

  it("takes a member out with its comma, wherever it stands", () => {
    const out = (text: string) => {
      const raw = Buffer.from(text)
      return setTopLevel(raw, JSON.parse(text) as JsonObject, [
        ["x", null],
        ["m", "2"]
      ]).toString()
    }
    assert.strictEqual(out('{ "x" : {"x":1} , "m":1, "b":[{"x":1}]}'), '{ "m":2, "b":[{"x":1}]}')
    assert.strictEqual(out('{"m":1, "x":[1,"}"], "b":3 }'), '{"m":2, "b":3 }')
    assert.strictEqual(out('{"m":1 , "x":null }'), '{"m":2 }')
    assert.strictEqual(out('{"x":1,"m":1}'), '{"m":2}')
    assert.strictEqual(out('{"m":1,"x":1}'), '{"m":2}')
    assert.strictEqual(out('{"x":1}'), '{"m":2}')
    assert.strictEqual(out('{"x":1,"b":1}'), '{"m":2,"b":1}')
    assert.strictEqual(out('{"m":1,"b":1}'), '{"m":2,"b":1}')
  })

  it("passes over a byte order mark", () => {
    const raw = Buffer.from('\uFEFF{"model":"a"}')
    assert.strictEqual(replaceModelBytes(raw, { model: "a" }, "b").toString(), '\uFEFF{"model":"b"}')
  })

  it("writes the object anew when the bytes cannot be read", () => {
    assert.strictEqual(
      replaceModelBytes(Buffer.from('["model"]'), { model: "a", b: 1 }, "n").toString(),
      '{"model":"n","b":1}'
    )
  })
})
