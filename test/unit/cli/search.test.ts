import { assert, describe, it } from "@effect/vitest"
import { matching, windowOf } from "../../../src/cli/asking/search.ts"

const choices = ["Azure OpenAI", "OpenAI", "OpenRouter", "Groq"].map((title) => ({
  title,
  detail: title.toLowerCase().replace(" ", "-"),
  value: title
}))

describe("a list to search", () => {
  it("shows what has the text in it, what begins with it first", () => {
    assert.deepStrictEqual(
      matching(choices, " OPEN").map(({ value }) => value),
      ["OpenAI", "OpenRouter", "Azure OpenAI"]
    )
    assert.deepStrictEqual(
      matching(choices, "azure-o").map(({ value }) => value),
      ["Azure OpenAI"]
    )
    assert.strictEqual(matching(choices, ""), choices)
    assert.deepStrictEqual(matching(choices, "nothing"), [])
  })

  it("keeps the chosen line in the part that is shown", () => {
    for (const length of [0, 1, 9, 10, 11, 155]) {
      for (let index = 0; index < length; index++) {
        const [from, to] = windowOf(length, index, 10)
        assert.isTrue(from <= index && index < to, `${index} of ${length}: ${from} to ${to}`)
        assert.strictEqual(to - from, Math.min(10, length))
      }
    }
  })
})
