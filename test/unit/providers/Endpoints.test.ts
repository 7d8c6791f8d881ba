import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type { ProviderSpec } from "../../../src/contract/domain/Provider.ts"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import type { EndpointConnection } from "../../../src/plane/providers/Endpoints.ts"
import { endpointOf, modelsEndpointOf } from "../../../src/plane/providers/Endpoints.ts"
import { registry } from "../../../src/plane/providers/Registry.ts"
import { allProviders } from "../../../src/plane/providers/registry/index.ts"
import { secretHeaders } from "../../support/headers.ts"

const key = "sk-secret"
const plain: EndpointConnection = {
  apiKey: Redacted.make(key),
  authType: "apikey",
  baseUrl: null,
  headers: null,
  oauth: null,
  wires: null
}
const spec = (id: string): ProviderSpec => registry.get(id)!
const endpoint = (of: ProviderSpec, over: Partial<EndpointConnection> = {}, wire: WireName = of.wires[0]) =>
  Either.getOrThrowWith(endpointOf(of, { ...plain, ...over }, wire), (error) => error)
const failure = (of: ProviderSpec, over: Partial<EndpointConnection>, wire: WireName = of.wires[0]) => {
  const made = endpointOf(of, { ...plain, ...over }, wire)
  return Either.isLeft(made) ? made.left : assert.fail("an endpoint was made")
}
const headers = (flat: ReadonlyArray<string>): Record<string, string> =>
  Object.fromEntries(Array.from({ length: flat.length / 2 }, (_, at) => [flat[2 * at], flat[2 * at + 1]]))
const urlOf = (of: ProviderSpec, over: Partial<EndpointConnection> = {}, wire?: WireName, stream = false): string => {
  const { origin, path } = endpoint(of, over, wire)
  return origin + path("m", stream)
}

