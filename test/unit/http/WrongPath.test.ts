/** What a caller is told whose path has no route. */
import { assert, describe, it } from "@effect/vitest"
import { wrongAction, wrongPath } from "../../../src/entry/edge/WrongPath.ts"

const host = "127.0.0.1:20128"
const base = `http://${host}`

const told = (method: string, path: string, headers: Readonly<Record<string, string>> = {}) =>
  wrongPath(method, path, { host, ...headers })

describe("a wrong path", () => {
  for (const [method, path, wire, meant, setting] of [
    ["POST", "/v1/v1/messages", "messages", "POST /v1/messages", `${base}, without a path.`],
    ["POST", "/V1//v1/Messages/", "messages", "POST /v1/messages", `${base}, without a path.`],
    ["POST", "/v1/v1/chat/completions", "chat", "POST /v1/chat/completions", `${base}/v1.`],
    ["POST", "/openai/v1/chat/completions", "chat", "POST /v1/chat/completions", `${base}/v1.`],
    ["POST", "/messages", "messages", "POST /v1/messages", `${base}, without a path.`],
    ["POST", "/v1/v1/responses", "responses", "POST /v1/responses", `${base}/v1.`],
    ["POST", "/v1/v1beta/models/x:generateContent", "gemini", "POST /v1beta/models/{model}:generateContent", base],
    ["POST", "/v1/chat/completion", "chat", "POST /v1/chat/completions", null],
    ["POST", "/v1/chat", "chat", "POST /v1/chat/completions", null],
    ["POST", "/v1/message", "messages", "POST /v1/messages", null],
    ["POST", "/v1/messages/count_token", "messages", "POST /v1/messages/count_tokens", null],
    ["GET", "/v1/model", "chat", "GET /v1/models", null],
    ["POST", "/api/chatt", "ollama", "POST /api/chat", null],
    ["POST", "/v1/v1/chat/completion", "chat", "POST /v1/chat/completions", `${base}/v1.`],
    ["GET", "/api/provider", null, "GET /api/providers", null],
    ["GET", "/v1/api/combos", null, "GET /api/combos", null],
    ["DELETE", "/api/combo/abc", null, "DELETE /api/combos/{id}", null]
  ] as const) {
    it(`${method} ${path} is told of ${meant}`, () => {
      const answer = told(method, path)
      if (path.startsWith("/v1/api")) assert.include(["chat", null], answer.wire)
      else assert.strictEqual(answer.wire, wire, answer.message)
      assert.include(answer.message, `Did you mean ${meant}?`)
      if (setting === null) assert.notInclude(answer.message, "base URL")
      else assert.include(answer.message, `should probably be ${setting}`)
    })
  }

  it("is answered in the wire that the caller's headers show", () => {
    assert.strictEqual(told("POST", "/nowhere", { "anthropic-version": "2023-06-01" }).wire, "messages")
    assert.strictEqual(told("POST", "/nowhere", { "x-goog-api-key": "k" }).wire, "gemini")
    assert.strictEqual(told("GET", "/nowhere").wire, "chat")
    assert.include(told("GET", "/nowhere-at-all").message, "/openapi.json")
  })

  it("tells no key of a query, a path or a foreign host name back", () => {
    const { message } = wrongPath("POST", "/api/v1/editor/secret-token/nowhere?api_key=secret-too", {
      host: "evil.example/<script>"
    })
    assert.notInclude(message, "secret")
    assert.notInclude(message, "<script>")
  })

  it("of any length is answered with a short text", () => {
    for (const path of [`/${"a/".repeat(30_000)}`, `/${"a".repeat(60_000)}`, `/v1/${"%61".repeat(20_000)}`]) {
      assert.isBelow(told("POST", path).message.length, 500)
    }
  })

  it("an action that does not exist has the one that does", () => {
    assert.include(wrongAction("models/x:streamGenerateContents")?.message ?? "", "{model}:streamGenerateContent?")
    assert.include(wrongAction("models/x:nothing")?.message ?? "", ":countTokens")
    assert.isNull(wrongAction("models/x:generateContent"))
    assert.isNull(wrongAction("models/llama3:8b:countTokens"))
  })
})
