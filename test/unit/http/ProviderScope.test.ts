import { assert, describe, it } from "@effect/vitest"
import type { Combo } from "../../../src/subjects/combos/entity.ts"
import { providerNamed, scopedBody, scopedModel, type ScopeView } from "../../../src/entry/edge/ProviderScope.ts"
import type { Account, CatalogSnapshot } from "../../../src/plane/providers/Catalog.ts"
import * as Registry from "../../../src/plane/providers/Registry.ts"

const spec = (id: string) => {
  const found = Registry.find(id)
  assert.isNotNull(found)
  return found ?? assert.fail(id)
}

const account = { spec: spec("openrouter") } as Account

const view: ScopeView = {
  catalog: {
    provider: Registry.find,
    byProvider: new Map([["openrouter", [account]]]),
    combos: new Map([["fast", {} as Combo]])
  } as unknown as CatalogSnapshot,
  modelsOf: (asked) => (asked === account ? ["openai/gpt-5", "openrouter/auto"] : [])
}

describe("a route of one provider", () => {
  for (const [provider, model, scoped] of [
    ["openai", "gpt-5", "openai/gpt-5"],
    ["openai", "openai/gpt-5", "openai/gpt-5"],
    ["gemini", "google/gemini-2.5-pro", "gemini/gemini-2.5-pro"],
    ["groq", "some-maker/llama-4", "groq/some-maker/llama-4"],
    ["openrouter", "openai/gpt-5", "openrouter/openai/gpt-5"],
    ["openrouter", "openrouter/auto", "openrouter/openrouter/auto"],
    ["openai", "claude-3-gateway-no-thinking/gpt-5", "claude-3-gateway-no-thinking/openai/gpt-5"]
  ] as const) {
    it(`${provider} takes ${model}`, () => assert.strictEqual(scopedModel(view, spec(provider), model), scoped))
  }

  for (const [provider, model] of [
    ["openai", "anthropic/claude-sonnet-4-6"],
    ["openrouter", "anthropic/claude-sonnet-4-6"],
    ["openai", "auto"],
    ["openai", "auto/coding"],
    ["openai", "fast"],
    ["openai", "combo:fast"],
    ["openai", "claude-3-gateway-no-thinking/anthropic/claude-sonnet-4-6"]
  ] as const) {
    it(`${provider} refuses ${model}`, () => {
      const refused = scopedModel(view, spec(provider), model)
      assert.deepInclude(refused, { _tag: "InvalidRequest", param: "model" })
    })
  }

  it("knows providers by id and by alias only", () => {
    assert.deepInclude(providerNamed(view, "google"), { id: "gemini" })
    const unknown = providerNamed(view, "nobody")
    assert.deepInclude(unknown, { _tag: "ProviderNotFound" })
  })

  it("touches nothing but the model's bytes", () => {
    const body = Buffer.from('{ "model" : "gpt-5", "big": 12345678901234567890 }')
    assert.strictEqual(
      String(scopedBody(view, spec("openai"), body)),
      '{ "model" : "openai/gpt-5", "big": 12345678901234567890 }'
    )
    for (const text of ["no json", "[]", "{}", '{"model":7}', '{"model":"openai/gpt-5"}']) {
      const given = Buffer.from(text)
      assert.strictEqual(scopedBody(view, spec("openai"), given), given)
    }
  })
})