describe("address", () => {
  it("appends the path of the wire", () => {
    assert.strictEqual(urlOf(spec("openai")), "https://api.openai.com/v1/responses")
    assert.strictEqual(urlOf(spec("openai"), {}, "chat"), "https://api.openai.com/v1/chat/completions")
    assert.strictEqual(urlOf(spec("anthropic")), "https://api.anthropic.com/v1/messages")
    assert.strictEqual(urlOf(spec("ollama")), "http://127.0.0.1:11434/api/chat")
    assert.strictEqual(urlOf(spec("ollama"), {}, "chat"), "http://127.0.0.1:11434/v1/chat/completions")
  })

  it("puts the model and the method into a generative-language path", () => {
    const { path } = endpoint(spec("gemini"))
    assert.strictEqual(path("gemini-2.5-pro", false), "/v1beta/models/gemini-2.5-pro:generateContent")
    assert.strictEqual(path("gemini-2.5-pro", true), "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse")
  })

  it("has the embeddings beside the conversation", () => {
    const at = (of: ProviderSpec, over: Partial<EndpointConnection> = {}, wire?: WireName): string => {
      const { origin, path } = endpoint(of, over, wire).media("embeddings", { model: "a/m" })
      return origin + path
    }
    assert.strictEqual(at(spec("openai")), "https://api.openai.com/v1/embeddings")
    assert.strictEqual(at(spec("openai"), {}, "responses"), "https://api.openai.com/v1/embeddings")
    assert.strictEqual(at(spec("ollama")), "http://127.0.0.1:11434/api/embed")
    assert.strictEqual(at(spec("ollama"), {}, "chat"), "http://127.0.0.1:11434/v1/embeddings")
    assert.match(at(spec("gemini")), /\/v1beta\/models\/a%2Fm:batchEmbedContents$/)
    const baseUrl = "http://h/p/v1/chat/completions?api-version=3"
    assert.strictEqual(at(spec("openai"), { baseUrl }, "chat"), "http://h/p/v1/embeddings?api-version=3")
    const custom = { ...spec("openai"), paths: { chat: "/d/{model}/chat/completions?mode=1" } }
    assert.strictEqual(at(custom, {}, "chat"), "https://api.openai.com/v1/d/a%2Fm/embeddings?mode=1")
    // An unusual path tells nothing about its neighbours.
    assert.strictEqual(at({ ...custom, paths: { chat: "/talk" } }, {}, "chat"), "https://api.openai.com/v1/embeddings")
  })

  it("keeps a model name inside its path segment", () => {
    const { path } = endpoint(spec("gemini"))
    assert.strictEqual(path("../a?b#$&", false), "/v1beta/models/..%2Fa%3Fb%23%24%26:generateContent")
    const custom = { ...spec("openai"), paths: { chat: "/d/{model}/chat" } }
    assert.strictEqual(endpoint(custom, {}, "chat").path("..", false), "/v1/d/%252E%252E/chat")
  })

  it("prefers the connection's base URL, with or without slash, route and query", () => {
    for (const baseUrl of [
      "http://h:1/p/v1?api-version=3",
      "http://h:1/p/v1/?api-version=3",
      "http://h:1/p/v1/chat/completions?api-version=3",
      "http://h:1/p/v1/responses/?api-version=3"
    ]) {
      assert.strictEqual(
        urlOf(spec("openai"), { baseUrl }, "chat"),
        "http://h:1/p/v1/chat/completions?api-version=3",
        baseUrl
      )
    }
    const baseUrl = "http://h/v1beta/models?k=1"
    assert.strictEqual(
      urlOf(spec("gemini"), { baseUrl }, "gemini", true),
      "http://h/v1beta/models/m:streamGenerateContent?k=1&alt=sse"
    )
  })

  it("adds the version of a provider's API to an own address without one, for all of the registry", () => {
    const version = /\/v\d[^/]*$/
    let versioned = 0
    for (const each of registry.values()) {
      if (each.baseUrl.includes("{")) continue
      const usual = new URL(each.baseUrl).pathname.replace(/\/+$/, "")
      const own = version.exec(usual)?.[0] ?? ""
      if (own !== "") versioned += 1
      for (const wire of each.wires) {
        const pathAt = (baseUrl: string | null): string => new URL(urlOf(each, { baseUrl }, wire)).pathname
        const route = pathAt(null).slice(usual.length)
        assert.strictEqual(pathAt("http://h"), (own === "" ? "" : usual) + route, `${each.id}, ${wire}: a host alone`)
        assert.strictEqual(pathAt("http://h/p/"), `/p${own}${route}`, `${each.id}, ${wire}: a path without a version`)
        assert.strictEqual(pathAt("http://h/p/v7beta"), `/p/v7beta${route}`, `${each.id}, ${wire}: another version`)
        assert.strictEqual(pathAt("http://h/v7/p"), `/v7/p${route}`, `${each.id}, ${wire}: a version inside`)
      }
    }
    assert.isAbove(versioned, 50)
  })

  it("uses the provider's own path and its query", () => {
    const custom = { ...spec("openai"), paths: { chat: "chat?mode=a?b" } }
    assert.strictEqual(urlOf(custom, { baseUrl: "http://h?x=1" }, "chat"), "http://h/v1/chat?x=1&mode=a?b")
  })

  it("names the placeholder that was not filled", () => {
    const unfilled = failure(spec("azure-openai"), {})
    assert.strictEqual(unfilled._tag, "PlaceholderUnfilled")
    assert.include(unfilled.message, "'resource'")
    assert.strictEqual(
      urlOf(spec("azure-openai"), { baseUrl: "https://mine.openai.azure.com/openai/v1" }),
      "https://mine.openai.azure.com/openai/v1/chat/completions"
    )
    const inPath = failure({ ...spec("openai"), paths: { chat: "/{deployment}/chat" } }, {}, "chat")
    assert.include(inPath.message, "'deployment'")
  })

  it("refuses base URLs that are none", () => {
    for (const baseUrl of ["", "api.openai.com", "file:///etc/passwd", "https://user:pw@host/v1"]) {
      const error = failure(spec("openai"), { baseUrl })
      assert.strictEqual(error._tag, "BaseUrlInvalid", baseUrl)
      assert.notInclude(error.message, "pw")
    }
  })

  it("exists for every wire of every provider", () => {
    for (const each of allProviders) {
      const baseUrl = each.baseUrl.includes("{") ? "https://customer.example/base" : null
      for (const wire of each.wires) assert.match(urlOf(each, { baseUrl }, wire), /^https?:\/\/[^{}]+$/)
    }
  })
})

