import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import { envConnections, mistakenVariables } from "../../../src/plane/providers/EnvConnections.ts"

const from = (entries: Readonly<Record<string, string>>) => envConnections(new Map(Object.entries(entries)), 42)

describe("environment connections", () => {
  it("makes one read-only connection per provider with a key", () => {
    const [openai, gemini, ...others] = from({ GEMINI_API_KEY: "g", OPENAI_API_KEY: " sk-1 \n", UNKNOWN_API_KEY: "x" })
    assert.deepStrictEqual(others, [])
    assert.strictEqual(gemini?.id, "env:gemini")
    assert.deepInclude(openai, {
      id: "env:openai",
      provider: "openai",
      name: "OpenAI (environment)",
      source: "env",
      priority: 100,
      isActive: true,
      baseUrl: null,
      createdAtMs: 42
    })
    assert.strictEqual(openai?.apiKey === null || openai === undefined ? null : Redacted.value(openai.apiKey), "sk-1")
    assert.notInclude(JSON.stringify(openai), "sk-1")
  })

  it("takes the first variable that is not blank", () => {
    const [google, ...others] = from({ GEMINI_API_KEY: "  ", GOOGLE_API_KEY: "second" })
    assert.deepStrictEqual(others, [])
    assert.strictEqual(google?.apiKey === null || google === undefined ? null : Redacted.value(google.apiKey), "second")
  })

  it("never takes a gateway's own key for a provider's, and names the variable", () => {
    const mistaken = { OPENAI_API_KEY: "gw_0123456789", GEMINI_API_KEY: " gw_0 ", GOOGLE_API_KEY: "second" }
    assert.deepStrictEqual(
      from(mistaken).map(({ id }) => id),
      ["env:gemini"]
    )
    assert.sameMembers([...mistakenVariables(new Map(Object.entries(mistaken)))], ["OPENAI_API_KEY", "GEMINI_API_KEY"])
  })

  it("ignores blank keys and never reads an address", () => {
    assert.deepStrictEqual(from({ OPENAI_API_KEY: "", GROQ_API_KEY: "\t" }), [])
    assert.isNull(from({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://evil" })[0]?.baseUrl ?? null)
  })
})
