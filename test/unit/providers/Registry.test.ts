import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { ProviderNode } from "../../../src/subjects/nodes/entity.ts"
import { problemOf, settingsOf } from "../../../src/subjects/connections/rules.ts"
import { endpointOf } from "../../../src/plane/providers/Endpoints.ts"
import { endpointOf as tokenEndpointOf, requestOf } from "../../../src/plane/providers/oauth/TokenRequest.ts"
import { byAlias, find, fromNode, registry, search } from "../../../src/plane/providers/Registry.ts"
import { plainDialect } from "../../../src/contract/domain/Dialect.ts"
import { dialectIds, statementsOf } from "../../../src/plane/providers/registry/dialects.ts"
import { Entry } from "../../../src/plane/providers/registry/Entry.ts"
import { allProviders, registryFiles } from "../../../src/plane/providers/registry/index.ts"
import { decodeData } from "../../../src/kernel/DataFile.ts"
import { connection } from "../../support/Records.ts"
import { inClear, secretHeaders } from "../../support/headers.ts"

const withoutPlaceholders = (url: string): string => url.replaceAll(/\{[A-Za-z]+\}/g, "x")

const node = (over: Partial<ProviderNode>): ProviderNode => ({
  id: "n1",
  name: "My server",
  prefix: "mine",
  type: "openai-compatible",
  baseUrl: "http://127.0.0.1:9000/v1/",
  wires: null,
  headers: null,
  chatPath: null,
  modelsPath: null,
  mediaPaths: null,
  createdAtMs: 0,
  updatedAtMs: 0,
  ...over
})

describe("registry data", () => {
  it("is in the form of the schema that describes it", () => {
    const decode = decodeData(Schema.Array(Entry))
    for (const [category, entries] of registryFiles) assert.doesNotThrow(() => decode(entries), category)
  })

  it("holds at least 110 providers under names of their own", () => {
    const names = allProviders.flatMap((spec) => [spec.id, ...spec.aliases])
    assert.isAtLeast(allProviders.length, 110)
    assert.deepStrictEqual(
      names.filter((name, at) => names.indexOf(name) !== at),
      []
    )
    for (const name of names) assert.match(name, /^[a-z0-9]+(-[a-z0-9]+)*$/)
  })

  it("gives one variable to one provider, and none to an address that is not complete", () => {
    const variables = allProviders.flatMap((spec) => spec.env)
    assert.strictEqual(new Set(variables).size, variables.length)
    for (const name of variables) assert.match(name, /^[A-Z][A-Z0-9_]*_(KEY|TOKEN)$/)
    for (const spec of allProviders.filter(({ baseUrl }) => baseUrl.includes("{"))) assert.deepStrictEqual(spec.env, [])
  })

  for (const spec of allProviders) {
    it(`${spec.id} is well formed`, () => {
      const base = withoutPlaceholders(spec.baseUrl)
      assert.isTrue(URL.canParse(base), base)
      assert.isFalse(base.endsWith("/"))
      assert.strictEqual(new URL(base).protocol, spec.class === "local" ? "http:" : "https:")
      assert.isNotEmpty(spec.wires)
      assert.strictEqual(spec.category === "local", spec.class === "local")
      assert.strictEqual(spec.auth.header, spec.auth.header.toLowerCase())
      if (spec.modelsPath !== null) assert.match(spec.modelsPath, /^(\/|https:\/\/)/)
      for (const header of Object.keys(spec.headers)) assert.strictEqual(header, header.toLowerCase())
    })
  }

  it("knows the key variables the contract names", () => {
    const owners = new Map(allProviders.flatMap((spec) => spec.env.map((name) => [name, spec.id] as const)))
    const named = ["OPENAI", "ANTHROPIC", "GEMINI", "GROQ", "MISTRAL", "DEEPSEEK", "OPENROUTER"]
    assert.deepStrictEqual(
      named.map((name) => owners.get(`${name}_API_KEY`)),
      named.map((name) => name.toLowerCase())
    )
  })
})

describe("dialects", () => {
  it("are said of providers of the registry only, each statement with its address", () => {
    for (const id of dialectIds) {
      const dialect = registry.get(id)?.dialect
      if (dialect === undefined) assert.fail(id)
      const statements = statementsOf(dialect)
      assert.isNotEmpty(statements, id)
      for (const { docs } of statements) assert.isTrue(URL.canParse(docs), docs)
    }
  })

  it("follow a node to the provider's own address, and to no other", () => {
    const at = (baseUrl: string) => fromNode(node({ baseUrl })).dialect
    assert.strictEqual(at("https://api.mistral.ai/v1"), registry.get("mistral")?.dialect)
    assert.strictEqual(at("https://api.x.ai/v1/").usage.reasoning, "beside")
    assert.strictEqual(at("http://127.0.0.1:11434"), plainDialect)
    assert.strictEqual(at("https://my.mistral.example/v1"), plainDialect)
  })

  it("OpenAI speaks responses first", () => {
    assert.deepStrictEqual(registry.get("openai")?.wires, ["responses", "chat"])
  })
})

