/** All views: access for all, sizes, and that no text of others becomes a page. */
import { gzipSync } from "node:zlib"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, beforeAll, describe, it } from "vitest"
import type { Page } from "playwright-core"
import { builtFolder } from "../cli/built.ts"
import { violations } from "./access.ts"
import { browserPath, world } from "./world.ts"

const views = [
  "",
  "?show=all",
  "?show=all&top=keys",
  "requests",
  "providers",
  "providers?show=inactive",
  "providers/models",
  "providers/quotas",
  "providers/pauses",
  "providers/nodes",
  "providers/add",
  "providers/add/groq",
  "providers/add/own",
  "providers/add/codex",
  "routing?model=auto",
  "routing/new",
  "routing/combo/best",
  "routing/auto",
  "routing/aliases",
  "routing/fallbacks",
  "routing/groups",
  "routing/groups/new",
  "routing/resilience",
  "routing/settings",
  "keys",
  "keys?by=day&and=provider",
  "keys/{key}",
  "keys/{key}/limits",
  "keys/{key}/rules",
  "keys/prices",
  "keys/bill",
  "playground",
  "inspector",
  "inspector/sessions",
  "inspector/cache",
  "inspector/capture",
  "inspector/agents",
  "system/tunnels",
  "system/proxies",
  "system/mcp",
  "system/mcp/tools",
  "system/mcp/calls",
  "system/agents",
  "system/skills",
  "system/skills/cli-serve",
  "system/tools",
  "system/tools/claude",
  "system/evaluations",
  "system/batches",
  "system/backups",
  "system/sync",
  "system/sessions",
  "system/audit",
  "system",
  "system/settings",
  "system/settings?q=cache",
  "system/settings?show=variables",
  "system/flags",
  "system/guardrails",
  "system/cache",
  "system/compression",
  "system/memory",
  "system/plugins",
  "system/webhooks",
  "system/operations",
  "system/keysCreate"
] as const

/** Elements that make the page scroll sideways. */
const tooWide = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate(() =>
    document.documentElement.scrollWidth <= innerWidth
      ? []
      : [...document.querySelectorAll("body *")]
          .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
          .map(({ className, tagName }) => `${tagName}.${String(className)}`)
  )

describe.skipIf(browserPath === null)("every view", () => {
  const { ask, enter, manage, open, upstream } = world()
  let account = ""

  let keyId = ""

  beforeAll(async () => {
    keyId = (await manage<{ key: { id: string } }>("POST", "/api/keys", { name: "ci" })).key.id
    await manage("POST", "/api/usage/budget", { apiKeyId: keyId, dailyLimitUsd: 1, monthlyLimitUsd: 20 })
    await manage("POST", "/api/usage/token-limits", { apiKeyId: keyId, scopeType: "global", tokenLimit: 10_000 })
    const { connection } = await manage<{ connection: { id: string } }>("POST", "/api/providers", {
      provider: "openai",
      name: "work",
      apiKey: "sk-abcdefghijklmnopqrstuvwx1",
      baseUrl: upstream().url
    })
    account = `providers/${connection.id}`
    await manage("POST", "/api/combos", {
      id: "best",
      name: "best",
      strategy: "weighted",
      targets: [
        { model: "openai/gpt-4o", weight: 3 },
        { model: "openai/gpt-4o-mini", label: "spare" }
      ]
    })
    await manage("POST", "/api/models/alias", { alias: "mine", model: "combo:best" })
    await manage("PATCH", "/api/settings", { modelFallbacks: { "claude-haiku-*": "openai/gpt-4o-mini" } })
    for (let n = 0; n < 3; n++) await ask("openai/gpt-4o-mini")
    await ask("nope/model")
  })

  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [1280, 390]) {
      it(`is without a violation of WCAG 2.2 AA in ${colorScheme} at ${width} px`, async () => {
        const options = { colorScheme, viewport: { width, height: 800 } }
        assert.deepStrictEqual(await violations(await open("", options)), [])
        const page = await enter("", options)
        for (const view of [...views, account, `${account}/edit`]) {
          await page.goto(page.url().replace(/dashboard\/.*/, `dashboard/${view.replace("{key}", keyId)}`))
          await page.getByRole("heading", { level: 1 }).waitFor()
          await page.locator(".skeleton").first().waitFor({ state: "detached" })
          // As tall as the page: what lies below the bar at the bottom is seen by scrolling, and is no fault of the view.
          const height = await page.evaluate(() => document.documentElement.scrollHeight)
          await page.setViewportSize({ width, height: Math.max(800, height + 80) })
          assert.deepStrictEqual(await violations(page), [], view)
          assert.deepStrictEqual(await tooWide(page), [], `${view} scrolls sideways`)
          await page.setViewportSize({ width, height: 800 })
        }
      })
    }
  }

  it("shows what others have written as text", async () => {
    const payload = `<img src=x onerror="alert(1)"> javascript:alert(1) \u202Egnp.exe`
    await ask(payload)
    const page = await enter("requests")
    const cell = page.getByRole("gridcell", { name: "<img src=x" })
    await cell.waitFor()
    assert.include(await cell.innerText(), "␣202E")
    assert.strictEqual(await page.locator("main img").count(), 0)
  })
})

describe("the files", () => {
  const assets = join(builtFolder, "dashboard/assets")
  const files = () => readdirSync(assets).filter((file) => /\.(?:js|css|svg)$/.test(file))
  const size = (file: string) => gzipSync(readFileSync(join(assets, file)), { level: 9 }).length

  const named = (start: string): ReadonlyArray<string> =>
    files().filter((file) => new RegExp(`^${start}-[0-9a-f]+`).test(file))
  const sum = (names: Iterable<string>) => [...names].reduce((total, file) => total + size(file), 0) / 1024

  /** A module and all that it loads with itself; what is loaded when it is wanted is not part of it. */
  const withImports = (entries: ReadonlyArray<string>): ReadonlySet<string> => {
    const all = new Set<string>()
    const waiting = [...entries]
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      if (all.has(file)) continue
      all.add(file)
      if (!file.endsWith(".js")) continue
      const text = readFileSync(join(assets, file), "utf8")
      for (const [, name = ""] of text.matchAll(/(?:from|import)\s*["']\.\/([^"']+)["']/g)) waiting.push(name)
    }
    return all
  }

  it("are small: the first view 90 KB, each other 45 KB, the editor 110 KB, all of them 500 KB", () => {
    const first = withImports([
      ...named("dashboard"),
      ...named("look"),
      ...named("Home"),
      ...named("style"),
      ...named("icon")
    ])
    assert.isAbove(first.size, 8)
    assert.isBelow(sum(first), 90)
    const editor = named("openEditor")
    assert.lengthOf(editor, 1)
    assert.isBelow(sum(withImports(editor)), 110)
    for (const file of files()) {
      if (editor.includes(file) || first.has(file)) continue
      const own = [...withImports([file])].filter((name) => !first.has(name))
      assert.isBelow(sum(own), 45, file)
    }
    assert.isBelow(sum(files()), 500)
  })

  it("hold no way to make a page of a text", () => {
    for (const file of files().filter((name) => name.endsWith(".js"))) {
      const text = readFileSync(join(assets, file), "utf8")
      for (const sink of ["document.write", "outerHTML", "insertAdjacentHTML", "new Function", "eval("]) {
        assert.notInclude(text, sink, file)
      }
    }
  })
})
