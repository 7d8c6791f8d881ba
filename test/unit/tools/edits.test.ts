/** Edits of configuration files: comments, order and foreign keys stay, a second run changes nothing, and undoing gives what was there. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { diff } from "../../../src/agents/tools/config/Diff.ts"
import { applied, reverted } from "../../../src/agents/tools/config/Edits.ts"
import { isUnreadable, valueAt } from "../../../src/agents/tools/config/formats/Format.ts"
import { type FormatName, formats } from "../../../src/agents/tools/config/formats/index.ts"
import { toolSetups } from "../../../src/agents/tools/config/tools/index.ts"
import { type Gateway, placesOf, type ToolModel } from "../../../src/agents/tools/config/ToolSetup.ts"
import type { Json } from "../../../src/wire/json/Json.ts"
import { setupTools } from "../../../src/subjects/tools/commands/SetupTools.ts"

const texts: Readonly<Record<FormatName, string>> = {
  json: `{
    // mine
    "theme": "dark", /* stays */
    "env": { "OTHER": "1" },
    "list": [ { "name": "first", "n": 1 }, ],
}
`,
  yaml: `# mine
theme: dark   # stays
env:
  OTHER: "1"
list:
  - name: first
    n: 1
`,
  toml: `# mine
theme = "dark" # stays

[env]
OTHER = "1"   # here too
`,
  env: `# mine
THEME=dark
export OTHER="1"
nonsense
`
}

const model = (id: string): ToolModel => ({
  id,
  contextLength: 200_000,
  maxOutputTokens: 8_000,
  vision: true,
  reasoning: null,
  price: { input: 1, output: 2 }
})

const gateway: Gateway = {
  origin: "http://127.0.0.1:20128",
  apiKey: "gw_secret",
  models: [model("auto"), model("openai/gpt-5"), model("anthropic/claude-sonnet-4-5")],
  model: model("auto"),
  small: model("openai/gpt-5")
}
const places = placesOf("/people/ada", new Map(), () => false)

const value = (name: FormatName, text: string): Json => {
  const root = formats[name].parse(text)
  if (isUnreadable(root)) return assert.fail(root.message)
  return root
}

const done = (text: ReturnType<typeof applied>): string => (typeof text === "string" ? text : assert.fail(text.message))

describe("edits of a file", () => {
  for (const name of ["json", "yaml", "toml", "env"] as const) {
    it(`keep what is not theirs in ${name}`, () => {
      const edits =
        name === "env"
          ? [{ path: ["KEY"], value: "a b" }]
          : [
              { path: ["theme"], value: "light" },
              { path: ["env", "KEY"], value: "a b" },
              { path: ["made", "here"], value: { deep: true, list: [1, 2] } }
            ]
      const before = texts[name]
      const after = done(applied(formats[name], before, edits))
      assert.include(after, "# mine".replace("# mine", name === "json" ? "// mine" : "# mine"))
      if (name !== "env") assert.include(after, "stays")
      for (const edit of edits) assert.deepStrictEqual(valueAt(value(name, after), edit.path), edit.value)
      assert.strictEqual(valueAt(value(name, after), name === "env" ? ["OTHER"] : ["env", "OTHER"]), "1")
      assert.strictEqual(done(applied(formats[name], after, edits)), after)
      assert.deepStrictEqual(value(name, done(reverted(formats[name], after, before, edits))), value(name, before))
    })

    it(`make a file of nothing in ${name}`, () => {
      const edits = [{ path: ["KEY"], value: "x" }]
      const after = done(applied(formats[name], "", edits))
      assert.deepStrictEqual(value(name, after), { KEY: "x" })
      assert.isTrue(after.endsWith("\n"))
      assert.deepStrictEqual(value(name, done(reverted(formats[name], after, "", edits))), {})
    })
  }

  it("find an element of a list by its name, and append it where it is missing", () => {
    for (const name of ["json", "yaml"] as const) {
      const edits = [
        { path: ["list", { member: "name", is: "second" }], value: { name: "second", n: 2 } },
        { path: ["other", { member: "name", is: "third" }], value: { name: "third" } }
      ]
      const after = done(applied(formats[name], texts[name], edits))
      assert.deepStrictEqual(valueAt(value(name, after), ["list"]), [
        { name: "first", n: 1 },
        { name: "second", n: 2 }
      ])
      assert.deepStrictEqual(valueAt(value(name, after), ["other"]), [{ name: "third" }])
      assert.strictEqual(done(applied(formats[name], after, edits)), after)
      assert.deepStrictEqual(
        value(name, done(reverted(formats[name], after, texts[name], edits))),
        value(name, texts[name])
      )
    }
  })

  it("leave what others changed since", () => {
    const edits = [{ path: ["env", "KEY"], value: "x" }]
    const after = done(applied(formats.json, texts.json, edits))
    const changed = formats.json.set(after, ["theme"], "blue")
    const back = value("json", done(reverted(formats.json, changed, texts.json, edits)))
    assert.strictEqual(valueAt(back, ["theme"]), "blue")
    assert.isUndefined(valueAt(back, ["env", "KEY"]))
  })

  it("refuse texts that are not of their format, with the place where it can be told", () => {
    const bad: ReadonlyArray<readonly [FormatName, string]> = [
      ["json", '{ "a": }'],
      ["json", "[1]"],
      ["json", "\u{0}\u{1}"],
      ["yaml", "a: [1"],
      ["yaml", "- a"],
      ["toml", "a = "],
      ["toml", "[a]\nb = 1\n[a]\n"]
    ]
    for (const [name, text] of bad) {
      const after = applied(formats[name], text, [{ path: ["x"], value: "y" }])
      assert.isTrue(isUnreadable(after), `${name}: ${text}`)
    }
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefghij"
      .split("")
      .map((name, at) => `${name}: &${name} [${Array(9).fill(`*${"abcdefghi"[at]}`).join(",")}]`)
      .join("\n")}\n`
    assert.isTrue(isUnreadable(formats.yaml.parse(bomb)))
  })

  it("hold for any names and values", () => {
    const name = fc.stringMatching(/^[A-Za-z][\w -]{0,12}$/)
    const leaf = fc.oneof(fc.string({ maxLength: 30 }), fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.boolean())
    for (const format of ["json", "yaml", "toml"] as const) {
      fc.assert(
        fc.property(fc.array(name, { minLength: 1, maxLength: 3 }), leaf, (path, wanted) => {
          fc.pre(
            path[0] !== "theme" &&
              path[0] !== "list" &&
              !(path[0] === "env" && path[1] === "OTHER") &&
              path[0] !== "env"
          )
          const edits = [{ path, value: wanted }]
          const after = done(applied(formats[format], texts[format], edits))
          assert.deepStrictEqual(valueAt(value(format, after), path), wanted)
          assert.include(after, "stays")
          assert.strictEqual(done(applied(formats[format], after, edits)), after)
          assert.deepStrictEqual(
            value(format, done(reverted(formats[format], after, texts[format], edits))),
            value(format, texts[format])
          )
        }),
        { numRuns: 150, seed: 7 }
      )
    }
  })
})

