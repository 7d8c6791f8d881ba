import { assert, describe, it } from "@effect/vitest"
import { repair } from "../../../src/subjects/system/EnvRepair.ts"
import { parse } from "../../../src/platform/EnvText.ts"

const running = new Map([
  ["OPENAI_API_KEY", "sk-it's"],
  ["OTHER_KEY", "other"]
])

describe("the repair of the settings file", () => {
  it("adds what the running gateway has and the file lacks", () => {
    const done = repair("PORT='8080'\n", ["OPENAI_API_KEY"], running)
    assert.deepStrictEqual(done.repaired, ["OPENAI_API_KEY"])
    assert.strictEqual(done.text, `PORT='8080'\nOPENAI_API_KEY="sk-it's"\n`)
  })

  it("keeps every line: one that cannot be read becomes a comment", () => {
    const before = "# mine\nOPENAI_API_KEY='sk-torn\nPORT='8080'\n"
    const done = repair(before, ["OPENAI_API_KEY"], running)
    assert.deepStrictEqual(done.repaired, ["OPENAI_API_KEY"])
    for (const line of before.trim().split("\n")) assert.include(done.text, line)
    assert.strictEqual(parse(done.text).get("OPENAI_API_KEY"), "sk-it's")
    assert.strictEqual(parse(done.text).get("PORT"), "8080")
  })

  it("leaves a proper other value, and what the gateway does not have", () => {
    const before = "OPENAI_API_KEY='sk-next'\n"
    assert.deepStrictEqual(repair(before, ["OPENAI_API_KEY", "ABSENT"], running), { text: before, repaired: [] })
  })
})
