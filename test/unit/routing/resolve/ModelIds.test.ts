import { assert, describe, it } from "@effect/vitest"
import { type ApiKeySettings, unrestricted } from "../../../../src/subjects/keys/entity.ts"
import {
  behindNoThinking,
  mayUse,
  noThinkingPrefix,
  otherSpellings
} from "../../../../src/plane/routing/resolve/ModelIds.ts"

const key = (...allowedModels: ReadonlyArray<string>): ApiKeySettings => ({
  ...unrestricted,
  name: "k",
  allowedModels
})

const alias = `${noThinkingPrefix}anthropic/claude-sonnet-4-5`

describe("ModelIds", () => {
  it("knows the alias and what is behind it, once", () => {
    assert.strictEqual(behindNoThinking(alias), "anthropic/claude-sonnet-4-5")
    assert.isNull(behindNoThinking("anthropic/claude-sonnet-4-5"))
    assert.isNull(behindNoThinking(noThinkingPrefix.repeat(100_000)))
  })

  it("tries the spellings that clients make of an id", () => {
    assert.deepStrictEqual(otherSpellings("m[1m]"), ["m", "m:latest"])
    assert.deepStrictEqual(otherSpellings("m:latest"), ["m"])
    assert.deepStrictEqual(otherSpellings("m"), ["m:latest"])
    assert.deepStrictEqual(otherSpellings("[1m]"), ["[1m]:latest"])
  })

  it("judges the alias by the model behind it, not by its own letters", () => {
    assert.isTrue(mayUse(key("anthropic/*"), alias))
    assert.isTrue(mayUse(key("*"), alias))
    assert.isTrue(mayUse(key(), alias))
    assert.isFalse(mayUse(key("claude-3*"), alias))
    assert.isFalse(mayUse(key("openai/*"), alias))
  })

  it("lets a key have the alias alone", () => {
    assert.isTrue(mayUse(key(`${noThinkingPrefix}anthropic/*`), alias))
    assert.isFalse(mayUse(key(`${noThinkingPrefix}anthropic/*`), "anthropic/claude-sonnet-4-5"))
    assert.isFalse(mayUse(key(`${noThinkingPrefix}openai/*`), alias))
  })

  it("takes a client's own suffix for no other model", () => {
    assert.isTrue(mayUse(key("anthropic/claude-sonnet-4-5"), "anthropic/claude-sonnet-4-5[1m]"))
    assert.isTrue(mayUse(key("ollama/llama3"), "ollama/llama3:latest"))
    assert.isFalse(mayUse(key("ollama/llama3"), "ollama/llama3:70b"))
  })
})
