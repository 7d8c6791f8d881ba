/** Paths without a route, asked over HTTP: answered in the caller's wire, without a key, with the path that was meant. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as RawRequest from "../../support/RawRequest.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const json = { "content-type": "application/json" }

describe("a wrong path", () => {
  it.scopedLive("is 404 in the caller's own wire with the right one, also for a caller without a key", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start({ environment: new Map([["REQUIRE_API_KEY", "true"]]) })
      const ask = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
        const answer = await RawRequest.ask(gateway.url, {
          method: "POST",
          path,
          headers: { ...json, ...headers },
          body: "{}"
        })
        assert.strictEqual(answer.status, 404, `${path}: ${answer.body}`)
        assert.isString(answer.headers["x-gateway-request-id"])
        return JSON.parse(answer.body)
      }
      yield* Effect.promise(async () => {
        const messages = await ask("/v1/v1/messages", { "anthropic-version": "2023-06-01" })
        assert.strictEqual(messages.type, "error")
        assert.strictEqual(messages.error.type, "not_found_error")
        assert.include(messages.error.message, "Did you mean POST /v1/messages?")
        assert.include(messages.error.message, gateway.url)

        const chat = await ask("/v1/chat/completion")
        assert.strictEqual(chat.error.code, "not_found")
        assert.include(chat.error.message, "Did you mean POST /v1/chat/completions?")

        const gemini = await ask("/v1beta/models/x:streamGenerateContents")
        assert.strictEqual(gemini.error.code, 404)
        assert.strictEqual(gemini.error.status, "NOT_FOUND")
        assert.include(gemini.error.message, ":streamGenerateContent?")

        assert.include((await ask("/api/chatt")).error, "Did you mean POST /api/chat?")

        const managed = await ask("/api/combo")
        assert.strictEqual(managed.error.code, "not_found")
        assert.isString(managed.error.request_id)
        assert.include(managed.error.message, "Did you mean POST /api/combos?")
      })
    })
  )

  it.scopedLive("in another case, with doubled slashes or one at the end is right", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        for (const path of ["/V1/Models", "//v1//models", "/v1/models/", "/v1/./models"]) {
          const answer = await RawRequest.ask(gateway.url, { method: "GET", path, headers: {} })
          assert.strictEqual(answer.status, 200, path)
        }
      })
    })
  )
})
