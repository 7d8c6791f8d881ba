import { assert, describe, it } from "@effect/vitest"
import type { ProviderSpec } from "../../../src/contract/domain/Provider.ts"
import { manifestOf, pluginManifest } from "../../../src/plane/providers/PluginManifest.ts"
import { specOf } from "../../../src/plane/providers/registry/Entry.ts"
import { allProviders } from "../../../src/plane/providers/registry/index.ts"

const spec: ProviderSpec = specOf("frontier")({
  id: "p",
  name: "P",
  baseUrl: "https://p.example/v1",
  aliases: ["pp"],
  wires: ["chat", "gemini"],
  paths: { chat: "/talk" },
  headers: { "x-fixed": "header-value" },
  env: ["P_API_KEY"],
  models: ["gpt-4o", "unheard-of"]
})

describe("PluginManifest", () => {
  it("says how a provider is called, and what is known of its models", () => {
    const [provider] = manifestOf([spec]).providers
    assert.deepInclude(provider, {
      id: "p",
      aliases: ["pp"],
      baseUrl: "https://p.example/v1",
      wires: ["chat", "gemini"],
      paths: { chat: "/talk", gemini: "/models/{model}:generateContent" },
      auth: { type: "apikey", header: "authorization", prefix: "Bearer " },
      sidecar: { eligible: true, reasons: [] }
    })
    assert.deepInclude(provider?.models[0], { id: "gpt-4o", vision: true, contextLength: 128_000 })
    assert.deepInclude(provider?.models[1], { id: "unheard-of", vision: null, contextLength: null })
  })

  it("leaves out request headers and the environment", () => {
    const text = JSON.stringify(manifestOf([spec]))
    assert.notInclude(text, "header-value")
    assert.notInclude(text, "P_API_KEY")
    const whole = JSON.stringify(pluginManifest())
    for (const { env } of allProviders) for (const name of env) assert.notInclude(whole, name)
  })

  it("says why a provider needs more than a key", () => {
    const [local, placed] = manifestOf([
      { ...spec, class: "local" },
      { ...spec, baseUrl: "https://{account}.p.example" }
    ]).providers
    assert.deepStrictEqual(local?.sidecar, { eligible: false, reasons: ["local_server"] })
    assert.deepStrictEqual(placed?.sidecar, { eligible: false, reasons: ["base_url_per_account"] })
  })

  it("says where a key is made, how it begins, what a connection needs and how an account signs in", () => {
    const shown = (id: string) => {
      const { keyHint, keyUrl, needs, signIn } = pluginManifest().providers.find((each) => each.id === id) ?? {}
      return { keyHint, keyUrl, needs, signIn }
    }
    assert.deepStrictEqual(shown("openai"), {
      keyUrl: "https://platform.openai.com/api-keys",
      keyHint: "sk-…",
      needs: ["apiKey"],
      signIn: null
    })
    assert.deepInclude(shown("azure-openai"), { needs: ["apiKey", "baseUrl"] })
    assert.deepInclude(shown("claude"), { keyUrl: null, needs: ["signIn"], signIn: "browser" })
    assert.deepInclude(shown("github"), { needs: ["signIn"], signIn: "device" })
    assert.deepInclude(shown("ollama"), { keyUrl: null, keyHint: null, needs: [] })
    for (const { keyUrl } of allProviders) assert.match(keyUrl ?? "https://", /^https:\/\//)
  })

  it("holds the whole registry and survives JSON", () => {
    const manifest = pluginManifest()
    assert.strictEqual(manifest.providers.length, allProviders.length)
    assert.deepStrictEqual(JSON.parse(JSON.stringify(manifest)), manifest)
    assert.strictEqual(pluginManifest(), manifest)
  })
})
