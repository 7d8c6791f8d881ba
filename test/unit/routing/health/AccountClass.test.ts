import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import type { Connection } from "../../../../src/subjects/connections/entity.ts"
import type { ProviderNode } from "../../../../src/subjects/nodes/entity.ts"
import { snapshot } from "../../../../src/plane/providers/Catalog.ts"
import { isLocalAddress } from "../../../../src/net/egress/OutboundPolicy.ts"
import { guardedOf } from "../../../../src/plane/routing/health/AccountClass.ts"
import { isFree } from "../../../../src/plane/routing/auto/ModelTier.ts"
import { candidateOf, targetOf } from "../../../support/Candidates.ts"
import { connection } from "../../../support/Records.ts"

const node: ProviderNode = {
  id: "n",
  name: "far",
  prefix: "far",
  type: "ollama-compatible",
  baseUrl: "https://ollama.example.com",
  wires: null,
  headers: null,
  chatPath: null,
  modelsPath: null,
  mediaPaths: null,
  createdAtMs: 0,
  updatedAtMs: 0
}

const accountOf = (given: Partial<Connection>) =>
  snapshot([connection({ id: "a", provider: "openai", ...given })], [node], []).accounts[0]!
const classOf = (given: Partial<Connection>) => guardedOf(accountOf(given)).class
const isFreeAt = (given: Partial<Connection>) =>
  isFree(candidateOf(targetOf(accountOf(given), "m"), { tier: given.tier ?? null }))

describe("the class of an account", () => {
  it("is OAuth by how the account signs in, whatever the provider is", () => {
    const oauth = { accessToken: Redacted.make("token"), refreshToken: null, expiresAtMs: null }
    const tokens = { ...oauth, clientId: null, clientSecret: null, tokenUrl: null }
    assert.strictEqual(classOf({ provider: "openai", authType: "oauth", oauth: tokens }), "oauth")
    assert.strictEqual(classOf({ provider: "openai" }), "apikey")
  })

  it("is local only where the server stands at home", () => {
    assert.strictEqual(classOf({ provider: "ollama", authType: "none" }), "local")
    assert.strictEqual(classOf({ provider: "ollama", authType: "none", baseUrl: "https://far.example.com" }), "apikey")
    assert.strictEqual(classOf({ provider: "far", authType: "none" }), "apikey")
    assert.strictEqual(classOf({ provider: "openai", baseUrl: "http://127.0.0.1:8000/v1" }), "local")
  })

  it("and free by a mark, never by the type of a node", () => {
    assert.isTrue(isFreeAt({ provider: "ollama", authType: "none" }))
    assert.isFalse(isFreeAt({ provider: "ollama", authType: "none", baseUrl: "https://far.example.com" }))
    assert.isFalse(isFreeAt({ provider: "far", authType: "none" }))
    assert.isTrue(isFreeAt({ provider: "far", authType: "none", tier: "free" }))
  })

  it("loopback, link-local and private addresses are local", () => {
    const local = ["http://127.0.0.1:1", "http://localhost", "http://[::1]:8", "http://169.254.1.1", "http://10.0.0.7"]
    for (const url of [...local, "http://192.168.1.5/v1", "http://gpu.local", "http://[fe80::1]"]) {
      assert.isTrue(isLocalAddress(url), url)
    }
    for (const url of ["https://api.openai.com/v1", "http://8.8.8.8", "no address", "https://{region}.example"]) {
      assert.isFalse(isLocalAddress(url), url)
    }
  })
})
