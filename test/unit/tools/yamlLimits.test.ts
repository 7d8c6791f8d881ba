import { assert, describe, it } from "@effect/vitest"
import { isUnreadable } from "../../../src/agents/tools/config/formats/Format.ts"
import { yaml } from "../../../src/agents/tools/config/formats/Yaml.ts"

const many = 200_000

const reason = (text: string): string => {
  const read = yaml.parse(text)
  return isUnreadable(read) ? read.message : JSON.stringify(read).slice(0, 60)
}

describe("YAML of an attacker", () => {
  it.each<[string, string, RegExp]>([
    ["open brackets", `a: ${"[".repeat(many)}`, /nested deeper than 200/],
    ["brackets", `a: ${"[".repeat(many)}${"]".repeat(many)}`, /nested deeper/],
    ["open braces", `a: ${"{".repeat(many)}`, /nested deeper/],
    ["mappings in mappings", `a: ${"{a: ".repeat(many)}`, /nested deeper/],
    ["closed brackets", `a: ${"]".repeat(many)}`, /nested deeper/],
    ["lists in lists", "- ".repeat(many), /nested deeper/],
    ["keys of keys", "? ".repeat(many), /nested deeper/],
    ["indentation", Array.from({ length: 2_000 }, (_, at) => `${" ".repeat(at)}a:`).join("\n"), /nested deeper/],
    ["tags of tags", `a: ${"! ".repeat(many)}`, /signs of its syntax/],
    ["anchors of anchors", `a: ${"&a ".repeat(many)}`, /signs of its syntax/],
    ["block texts of block texts", `a: ${"|\n".repeat(many)}`, /signs of its syntax/],
    ["directives", "%A\n".repeat(many), /signs of its syntax/],
    ["a list that holds itself", "a: &x [*x]", /holds an alias of itself/],
    ["a mapping that holds itself", "a: &x\n  b:\n    - *x", /holds an alias of itself/],
    ["aliases of aliases", `a: &x [1]\nb: [${"*x,".repeat(5_000)}]`, /more aliases/],
    ["a key twice", "a: 1\nb:\n  c: 1\n  c: 2", /the key 'c' is there twice/],
    ["a mistake, with its place", "a: 1\nb: [1\nc: 2", /is no YAML: .* at line [23], column/]
  ])("%s: is refused", (_, text, expected) => assert.match(reason(text), expected))

  it("has as many keys and items as it likes", () => {
    const keys = Array.from({ length: 20_000 }, (_, at) => `k${at}: ${at}`).join("\n")
    assert.match(reason(keys), /^\{"k0":0,"k1":1/)
    assert.match(reason(`a: [${"[],".repeat(2_000)}]`), /^\{"a":\[\[\],\[\]/)
  })

  it("may go 150 levels deep, share an anchor, and hold brackets in texts", () => {
    assert.match(reason(`a: ${"[".repeat(150)}${"]".repeat(150)}`), /^\{"a":\[\[/)
    assert.strictEqual(reason("a: &x [1]\nb: *x\nc: '[[[['"), '{"a":[1],"b":[1],"c":"[[[["}')
    const deep = Array.from({ length: 150 }, (_, at) => `${"  ".repeat(at)}a:`).join("\n")
    assert.match(reason(deep), /^\{"a":\{"a":/)
  })
})
