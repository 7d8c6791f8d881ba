import { assert, describe, it } from "@effect/vitest"
import { aggressive, depthOf } from "../../../src/plane/compression/engines/Aggressive.ts"
import { ultra } from "../../../src/plane/compression/ultra/Ultra.ts"

const told =
  "I read the sources. It was interesting to see how it all fits together. We decided to use the pool of src/db/Pool.ts. " +
  "The colours looked nice as well.\n\nThe tests pass. They are easy to read. Do not remove the lock.\n"

describe("aggressive", () => {
  it("goes by the length of a text", () => {
    const of = (chars: number) => depthOf("x".repeat(chars), "text")
    assert.deepStrictEqual([399, 400, 1_199, 1_200].map(of), ["light", "moderate", "moderate", "full"])
    assert.strictEqual(depthOf("x".repeat(8_191), "tool-result"), "light")
    assert.strictEqual(depthOf("x".repeat(8_192), "tool-result"), "full")
    assert.isNull(aggressive(told, "text"))
  })

  it("drops asides and keeps beginnings of paragraphs", () => {
    assert.strictEqual(
      aggressive(told, "text", "moderate"),
      "I read the sources. We decided to use the pool of src/db/Pool.ts.\n\nThe tests pass. Do not remove the lock.\n"
    )
  })

  it("keeps of long texts the first sentence, decisions and what is protected", () => {
    assert.strictEqual(
      aggressive(told, "text", "full"),
      "I read the sources. We decided to use the pool of src/db/Pool.ts.\n\nDo not remove the lock.\n"
    )
  })

  it("makes one line of lines of a long output that say nothing", () => {
    const plain = Array.from({ length: 60 }, (_, index) => `reading ${"abcdefghij"[index % 10]}`)
    const output = [...plain.slice(0, 30), "ERROR in src/a.ts:3", ...plain.slice(30)].join("\n")
    const lines = aggressive(output, "tool-result", "full")?.split("\n") ?? []
    assert.deepStrictEqual(lines.slice(20, 23), ["[10 lines left out]", "ERROR in src/a.ts:3", "[20 lines left out]"])
    assert.strictEqual(lines.length, 33)
  })
})

describe("ultra", () => {
  it("drops the words that say least", () => {
    assert.strictEqual(
      ultra("The size of the buffer is a part of the plan A of the team, and it was changed for you."),
      "size buffer part plan A team, and it changed for you."
    )
  })

  it("leaves a sentence whole of which less than half would be left", () => {
    const sentence = "The of the is a the was."
    assert.isTrue(
      ultra(`The answer of the server is for you and that is the reason. ${sentence}`)?.endsWith(sentence) === true
    )
  })

  it("leaves alone what has no language", () => {
    assert.isNull(ultra("x".repeat(100)))
  })
})
