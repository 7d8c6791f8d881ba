/** What OmniRoute keeps as a declared document. */
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import { Declared } from "../../../../src/subjects/declared/Document.ts"
import type { ImportOptions } from "../../../../src/subjects/declared/imports/Imported.ts"
import { readOmniRoute } from "../../../../src/subjects/declared/imports/OmniRoute.ts"
import { filled } from "../../../../src/subjects/declared/Variables.ts"

const options: ImportOptions = {
  providers: new Map(["openai", "anthropic", "deepseek", "claude", "groq", "hyperbolic"].map((id) => [id, id])),
  withSecrets: false
}

const nodeId = "openai-compatible-chat-0a1b"

const exported = {
  providerConnections: [
    {
      id: "c1",
      provider: "openai",
      authType: "apikey",
      name: "work",
      apiKey: "sk-of-the-export-1234567890",
      priority: 1,
      isActive: true,
      maxConcurrent: 4,
      providerSpecificData: { baseUrl: "https://proxy.example.com/v1/", customUserAgent: "x", extraApiKeys: [] }
    },
    { id: "c2", provider: "openai", authType: "apikey", name: "work", apiKey: "enc:v1:aa:bb:cc", isActive: false },
    { id: "c3", provider: "claude", authType: "oauth", email: "me@example.com", accessToken: "token-of-the-account" },
    { id: "c4", provider: nodeId, authType: "apikey", apiKey: "key-of-the-node", defaultModel: "m" },
    { id: "c5", provider: "grok-web", authType: "cookie", name: "web" },
    { id: "c6", provider: "groq", authType: "apikey", name: "empty" },
    { id: "c7", provider: "hyp", authType: "apikey", name: "short", apiKey: "k" }
  ],
  providerNodes: [
    {
      id: nodeId,
      type: "openai-compatible",
      name: "Cellar",
      prefix: "cellar",
      apiType: "responses",
      baseUrl: "http://10.0.0.5:8000/v1",
      chatPath: "/responses",
      customHeaders: { "x-team": "red", authorization: "Bearer of-the-node" }
    },
    { id: "n2", type: "openai-compatible", name: "Clash", prefix: "openai", baseUrl: "https://other.example.com/v1" },
    { id: "n3", type: "comfy", name: "Strange", prefix: "strange", baseUrl: "https://x.example.com" },
    { id: "n4", type: "openai-compatible", prefix: "secret", baseUrl: "https://me:word@x.example.com" }
  ],
  combos: [
    { name: "outer", strategy: "usage", models: [{ kind: "combo-ref", comboName: "fast", weight: 0 }, "cellar/m"] },
    {
      name: "fast",
      strategy: "weighted",
      config: { maxRetries: 2 },
      models: [
        { kind: "model", model: "gpt-4o", providerId: "openai", connectionId: "c1", weight: 30, label: "cheap" },
        { kind: "model", model: `${nodeId}/m`, weight: 70, connectionId: "gone" },
        { kind: "model", model: "nowhere/x", weight: 1 }
      ]
    },
    { name: "circle", strategy: "debate", isActive: false, models: ["ring", "openai/x"] },
    { name: "ring", models: ["circle"] },
    { name: "hollow", models: ["nowhere/x"] },
    { name: "on hollow", models: [{ kind: "combo-ref", comboName: "hollow" }] },
    { name: "blank", models: [] }
  ],
  fallbackChains: [
    {
      model: "gpt-4o",
      chain: JSON.stringify([
        { provider: "deepseek", priority: 2, enabled: true },
        { provider: "openai", priority: 1 },
        { provider: "groq", priority: 0, enabled: false }
      ])
    },
    { model: "fast", chain: [{ provider: "openai" }] }
  ],
  modelAliases: { best: "openai/gpt-4o", quick: "fast", openai: "openai/x", lost: "nowhere/x" },
  pricing: {
    openai: {
      "gpt-4o": { input: 2.5, output: 10, cached: 1.25, reasoning: 10, cache_creation: 2.5 },
      "half-priced": { input: 1 }
    },
    [nodeId]: { m: { input: 0, output: 0 } },
    nowhere: { x: { input: 1, output: 1 } }
  },
  apiKeys: [{ name: "laptop", key: "sk-client" }],
  settings: { theme: "dark" }
}

const word = fc.oneof(
  fc.constantFrom(
    "openai",
    "openai/a",
    "n",
    "n/a",
    "a",
    "b",
    "c1",
    "apikey",
    "openai-compatible",
    "https://x.example.com/v1",
    "enc:v1:a",
    "${X}"
  ),
  fc.string({ maxLength: 5 }),
  fc.jsonValue({ maxDepth: 2 })
)
const columns = [
  "id",
  "provider",
  "auth_type",
  "authType",
  "name",
  "apiKey",
  "api_key",
  "prefix",
  "type",
  "baseUrl",
  "models",
  "chain",
  "strategy",
  "model",
  "comboName",
  "kind",
  "weight",
  "label",
  "priority",
  "maxConcurrent",
  "headers",
  "custom_headers_json"
]
const row = fc.dictionary(fc.constantFrom(...columns), fc.oneof(word, fc.array(word, { maxLength: 3 })))
/** An export whose members have the right names, and values that may be anything. */
const anyExport = fc.record({
  providerConnections: fc.array(row, { maxLength: 4 }),
  providerNodes: fc.array(row, { maxLength: 3 }),
  combos: fc.array(row, { maxLength: 4 }),
  fallbackChains: fc.array(row, { maxLength: 3 }),
  modelAliases: fc.dictionary(fc.string({ maxLength: 4 }), word),
  pricing: fc.dictionary(fc.constantFrom("openai", "n"), fc.dictionary(fc.string({ maxLength: 4 }), row))
})

