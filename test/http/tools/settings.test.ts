/** `/api/cli-tools/{tool}-settings`: what it writes on the gateway's machine, and to whom it says no. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as TestGateway from "../../support/TestGateway.ts"
import { temporaryFolder } from "../../unit/store/fixtures.ts"

const scenario = (
  name: string,
  run: (gateway: TestGateway.TestGateway, home: string) => Promise<void>,
  hasHome = true
): void => {
  it.scopedLive(name, () =>
    Effect.gen(function* () {
      const home = join(yield* temporaryFolder, "home")
      mkdirSync(home)
      const environment = new Map(hasHome ? [["HOME", home]] : [])
      const gateway = yield* TestGateway.start({ environment })
      yield* Effect.promise(async () => {
        const account = { provider: "openai", name: "w", apiKey: "k", models: ["gpt-4o", "gpt-4o-mini"] }
        await gateway.manage("POST", "/api/providers", account)
        await run(gateway, home)
      })
    })
  )
}

const ask = (gateway: TestGateway.TestGateway, path: string, headers: Readonly<Record<string, string>> = {}) =>
  gateway.post(path, {}, { authorization: `Bearer ${TestGateway.adminKey}`, ...headers })

describe("/api/cli-tools/{tool}-settings", () => {
  scenario("sets a tool up with a key of its own, and a second time changes nothing", async (gateway, home) => {
    const path = join(home, ".claude/settings.json")
    const none = await gateway.manage("GET", "/api/cli-tools/claude-settings")
    assert.deepInclude(none, { tool: "claude", configured: false, keyId: null })
    assert.deepStrictEqual(none.files[0], { path, exists: false, values: {} })

    mkdirSync(join(home, ".claude"))
    writeFileSync(path, '{ "theme": "dark" } // mine\n')
    const first = await gateway.manage("POST", "/api/cli-tools/claude-settings", { model: "openai/gpt-4o" })
    assert.deepInclude(first, { success: true, path })
    assert.strictEqual(readFileSync(first.backupPath, "utf8"), '{ "theme": "dark" } // mine\n')
    const text = readFileSync(path, "utf8")
    for (const part of ["// mine", '"theme": "dark"', `"${gateway.url}"`]) assert.include(text, part)
    const [key] = (await gateway.manage("GET", "/api/keys")).keys
    assert.includeMembers(key.allowedModels, ["openai/gpt-4o", "openai/gpt-4o-mini"])
    const secret = /gw_\w+/.exec(text)?.[0] ?? assert.fail("no key")
    const models = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })
    assert.strictEqual(models.status, 200)

    const again = await gateway.manage("POST", "/api/cli-tools/claude-settings", { model: "openai/gpt-4o" })
    assert.isNull(again.backupPath)
    assert.strictEqual(readFileSync(path, "utf8"), text)
    assert.lengthOf((await gateway.manage("GET", "/api/keys")).keys, 1)

    const shown = await gateway.manage("GET", "/api/cli-tools/claude-settings")
    assert.deepInclude(shown, { configured: true, keyId: key.id })
    assert.strictEqual(shown.files[0].values["env.ANTHROPIC_BASE_URL"], gateway.url)
    assert.notInclude(JSON.stringify(shown), secret)
    assert.notInclude(JSON.stringify(shown), "dark")
  })

  scenario("gives the key the rules of another, and replaces the one before", async (gateway, home) => {
    await gateway.manage("POST", "/api/cli-tools/codex-settings", {})
    const rules = { name: "rules", allowedModels: ["openai/*mini"], maxRequestsPerDay: 7, scopes: ["manage"] }
    const { key } = await gateway.manage("POST", "/api/keys", rules)
    const body = { apiKeyId: key.id, baseUrl: "https://gateway.example/" }
    await gateway.manage("POST", "/api/cli-tools/codex-settings", body)
    const { keys } = await gateway.manage("GET", "/api/keys")
    assert.lengthOf(keys, 2)
    const own = keys.find((each: { readonly id: string }) => each.id !== key.id)
    assert.deepInclude(own, { allowedModels: ["openai/*mini"], maxRequestsPerDay: 7, scopes: ["self:usage"] })
    assert.include(readFileSync(join(home, ".codex/config.toml"), "utf8"), "https://gateway.example/v1")
    const shown = await gateway.manage("GET", "/api/cli-tools/codex-settings")
    assert.notMatch(JSON.stringify(shown), /gw_\w{12}/)
  })

  scenario("refuses what it cannot do, and makes no key", async (gateway, home) => {
    const status = async (path: string, body: unknown = {}) =>
      (await gateway.post(path, body, { authorization: `Bearer ${TestGateway.adminKey}` })).status
    assert.strictEqual(await status("/api/cli-tools/nothing-settings"), 404)
    assert.strictEqual(await status("/api/cli-tools/cursor-settings"), 409)
    assert.strictEqual(await status("/api/cli-tools/claude-settings", { model: "openai/gpt-9" }), 400)
    assert.strictEqual(await status("/api/cli-tools/claude-settings", { baseUrl: "ftp://x" }), 400)
    assert.strictEqual(await status("/api/cli-tools/claude-settings", { apiKeyId: "none" }), 404)
    mkdirSync(join(home, ".claude"))
    writeFileSync(join(home, ".claude/settings.json"), "nonsense")
    assert.strictEqual(await status("/api/cli-tools/claude-settings"), 409)
    assert.lengthOf((await gateway.manage("GET", "/api/keys")).keys, 0)
    assert.strictEqual(readFileSync(join(home, ".claude/settings.json"), "utf8"), "nonsense")
  })

  scenario("answers only direct connections from its own machine", async (gateway, home) => {
    const path = "/api/cli-tools/claude-settings"
    assert.strictEqual((await gateway.post(path, {})).status, 401)
    const proxied = await ask(gateway, path, { "x-forwarded-for": "203.0.113.9" })
    assert.strictEqual(proxied.status, 403)
    assert.include(await proxied.text(), "loopback_only")
    assert.isFalse(existsSync(join(home, ".claude")))
  })

  scenario(
    "writes nowhere when it does not know whose home it is",
    async (gateway) => {
      assert.strictEqual((await ask(gateway, "/api/cli-tools/claude-settings")).status, 409)
      assert.lengthOf((await gateway.manage("GET", "/api/keys")).keys, 0)
    },
    false
  )
})
