/** Files in which coding programs keep the tokens of a plan. */
import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import { readPlanFile } from "../../../../src/subjects/declared/imports/PlanFiles.ts"

const jwt = `e30.${Buffer.from(JSON.stringify({ exp: 1_900_000_000 })).toString("base64url")}.x`

const read = (content: unknown) => {
  const found = readPlanFile(JSON.stringify(content))
  if (found?._tag !== "Tokens") return found
  const { accessToken, expiresAtMs, headers, provider } = found.tokens
  return { provider, expiresAtMs, headers, accessToken: Redacted.value(accessToken) }
}

describe("a file with tokens of a plan", () => {
  it("is told by its form", () => {
    assert.deepStrictEqual(
      read({
        claudeAiOauth: {
          accessToken: "a",
          refreshToken: "r",
          expiresAt: 1_900_000_000_000,
          scopes: [],
          subscriptionType: "max"
        }
      }),
      { provider: "claude", expiresAtMs: 1_900_000_000_000, headers: {}, accessToken: "a" }
    )
    assert.deepStrictEqual(
      read({
        OPENAI_API_KEY: null,
        tokens: { id_token: "i", access_token: jwt, refresh_token: "r", account_id: "acc-1" },
        last_refresh: "x"
      }),
      {
        provider: "codex",
        expiresAtMs: 1_900_000_000_000,
        headers: { "chatgpt-account-id": "acc-1" },
        accessToken: jwt
      }
    )
    assert.deepStrictEqual(read({ access_token: "a", refresh_token: "r", expiry_date: 1_900_000_000_000 }), {
      provider: "gemini",
      expiresAtMs: 1_900_000_000_000,
      headers: {},
      accessToken: "a"
    })
  })

  it("may have a key, be signed out, or be none", () => {
    assert.deepStrictEqual(read({ OPENAI_API_KEY: "sk-x", tokens: null }), { _tag: "OnlyKey", provider: "codex" })
    assert.deepStrictEqual(read({ OPENAI_API_KEY: null }), { _tag: "SignedOut", provider: "codex" })
    assert.deepStrictEqual(read({ claudeAiOauth: {} }), { _tag: "SignedOut", provider: "claude" })
    assert.deepStrictEqual(read({ claudeAiOauth: { accessToken: "a b" } }), { _tag: "SignedOut", provider: "claude" })
    for (const none of [{}, [], "x", { accessToken: "a" }]) assert.isNull(read(none))
    assert.isNull(readPlanFile("{"))
  })
})
