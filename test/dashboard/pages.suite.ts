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
  "requests",
  "providers",
  "providers/add",
  "keys",
  "playground",
  "system",
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

  beforeAll(async () => {
    await manage("POST", "/api/providers", {
      provider: "openai",
      name: "work",
      apiKey: "sk-abcdefghijklmnopqrstuvwx1",
      baseUrl: upstream().url
    })
    for (let n = 0; n < 3; n++) await ask("openai/gpt-4o-mini")
    await ask("nope/model")
  })

  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [1280, 390]) {
      it(`is without a violation of WCAG 2.2 AA in ${colorScheme} at ${width} px`, async () => {
        const options = { colorScheme, viewport: { width, height: 800 } }
        assert.deepStrictEqual(await violations(await open("", options)), [])
        const page = await enter("", options)
        for (const view of views) {
          await page.goto(page.url().replace(/dashboard\/.*/, `dashboard/${view}`))
          await page.getByRole("heading", { level: 1 }).waitFor()
          await page.locator(".skeleton").first().waitFor({ state: "detached" })
          assert.deepStrictEqual(await violations(page), [], view)
          assert.deepStrictEqual(await tooWide(page), [], `${view} scrolls sideways`)
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

  it("are small: the first view 90 KB, each other 45 KB, all of them 500 KB", () => {
    const first = files().filter(
      (file) => !/^(?:Requests|Providers|Keys|Playground|System|OperationForm|op|operations)-/.test(file)
    )
    const sum = (names: ReadonlyArray<string>) => names.reduce((total, file) => total + size(file), 0) / 1024
    assert.isBelow(sum(first), 90)
    for (const file of files()) assert.isBelow(size(file) / 1024, 45, file)
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
