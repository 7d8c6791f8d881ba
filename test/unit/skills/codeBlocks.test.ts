import { assert, describe, it } from "@effect/vitest"
import { blockLimits, codeBlocks, isJavaScript } from "../../../src/agents/skills/CodeBlocks.ts"

const fence = "```"

describe("code blocks of a page", () => {
  it("are those between fences, numbered, with the word behind the fence", () => {
    const page = [
      "# Title",
      `${fence}sh`,
      "curl x",
      fence,
      "text `a` ``` b",
      `~~~ JavaScript title="x"`,
      fence,
      "return 1",
      "~~~",
      `   ${"`".repeat(4)}`,
      `${fence}js`,
      "`".repeat(5),
      `    ${fence}js`,
      "in four spaces, so no fence",
      `${fence}mjs`,
      "open to the end"
    ]
    assert.deepStrictEqual(codeBlocks(page.join("\r\n")), [
      { number: 1, language: "sh", text: "curl x" },
      { number: 2, language: "javascript", text: `${fence}\nreturn 1` },
      { number: 3, language: "", text: `${fence}js` },
      { number: 4, language: "mjs", text: "open to the end" }
    ])
  })

  it("are JavaScript by their language only", () =>
    assert.deepStrictEqual(
      ["js", "javascript", "mjs", "", "json", "jsx", "ts", "bash"].map((language) => isJavaScript({ language })),
      [true, true, true, false, false, false, false, false]
    ))

  it("are bounded in length and number, and read in one pass", () => {
    const long = `${fence}js\n${"x".repeat(blockLimits.chars + 1)}\n${fence}\n`
    assert.lengthOf(codeBlocks(`${long}${fence}js\n1\n${fence}`), 1)
    assert.lengthOf(codeBlocks(`${fence}\n${fence}\n`.repeat(5_000)), blockLimits.blocks)
    assert.isAtMost(codeBlocks("`".repeat(1_000_000)).length, 1)
    assert.isAtMost(codeBlocks(`${" `~".repeat(200_000)}\n`.repeat(2)).length, 1)
  })
})