describe("what OmniRoute keeps", () => {
  const { document, rows } = readOmniRoute(exported, options)
  /** Of two rows of one name the last one. */
  const why = new Map(rows.map(({ reason, result, what }) => [what, `${result}: ${reason}`]))

  it("becomes nodes, connections, combos, aliases and prices", () => {
    assert.deepStrictEqual(document, {
      version: 1,
      nodes: [
        {
          prefix: "cellar",
          name: "Cellar",
          type: "openai-compatible",
          baseUrl: "http://10.0.0.5:8000/v1",
          wires: ["responses"],
          headers: { "x-team": "red", authorization: "${CELLAR_AUTHORIZATION}" },
          chatPath: "/responses"
        },
        { prefix: "openai-2", name: "Clash", type: "openai-compatible", baseUrl: "https://other.example.com/v1" }
      ],
      connections: [
        {
          provider: "openai",
          name: "work",
          apiKey: "${OPENAI_WORK_API_KEY}",
          baseUrl: "https://proxy.example.com/v1",
          priority: 1,
          maxConcurrent: 4
        },
        { provider: "openai", name: "work 2", apiKey: "${OPENAI_WORK_2_API_KEY}", isActive: false },
        { provider: "cellar", name: "omniroute", apiKey: "${CELLAR_API_KEY}", defaultModel: "m" },
        { provider: "hyperbolic", name: "short", apiKey: "${HYPERBOLIC_SHORT_API_KEY}" }
      ],
      combos: [
        {
          name: "fast",
          strategy: "weighted",
          targets: [
            { model: "openai/gpt-4o", weight: 30, label: "cheap", connection: "openai/work" },
            { model: "cellar/m", weight: 70 }
          ]
        },
        { name: "outer", strategy: "least-used", targets: [{ model: "combo:fast" }, { model: "cellar/m" }] },
        { name: "circle", strategy: "priority", targets: [{ model: "openai/x" }], isActive: false },
        {
          name: "gpt-4o",
          strategy: "priority",
          targets: [{ model: "openai/gpt-4o" }, { model: "deepseek/gpt-4o" }]
        },
        { name: "quick", strategy: "priority", targets: [{ model: "combo:fast" }] }
      ],
      aliases: { best: "openai/gpt-4o" },
      prices: {
        openai: { "gpt-4o": { input: 2.5, output: 10, cached: 1.25, cacheCreation: 2.5, reasoning: 10 } },
        cellar: { m: { input: 0, output: 0 } }
      }
    })
    Schema.decodeUnknownSync(Declared)(document)
  })

  it("is told of part by part", () => {
    const expected: ReadonlyArray<readonly [what: string, result: RegExp]> = [
      ["node openai", /^changed: .*'openai-2'/],
      ["node strange", /^left out: .*'comfy'/],
      ["node secret", /^left out: .*without a password/],
      ["connection openai/work", /^changed: .*sealed its key: set OPENAI_WORK_2_API_KEY.*--with-secrets/],
      ["connection claude/me@example.com", /^left out: .*gateway provider login claude/],
      ["connection grok-web/web", /^left out: .*not known/],
      ["connection groq/empty", /^left out: It has no key/],
      ["combo fast", /^changed: .*config.*'openai-compatible-chat-0a1b\/m' may use any.*'nowhere\/x'/],
      ["combo circle", /^changed: .*'debate' is not known.*'ring', which is left out/],
      ["combo ring", /^left out: .*'circle', which leads back/],
      ["combo on hollow", /^left out: .*'hollow', which is left out/],
      ["combo blank", /^left out: .*no models/],
      ["fallbacks of fast", /^left out: /],
      ["alias openai", /^left out: .*name of a provider/],
      ["alias lost", /^left out: .*no provider that is known/],
      ["prices of openai", /^changed: Without half-priced/],
      ["prices of nowhere", /^left out: /],
      ["API key laptop", /^left out: .*gateway key add/],
      ["settings", /^left out: /]
    ]
    for (const [what, result] of expected) assert.match(why.get(what) ?? "", result, what)
    const told = JSON.stringify({ document, rows })
    for (const secret of ["sk-of-the-export", "of-the-node", "token-of", "sk-client"]) assert.notInclude(told, secret)
  })

  it("has its keys in the file only where that is wanted, and never sealed ones", () => {
    const { document: open } = readOmniRoute(exported, { ...options, withSecrets: true })
    const text = JSON.stringify(open)
    assert.include(text, "sk-of-the-export-1234567890")
    assert.include(text, "Bearer of-the-node")
    assert.include(text, "${OPENAI_WORK_2_API_KEY}")
    assert.notInclude(text, "enc:v1")
  })

  it("sends no key of a known provider to a node that has its name as prefix", () => {
    const { document: open } = readOmniRoute(
      {
        providerNodes: [{ id: "n", type: "openai-compatible", prefix: "openai", baseUrl: "https://x.example.com/v1" }],
        providerConnections: [{ provider: "openai", apiKey: "k" }],
        combos: [{ name: "a", models: ["openai/m", "n/m"] }]
      },
      options
    )
    assert.deepStrictEqual(open["connections"], [
      { provider: "openai", name: "omniroute", apiKey: "${OPENAI_API_KEY}" }
    ])
    assert.deepStrictEqual(open["combos"], [
      { name: "a", strategy: "priority", targets: [{ model: "openai/m" }, { model: "openai-2/m" }] }
    ])
  })

  it("may be anything", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), anyExport, (any, all) => {
        for (const given of [any, all]) {
          const { document: open } = readOmniRoute(given as never, options)
          Schema.decodeUnknownSync(Declared)(filled(open, new Map()).value)
        }
      }),
      { seed: 18, numRuns: 1_000 }
    )
  })
})
