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

  it("changes every duplicate, also one that is spelled with escapes", () => {
    assert.strictEqual(
      replace('{"model":"a","x":{"model":"b"},"mod\\u0065l":"c","model":"d"}'),
      '{"model":"new","x":{"model":"b"},"mod\\u0065l":"new","model":"new"}'
    )
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
