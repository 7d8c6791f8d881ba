import { assert, describe, it } from "@effect/vitest"
import { sessionIdOf, sessionKeyOf } from "../../../../src/plane/routing/decide/SessionKey.ts"

describe("the session's id", () => {
  it("is what clients send in headers", () => {
    for (const name of [
      "x-session-id",
      "x_session_id",
      "x-gateway-session-id",
      "x-codex-session-id",
      "x-claude-code-session-id",
      "x-qwen-code-session-id",
      "x-opencode-session",
      "session-id",
      "session_id",
      "conversation-id",
      "conversation_id",
      "x-grok-conv-id",
      "x-session-affinity",
      "thread-id"
    ]) {
      assert.strictEqual(sessionIdOf({ [name]: "s" }, {}), "s", name)
    }
  })

  it("is what clients write into bodies", () => {
    const session = "0b9e3b4e-0000-4000-8000-000000000000"
    for (const body of [
      { session_id: session },
      { conversation_id: session },
      { conversation: session },
      { conversation: { id: session } },
      { prompt_cache_key: session },
      { metadata: { session_id: session } },
      { metadata: { user_id: `user_ab_account_cd_session_${session}` } },
      { metadata: { user_id: JSON.stringify({ device_id: "d", session_id: session }) } }
    ]) {
      assert.strictEqual(sessionIdOf({}, body), session, JSON.stringify(body))
    }
  })

  it("from a header wins over one from the body, and X-Session-Id over any other header", () => {
    const headers = { "x-session-id": "own", session_id: "codex" }
    assert.strictEqual(sessionIdOf(headers, { prompt_cache_key: "body" }), "own")
    assert.strictEqual(sessionIdOf({ session_id: "codex" }, { prompt_cache_key: "body" }), "codex")
  })

  it("is none where nothing usable is said", () => {
    for (const body of [
      {},
      { prompt_cache_key: 5, metadata: "text", conversation: ["x"] },
      { prompt_cache_key: "x".repeat(513) },
      { session_id: "  " },
      { metadata: { user_id: "somebody" } },
      { metadata: { user_id: "{not json" } }
    ]) {
      assert.isNull(sessionIdOf({ "x-session-id": " " }, body), JSON.stringify(body))
    }
  })

  it("is remembered apart for each caller and each model", () => {
    const keys = [sessionKeyOf("k1", "m", "s"), sessionKeyOf("k2", "m", "s"), sessionKeyOf("k1", "n", "s")]
    assert.strictEqual(new Set(keys).size, 3)
    assert.strictEqual(sessionKeyOf("k1", "m", "s"), keys[0])
  })
})
