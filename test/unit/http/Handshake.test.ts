import { assert, describe, it } from "@effect/vitest"
import { handshakeAnswer, type HandshakeFacts } from "../../../src/entry/edge/Handshake.ts"
import { readClientFrame } from "../../../src/entry/ws/ClientFrames.ts"

const facts: HandshakeFacts = {
  query: new URLSearchParams("handshake=1"),
  headers: {},
  principal: { _tag: "AdminKey" },
  enabled: true,
  keysRequired: true
}

describe("the handshake question", () => {
  it("shows messages that the socket understands", () => {
    const answer = handshakeAnswer(facts)
    assert.deepInclude(answer, { ok: true, authenticated: true, authType: "admin_key", path: "/v1/responses" })
    const { protocol } = answer as unknown as { protocol: { request: unknown; cancel: unknown } }
    assert.deepInclude(readClientFrame(JSON.stringify(protocol.request)), { _tag: "Create" })
    assert.deepInclude(readClientFrame(JSON.stringify(protocol.cancel)), { _tag: "Cancel" })
  })

  it("says so when the transport is off, or the handshake is no good", () => {
    assert.deepInclude(handshakeAnswer({ ...facts, enabled: false }), { ok: false, enabled: false })
    for (const headers of [{ "sec-websocket-version": "8" }, { "sec-websocket-key": "short" }]) {
      assert.deepInclude(handshakeAnswer({ ...facts, headers }), { ok: false, enabled: true })
    }
    const headers = { "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" }
    assert.deepInclude(handshakeAnswer({ ...facts, headers }), { ok: true })
  })

  it("is asked by a parameter; without it a socket is wanted", () => {
    for (const query of ["", "handshake=0", "other=1"]) {
      assert.deepInclude(handshakeAnswer({ ...facts, query: new URLSearchParams(query) }), { _tag: "UpgradeRequired" })
    }
  })
})
