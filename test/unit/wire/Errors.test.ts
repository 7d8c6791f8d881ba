import { assert, describe, it } from "@effect/vitest"
import type { AttemptRecord } from "../../../src/subjects/routing/entity.ts"
import { describe as describeError, InvalidRequest, TargetsFailed } from "../../../src/contract/domain/Errors.ts"
import { codecs } from "../../../src/wire/Codec.ts"
import { readUpstreamError } from "../../../src/wire/UpstreamError.ts"

const invalid = describeError(
  new InvalidRequest({ message: "n: bad", param: "n", details: [{ field: "n", message: "bad" }] })
)
const attempt: AttemptRecord = {
  provider: "p",
  connectionId: "c",
  model: "m",
  status: 429,
  outcome: "failed",
  reason: "http_429",
  startedMs: 0,
  latencyMs: 2
}

describe("renderError", () => {
  it("gives the chat wire all four members, and details", () => {
    assert.deepEqual(codecs.chat.renderError(invalid, "r1"), {
      error: {
        message: "n: bad",
        type: "invalid_request_error",
        code: "bad_request",
        param: "n",
        details: [{ field: "n", message: "bad" }],
        request_id: "r1"
      }
    })
  })

  it("gives the messages wire its own types, and the request id", () => {
    const types = [400, 401, 403, 404, 413, 429, 500, 502, 503, 504, 529].map((status) => {
      const body = codecs.messages.renderError({ ...invalid, status }, "r1") as {
        readonly error: { readonly type: string }
        readonly request_id: string
      }
      assert.strictEqual(body.request_id, "r1")
      return body.error.type
    })
    assert.deepEqual(types, [
      "invalid_request_error",
      "authentication_error",
      "permission_error",
      "not_found_error",
      "request_too_large",
      "rate_limit_error",
      "api_error",
      "api_error",
      "api_error",
      "timeout_error",
      "overloaded_error"
    ])
  })

  it("lists the attempts of an upstream failure", () => {
    const view = describeError(
      new TargetsFailed({
        status: 429,
        message: "slow",
        kind: null,
        native: null,
        retryAfterMs: null,
        resetsAtMs: null,
        attempts: [attempt]
      })
    )
    const expected = [{ provider: "p", model: "m", status: 429, reason: "http_429" }]
    assert.deepInclude(codecs.chat.renderError(view, "r")["error"], { attempts: expected })
    assert.deepInclude(codecs.messages.renderError(view, "r")["error"], { attempts: expected })
  })

  it("writes the error event of each stream, without a success terminator", () => {
    assert.match(codecs.chat.renderStreamError(invalid, "r"), /^data: \{"error":.*\}\n\n$/)
    assert.match(codecs.messages.renderStreamError(invalid, "r"), /^event: error\ndata: \{"type":"error",.*\}\n\n$/)
  })
})

describe("readUpstreamError", () => {
  it("reads every common shape", () => {
    const read = (body: unknown) => readUpstreamError(400, JSON.stringify(body))
    assert.deepInclude(read({ error: { message: "a", type: "t", code: "c" } }), {
      status: 400,
      message: "a",
      type: "t",
      code: "c"
    })
    assert.deepInclude(read({ type: "error", error: { type: "t", message: "a" } }), {
      status: 400,
      message: "a",
      type: "t",
      code: null
    })
    assert.deepInclude(read([{ error: { code: 429, message: "a", status: "S" } }]), {
      status: 400,
      message: "a",
      type: "S",
      code: "429"
    })
    assert.strictEqual(read({ error: "a" }).message, "a")
    assert.strictEqual(read({ detail: "a" }).message, "a")
    assert.strictEqual(read({ detail: [{ loc: ["x"], msg: "a" }, { msg: "b" }] }).message, "a; b")
    assert.strictEqual(read({ message: "a" }).message, "a")
  })

  it("reduces web pages and long texts to a sentence", () => {
    const page = "<!DOCTYPE html><html><head><title>502 Bad\n Gateway</title></head><body>…</body></html>"
    assert.strictEqual(
      readUpstreamError(502, page).message,
      "The upstream answered 502 with a web page: 502 Bad Gateway."
    )
    assert.strictEqual(readUpstreamError(500, "").message, "The upstream answered 500 without a body.")
    assert.strictEqual(readUpstreamError(500, "x".repeat(5000)).message.length, 2001)
    assert.strictEqual(readUpstreamError(500, "{broken").message, "{broken")
  })
})

describe("the wait an upstream asks for", () => {
  const body = (details: unknown) =>
    JSON.stringify({ error: { code: 429, message: "slow", status: "RESOURCE_EXHAUSTED", details } })
  const retryInfo = (retryDelay: unknown) => ({ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay })

  it("is read from Google's details", () => {
    const read = (text: string) => codecs.gemini.readUpstreamError(429, text).retryAfterMs
    const quota = { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [] }
    assert.strictEqual(read(body([quota, retryInfo("34.074824224s")])), 34_075)
    assert.strictEqual(read(`[${body([retryInfo("2s")])}]`), 2000)
  })

  it("is absent when it cannot be read", () => {
    for (const details of [[], null, [null], [retryInfo("soon")], [retryInfo(3)], [{ retryDelay: "1s" }]]) {
      assert.notProperty(readUpstreamError(429, body(details)), "retryAfterMs")
    }
  })
})