describe("headers", () => {
  it("carries the key as the provider wants it", () => {
    assert.deepStrictEqual(endpoint(spec("openai")).headers, ["authorization", `Bearer ${key}`])
    assert.deepStrictEqual(headers(endpoint(spec("anthropic")).headers), {
      "x-api-key": key,
      "anthropic-version": "2023-06-01"
    })
    assert.deepStrictEqual(headers(endpoint(spec("gemini")).headers), { "x-goog-api-key": key })
  })

  it("sends an access token as bearer", () => {
    const oauth = {
      accessToken: Redacted.make("token"),
      refreshToken: null,
      expiresAtMs: null,
      clientId: null,
      clientSecret: null,
      tokenUrl: null
    }
    const sent = headers(endpoint(spec("anthropic"), { authType: "oauth", oauth, apiKey: null }).headers)
    assert.strictEqual(sent["authorization"], "Bearer token")
    assert.notProperty(sent, "x-api-key")
  })

  it("goes without a key only where that can work", () => {
    assert.strictEqual(failure(spec("openai"), { apiKey: null })._tag, "CredentialMissing")
    assert.strictEqual(failure(spec("openai"), { authType: "oauth" })._tag, "CredentialMissing")
    assert.deepStrictEqual(endpoint(spec("ollama"), { apiKey: null }).headers, [])
    assert.deepStrictEqual(endpoint(spec("openai"), { authType: "none" }).headers, [])
    assert.deepStrictEqual(endpoint(spec("openai"), { apiKey: null, baseUrl: "http://h/v1" }).headers, [])
  })

  it("lets a connection add and replace headers, but not the key or the transport's own", () => {
    const sent = endpoint(spec("anthropic"), {
      headers: secretHeaders({
        "X-Team": "a",
        "Anthropic-Version": "2024-01-01",
        "X-API-Key": "other",
        Host: "evil",
        "Content-Length": "0"
      })
    }).headers
    assert.deepStrictEqual(headers(sent), { "x-api-key": key, "anthropic-version": "2024-01-01", "x-team": "a" })
  })

  it("refuses what could smuggle a second header, without repeating values", () => {
    for (const [name, value] of [
      ["x-a", "1\r\nx-b: 2"],
      ["x-a\n", "1"],
      ["x a", "1"],
      ["x-a", "snow ☃"]
    ] as const) {
      const own = secretHeaders({ [name]: value })
      assert.strictEqual(failure(spec("openai"), { headers: own })._tag, "HeaderInvalid", name + value)
    }
    const error = failure(spec("openai"), { apiKey: Redacted.make("sk-1\nx") })
    assert.strictEqual(error._tag, "HeaderInvalid")
    assert.notInclude(error.message, "sk-1")
  })
})

describe("model list", () => {
  const listOf = (id: string, over: Partial<EndpointConnection> = {}) => {
    const made = modelsEndpointOf(spec(id), { ...plain, ...over })
    return made === null ? null : Either.getOrThrowWith(made, (error) => error)
  }
  const listUrl = (id: string, over: Partial<EndpointConnection> = {}) => {
    const made = listOf(id, over)
    return made === null ? null : made.origin + made.path
  }

  it("lies below the base URL or at an address of its own", () => {
    assert.strictEqual(listUrl("openai"), "https://api.openai.com/v1/models")
    assert.strictEqual(listUrl("openai", { baseUrl: "http://h/v1/chat/completions" }), "http://h/v1/models")
    assert.strictEqual(listUrl("gemini"), "https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000")
    assert.strictEqual(listUrl("ollama-cloud"), "https://ollama.com/api/tags")
    assert.strictEqual(listUrl("codestral"), null)
    assert.deepStrictEqual(listOf("openai")?.headers, ["authorization", `Bearer ${key}`])
  })

  it("never sends the key of another address to the registry's list host", () => {
    assert.strictEqual(listUrl("ollama-cloud", { baseUrl: "http://h/v1" }), null)
  })
})
