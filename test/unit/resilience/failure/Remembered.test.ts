import { assert, describe, it } from "@effect/vitest"
import { remembered } from "../../../../src/plane/resilience/failure/Remembered.ts"

const asked = (content: string) => ({
  body: { model: "gpt-4o-mini-2024-07-18", messages: [{ role: "user", content }] },
  beside: ["gpt-4o-mini-2024-07-18"],
  fingerprint: () => ""
})

describe("what is remembered of an upstream's words", () => {
  const prompt = "Please translate: das Wetter wird morgen wieder schöner"

  it("has nothing that the caller wrote, whole or in part, in whatever case, spacing or encoding", () => {
    for (const quoted of [
      prompt,
      "das Wetter wird morgen",
      "DAS  WETTER-WIRD morgen",
      "das%20Wetter%20wird%20morgen%20wieder",
      "morgen wieder sch\\u00f6ner"
    ]) {
      const kept = remembered(`Cannot handle "${quoted}" today`, asked(prompt))
      assert.match(kept, /^Cannot handl.*… ?.*today$/, quoted)
      assert.notMatch(kept, /wetter|morgen|sch/i, quoted)
    }
  })

  it("keeps the provider's own words and the id of the model", () => {
    const words = "Rate limit reached for gpt-4o-mini-2024-07-18 in organization org-1 on tokens per min"
    assert.strictEqual(remembered(words, asked(prompt)), words)
    assert.strictEqual(remembered("Overloaded", asked("Overloaded")), "Overloaded")
  })

  it("has none of them where the request is too large to be compared", () => {
    const kept = remembered(`Cannot handle "${prompt}"`, asked(`${"long text ".repeat(300_000)}${prompt}`))
    assert.notInclude(kept, "Wetter")
  })

  it("takes a message that repeats one run as often as it fits", () => {
    const kept = remembered("abc abc abc ".repeat(2_000), asked("abc abc abc ".repeat(20_000)))
    assert.notInclude(kept, "abc")
  })
})