describe("providers of signed-in accounts", () => {
  const oauth = {
    accessToken: Redacted.make("an-access-token"),
    refreshToken: Redacted.make("a-refresh-token"),
    expiresAtMs: null,
    clientId: "the-client-it-was-given-to",
    clientSecret: null,
    tokenUrl: null
  }
  const cases = [
    ["claude", "cc", "messages", "https://api.anthropic.com/v1/messages?beta=true", "https://console.anthropic.com"],
    ["codex", "cx", "responses", "https://chatgpt.com/backend-api/codex/responses", "https://auth.openai.com"],
    ["github", "gh", "chat", "https://api.githubcopilot.com/chat/completions", "https://github.com"]
  ] as const
  for (const [id, alias, wire, url, tokens] of cases) {
    it(`${id} is called with the account's token, which is renewed at ${tokens}`, () => {
      const spec = find(alias) ?? assert.fail("not in the registry")
      assert.deepInclude(spec, { id, class: "oauth", category: "oauth", env: [] })
      const account = connection({ id: "c", provider: id, authType: "oauth", apiKey: null, oauth })
      const endpoint = Either.getOrThrow(endpointOf(spec, account, wire))
      assert.strictEqual(endpoint.origin + endpoint.path("m", true), url)
      assert.deepStrictEqual(endpoint.headers.slice(0, 2), ["authorization", "Bearer an-access-token"])
      const renewal = tokenEndpointOf(spec, oauth) ?? assert.fail("cannot be renewed")
      const request = requestOf(renewal, oauth.refreshToken, oauth, renewal.clientAuth)
      assert.strictEqual(request.origin, tokens)
      assert.include(String(request.body), "the-client-it-was-given-to")
      const missing = settingsOf({ provider: id }, spec)
      assert.strictEqual(
        problemOf(missing, spec, { isNode: false, hasLockedSecret: false, isOn: () => true })?.field,
        "oauth"
      )
    })
  }
})

describe("look-ups", () => {
  it("finds by id and alias in any case", () => {
    assert.strictEqual(find("GROQ")?.id, "groq")
    assert.strictEqual(find("Pplx")?.id, "perplexity")
    assert.strictEqual(find("toString"), null)
    assert.strictEqual(byAlias.get("hf"), registry.get("huggingface"))
  })

  it("searches ids, names and aliases within a category", () => {
    assert.deepStrictEqual(
      search("  DouBao ").map(({ id }) => id),
      ["volcengine"]
    )
    assert.include(
      search("llama", "local").map(({ id }) => id),
      "llama-cpp"
    )
    assert.isTrue(search("", "enterprise").every(({ category }) => category === "enterprise"))
    assert.strictEqual(search("").length, allProviders.length)
  })
})

describe("provider nodes", () => {
  it("takes wire, key header and class from the type", () => {
    const shape = (type: ProviderNode["type"]) => {
      const { auth, class: kind, wires } = fromNode(node({ type }))
      return [wires.join(), `${auth.header}: ${auth.prefix}`, auth.type, kind]
    }
    assert.deepStrictEqual(shape("openai-compatible"), ["chat", "authorization: Bearer ", "optional", "apikey"])
    assert.deepStrictEqual(shape("anthropic-compatible"), ["messages", "x-api-key: ", "optional", "apikey"])
    assert.deepStrictEqual(shape("gemini-compatible"), ["gemini", "x-goog-api-key: ", "optional", "apikey"])
    assert.deepStrictEqual(shape("ollama-compatible"), ["ollama", "authorization: Bearer ", "optional", "local"])
  })

  it("keeps what the operator declared", () => {
    const spec = fromNode(
      node({
        wires: ["responses", "messages"],
        headers: secretHeaders({ "X-Team": "a", "Anthropic-Version": "2024-01-01" }),
        chatPath: "/custom/chat",
        modelsPath: "/list"
      })
    )
    assert.strictEqual(spec.id, "mine")
    assert.strictEqual(spec.baseUrl, "http://127.0.0.1:9000/v1")
    assert.deepStrictEqual(spec.wires, ["responses", "messages"])
    assert.deepStrictEqual(spec.paths, { chat: "/custom/chat" })
    assert.strictEqual(spec.modelsPath, "/list")
    assert.deepStrictEqual(inClear(spec.ownHeaders), { "anthropic-version": "2024-01-01", "x-team": "a" })
  })

  it("falls back to the type's wire when none is declared", () => {
    assert.deepStrictEqual(fromNode(node({ wires: [] })).wires, ["chat"])
  })
})
