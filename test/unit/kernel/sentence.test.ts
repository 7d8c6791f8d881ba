import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { describe as viewOf, ModelNotFound, NoTarget } from "../../../src/contract/domain/Errors.ts"
import { signInFailed } from "../../../src/subjects/oauth/service.ts"
import { syncFailed } from "../../../src/subjects/sync/service.ts"
import { MarketplaceFailed } from "../../../src/agents/plugins/PluginErrors.ts"
import { asSentence } from "../../../src/kernel/text/Sentence.ts"

describe("asSentence", () => {
  it("ends a text with one full stop, whatever it ended with", () => {
    const cases: ReadonlyArray<readonly [string, string]> = [
      ["it cannot be read", "it cannot be read."],
      ["it cannot be read.", "it cannot be read."],
      ["it cannot be read. \n", "it cannot be read."],
      ["Incorrect key!", "Incorrect key!"],
      ["Is it there?", "Is it there?"],
      ["and more…", "and more…"],
      ["it says 'No.'", "it says 'No.'"],
      ["it says (see the page.)", "it says (see the page.)"],
      ["it says 'no'", "it says 'no'."],
      ["", "."]
    ]
    for (const [text, whole] of cases) assert.strictEqual(asSentence(text), whole)
  })

  it("never adds a second one, and takes nothing but white space away", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.string(), (text) => {
        const once = asSentence(text)
        assert.strictEqual(asSentence(once), once)
        assert.isTrue(once.startsWith(text.trimEnd()))
        assert.isAtMost(once.length, text.trimEnd().length + 1)
      })
    )
  })
})
describe("messages that end with what others have said", () => {
  it("have one full stop there", () => {
    const reason = "The provider says that it is gone."
    const messages = [
      viewOf(new ModelNotFound({ model: "a", reason, suggestions: ["b"] })).message,
      viewOf(new NoTarget({ model: "a", reason, retryAfterMs: null })).message,
      signInFailed(reason).message,
      syncFailed(reason).message,
      new MarketplaceFailed({ reason }).message
    ]
    for (const message of messages) {
      assert.include(message, "it is gone.")
      assert.notInclude(message, "..")
    }
  })
})
