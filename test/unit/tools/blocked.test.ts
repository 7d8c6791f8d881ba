/** Edits that cannot be made, and edits that are made only where nothing is. */
import { assert, describe, it } from "@effect/vitest"
import { applied, staleOf } from "../../../src/agents/tools/config/Edits.ts"
import { isUnreadable } from "../../../src/agents/tools/config/formats/Format.ts"
import { type FormatName, formats } from "../../../src/agents/tools/config/formats/index.ts"

const edits = [{ path: ["env", "OURS"], value: "1" }]

describe("edits of configuration files", () => {
  it("do not replace something else that stands in the way", () => {
    const texts: ReadonlyArray<readonly [FormatName, string]> = [
      ["json", '{ "env": "text" }'],
      ["json", '{ "env": [1] }'],
      ["toml", 'env = "text"\n'],
      ["yaml", "env: text\n"]
    ]
    for (const [name, text] of texts) {
      const after = applied(formats[name], text, edits)
      assert.isTrue(isUnreadable(after) && after.message.includes("something else at 'env'"), `${name}: ${text}`)
    }
    const list = applied(formats.json, '{ "models": {} }', [
      { path: ["models", { member: "name", is: "x" }], value: {} }
    ])
    assert.isTrue(isUnreadable(list))
  })

  it("say so when a format's editor cannot make them", () => {
    const after = applied({ ...formats.toml, set: (text) => text }, "", edits)
    assert.isTrue(isUnreadable(after) && after.message.includes("cannot be edited at 'env.OURS'"))
    const thrown = applied(
      {
        ...formats.toml,
        set: () => {
          throw new Error("Node not found")
        }
      },
      "",
      edits
    )
    assert.isTrue(isUnreadable(thrown))
  })

  it("leave what is there where they are made only for want of it", () => {
    const needed = [{ path: ["name"], value: "Gateway", unlessThere: true as const }]
    assert.strictEqual(applied(formats.yaml, "name: mine\n", needed), "name: mine\n")
    assert.strictEqual(applied(formats.yaml, "", needed), "name: Gateway\n")
  })

  it("know which of a former run they have nothing to do with", () => {
    const former = [["env", "GONE"], ["env", "OURS"], ["provider"], ["env", "OURS", "inner"]]
    assert.deepStrictEqual(staleOf(former, [...edits, { path: ["provider", "gateway"], value: {} }]), [["env", "GONE"]])
  })
})
