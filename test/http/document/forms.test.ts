/** The API document as what forms are made from: what may be left out, what null clears, defaults, secrets, long texts and labels. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { build } from "../../../src/contract/document/Build.ts"
import { newObjects, settings } from "../../../src/contract/document/Defaults.ts"
import { layerOf, TestApp } from "../management/TestApp.ts"

interface Shown {
  readonly title?: string
  readonly type?: string | ReadonlyArray<string>
  readonly anyOf?: ReadonlyArray<Shown>
  readonly default?: unknown
  readonly format?: string
  readonly writeOnly?: boolean
  readonly "x-multiline"?: boolean
  readonly properties?: Readonly<Record<string, Shown>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: boolean | Shown
}

const schemas = (build() as unknown as { readonly components: { readonly schemas: Readonly<Record<string, Shown>> } })
  .components.schemas
const fieldOf = (schema: string, field: string): Shown => schemas[schema]?.properties?.[field] ?? {}

const takesNull = ({ anyOf = [], type }: Shown): boolean =>
  [type].flat().includes("null") || anyOf.some((each) => each.type === "null")

describe("the fields of bodies", () => {
  it("say by null that null clears them, and by nothing else that they may be left out", () => {
    for (const [schema, left, cleared] of [
      ["CreateApiKey", ["scopes", "rateLimits", "noLog", "isActive"], ["expiresAt", "allowedModels", "maxSessions"]],
      ["UpdateApiKey", ["name", "scopes", "isActive"], ["expiresAt", "accessSchedule"]],
      ["UpdateCombo", ["name", "strategy", "targets", "config", "isActive"], []],
      ["CreateConnection", ["name", "apiKey", "models", "priority"], ["baseUrl", "headers", "proxyId", "tier"]],
      ["UpdateConnection", ["name", "apiKey", "isActive"], ["baseUrl", "maxConcurrent", "transport"]],
      ["ChangeMemorySettings", ["enabled", "maxTokens"], ["model"]]
    ] as const) {
      for (const name of left) {
        assert.property(schemas[schema]?.properties, name, schema)
        assert.isFalse(takesNull(fieldOf(schema, name)), `${schema}.${name}`)
        assert.notInclude(schemas[schema]?.required ?? [], name)
      }
      for (const name of cleared) assert.isTrue(takesNull(fieldOf(schema, name)), `${schema}.${name}`)
    }
  })

  it("each have a label", () => {
    let count = 0
    for (const [schema, { properties = {} }] of Object.entries(schemas)) {
      for (const [name, { title }] of Object.entries(properties)) {
        assert.match(title ?? "", /^[\p{Lu}\d(].*$/u, `${schema}.${name}`)
        count++
      }
    }
    assert.isAbove(count, 900)
    assert.strictEqual(fieldOf("CreateApiKey", "maxRequestsPerDay").title, "Max requests per day")
    assert.strictEqual(fieldOf("CreateMcpServer", "timeoutMs").title, "Timeout (ms)")
  })

  it("are marked where they are secrets, and where a text is long", () => {
    for (const [schema, name] of [
      ["CreateConnection", "apiKey"],
      ["OAuthInput", "refreshToken"],
      ["CreateProxy", "password"],
      ["CreateWebhook", "secret"]
    ] as const) {
      const { format, writeOnly } = fieldOf(schema, name)
      assert.deepStrictEqual({ format, writeOnly }, { format: "password", writeOnly: true }, `${schema}.${name}`)
    }
    const headers = fieldOf("CreateConnection", "headers").additionalProperties as Shown
    assert.strictEqual(headers.format, "password")
    assert.isTrue(fieldOf("ChangeSystemPrompt", "prefixPrompt")["x-multiline"])
    assert.isTrue(fieldOf("CreateMemory", "content")["x-multiline"])
    assert.isUndefined(fieldOf("CreateConnection", "apiKey")["x-multiline"])
    assert.isUndefined(fieldOf("CreateCombo", "name")["x-multiline"])
  })

  it("have what is in force where nothing is said; in changes nothing is", () => {
    for (const [schema, defaults] of Object.entries({ ...newObjects, ...settings })) {
      for (const [name, value] of Object.entries(defaults)) {
        assert.property(schemas[schema]?.properties, name, schema)
        assert.deepStrictEqual(fieldOf(schema, name).default, value, `${schema}.${name}`)
      }
    }
    for (const [schema, { properties = {} }] of Object.entries(schemas)) {
      if (!/^(?:Update|Change)/.test(schema)) continue
      for (const [name, field] of Object.entries(properties)) assert.notProperty(field, "default", `${schema}.${name}`)
    }
  })
})

describe("the defaults of the document", () => {
  it.layer(layerOf())((it) => {
    it.effect("are what a new object has that is made with what is required only", () =>
      Effect.gen(function* () {
        const app = yield* TestApp
        const made: Readonly<Record<keyof typeof newObjects, readonly [path: string, body: object, member: string]>> = {
          CreateProviderNode: [
            "/api/provider-nodes",
            { name: "n", prefix: "near", type: "openai-compatible", baseUrl: "http://127.0.0.1:9/v1" },
            "node"
          ],
          CreateConnection: ["/api/providers", { provider: "near", apiKey: "k" }, "connection"],
          CreateCombo: ["/api/combos", { name: "c", targets: [{ model: "near/m" }] }, "combo"],
          CreateApiKey: ["/api/keys", { name: "k" }, "key"],
          CreateWebhook: ["/api/webhooks", { url: "https://example.com/hook" }, "webhook"],
          CreateQuotaGroup: [
            "/api/quota/groups",
            { name: "g", members: [{ connectionId: "made", weight: 1 }] },
            "group"
          ],
          CreateCompressionCombo: ["/api/context/combos", { name: "x", pipeline: [{ engine: "rtk" }] }, "combo"],
          CreateMcpServer: ["/api/mcp/servers", { name: "s", url: "https://example.com/mcp" }, "server"],
          CreateMemory: ["/api/memory", { content: "It rains." }, "memory"],
          CreateProxy: [
            "/api/v1/management/proxies",
            { name: "p", type: "http", host: "proxy.example.com", port: 3128 },
            "proxy"
          ],
          CreatePlaygroundPreset: [
            "/api/playground/presets",
            { name: "p", endpoint: "chat", model: "near/m" },
            "preset"
          ]
        }
        let connectionId = ""
        for (const [schema, [path, given, member]] of Object.entries(made)) {
          const body = JSON.parse(JSON.stringify(given).replace('"made"', JSON.stringify(connectionId)))
          const answer = yield* app.admin(path, { method: "POST", body })
          assert.strictEqual(answer.status, 201, `${schema} ${answer.text}`)
          if (schema === "CreateConnection") connectionId = String(answer.at("connection.id"))
          for (const [name, value] of Object.entries(newObjects[schema as keyof typeof newObjects])) {
            assert.deepStrictEqual(answer.at(`${member}.${name}`), value, `${schema}.${name}`)
          }
        }
      })
    )

    it.effect("are what settings are before anybody changes them", () =>
      Effect.gen(function* () {
        const app = yield* TestApp
        const paths: Readonly<Record<keyof typeof settings, string>> = {
          Resilience: "/api/resilience",
          RoutingSettings: "/api/settings/routing",
          IpFilter: "/api/settings/ip-filter",
          ThinkingBudget: "/api/settings/thinking-budget",
          SystemPrompt: "/api/settings/system-prompt",
          RequireLogin: "/api/settings/require-login",
          MemorySettings: "/api/settings/memory",
          AllSettings: "/api/settings",
          GuardrailSettings: "/api/settings/guardrails",
          CompressionSettings: "/api/settings/compression",
          CavemanSettings: "/api/context/caveman/config",
          RtkSettings: "/api/context/rtk/config"
        }
        for (const [schema, path] of Object.entries(paths)) {
          const answer = yield* app.admin(path)
          assert.strictEqual(answer.status, 200, `${path} ${answer.text}`)
          for (const [name, value] of Object.entries(settings[schema as keyof typeof settings])) {
            assert.deepStrictEqual(answer.at(name), value, `${schema}.${name}`)
          }
        }
      })
    )
  })
})