describe("the set-up of each tool", () => {
  it("has a command", () => {
    assert.deepStrictEqual(
      toolSetups.map(({ id, name }) => [id, name]),
      setupTools.map(([id, name]) => [id, name])
    )
  })

  for (const tool of toolSetups) {
    it(`writes files of ${tool.name} that have its key and its address, and undoes them`, () => {
      const { files, notes } = tool.plan(places, gateway)
      const all = files.map(({ edits, format }) => done(applied(formats[format], "", edits)))
      const written = [...all, ...notes].join("\n")
      assert.include(written, gateway.origin)
      assert.include(written, gateway.apiKey)
      for (const [at, { edits, format, keyAt, path }] of files.entries()) {
        assert.isTrue(path.startsWith("/people/ada/"), path)
        const text = all[at] ?? ""
        if (keyAt !== undefined) assert.strictEqual(valueAt(value(format, text), keyAt), gateway.apiKey)
        assert.strictEqual(done(applied(formats[format], text, edits)), text)
        assert.deepStrictEqual(value(format, done(reverted(formats[format], text, "", edits))), {})
      }
    })
  }
})

describe("diff", () => {
  it("shows what changed, with what is around it", () => {
    assert.deepStrictEqual(diff("a\nb\nc\nd\ne\nf\ng\n", "a\nb\nc\nX\ne\nf\ng\n"), [" b", " c", "-d", "+X", " e", " f"])
    assert.deepStrictEqual(diff("", "a\n"), ["+a"])
    assert.deepStrictEqual(diff("a\n", "a\n"), [])
  })

  it("has all lines of both texts", () => {
    const lines = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 12 })
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const [left, right] = [before, after].map((all) => all.map((line) => `${line}\n`).join(""))
        const shown = diff(left ?? "", right ?? "")
        const count = (sign: string) => shown.filter((line) => line.startsWith(sign)).length
        assert.strictEqual(count("+") - count("-"), left === right ? 0 : after.length - before.length)
      }),
      { seed: 3 }
    )
  })
})
