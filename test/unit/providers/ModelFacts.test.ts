import { assert, describe, it } from "@effect/vitest"
import {
  commonFacts,
  layFacts,
  type ModelFacts,
  settleFacts,
  unknownFacts
} from "../../../src/plane/providers/ModelFacts.ts"

const facts = (given: Partial<ModelFacts>): ModelFacts => ({ ...unknownFacts, ...given })

describe("ModelFacts", () => {
  it("lays what is known better over what is known less well", () => {
    const laid = layFacts(
      facts({ contextLength: 1000, toolCalling: false }),
      facts({ contextLength: 9, maxOutputTokens: 5, toolCalling: true, reasoning: true })
    )
    assert.deepInclude(laid, { contextLength: 1000, maxOutputTokens: 5, toolCalling: false, reasoning: true })
  })

  it("keeps vision and modalities in agreement, whichever source told which", () => {
    const listed = facts({ inputModalities: ["text"] })
    assert.deepInclude(settleFacts(layFacts(listed, facts({ vision: true, inputModalities: ["text", "image"] }))), {
      vision: false,
      inputModalities: ["text"]
    })
    assert.deepInclude(settleFacts(layFacts(facts({ vision: true }), facts({ inputModalities: ["text"] }))), {
      vision: true,
      inputModalities: ["text", "image"]
    })
    assert.deepInclude(settleFacts(layFacts(facts({ vision: false }), facts({ inputModalities: ["text", "image"] }))), {
      vision: false,
      inputModalities: ["text"]
    })
    assert.deepInclude(settleFacts(facts({ vision: true })), { inputModalities: ["text", "image"] })
    assert.deepInclude(settleFacts(unknownFacts), { vision: null, inputModalities: null })
  })

  it("promises of a choice what all can do and the least they hold", () => {
    const big = facts({ contextLength: 200, maxOutputTokens: 8, vision: true, toolCalling: true, reasoning: true })
    const small = facts({ contextLength: 100, vision: false, toolCalling: true })
    assert.deepInclude(commonFacts([big, small]), {
      contextLength: 100,
      maxOutputTokens: 8,
      vision: false,
      toolCalling: true,
      reasoning: null
    })
    assert.deepInclude(commonFacts([big, small], "greatest"), { contextLength: 200 })
    assert.deepStrictEqual(commonFacts([]), unknownFacts)
    assert.deepInclude(
      commonFacts([facts({ inputModalities: ["text", "image"] }), facts({ inputModalities: ["text", "audio"] })]),
      { inputModalities: ["text"] }
    )
    assert.isNull(commonFacts([facts({ inputModalities: ["text"] }), unknownFacts]).inputModalities)
  })
})
