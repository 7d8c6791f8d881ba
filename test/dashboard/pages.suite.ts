/** All views: access for all, sizes, a picture of each to look at (.gateway/pictures), and that no text of others becomes a page. */
import { gzipSync } from "node:zlib"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, beforeAll, describe, it } from "vitest"
import type { Page } from "playwright-core"
import { builtFolder } from "../cli/built.ts"
import { violations } from "./access.ts"
import { keepPicture } from "./pictures.ts"
import { fileOf, furnish, type Furnished, shown } from "./views.ts"
import { browserPath, world } from "./world.ts"

/** Elements that make the page scroll sideways. */
const tooWide = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate(() =>
    document.documentElement.scrollWidth <= innerWidth
      ? []
      : [...document.querySelectorAll("body *")]
          .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
          .map(({ className, tagName }) => `${tagName}.${String(className)}`)
  )

/** Tables that scroll sideways in a wide window. */
const needlessScrollers = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("main .scroller")]
      .filter(({ clientWidth, scrollWidth }) => scrollWidth > clientWidth + 1)
      .map((element) => `${element.getAttribute("aria-label")}: ${element.scrollWidth} of ${element.clientWidth} px`)
  )

describe.skipIf(browserPath === null)("every view", () => {
  const gateway = world()
  const { ask, enter, open } = gateway
  let furnished: Furnished

  beforeAll(async () => {
    furnished = await furnish(gateway)
  })

  const schemes = ["light", "dark"] as const

  for (const width of [1280, 390]) {
    it(`is without a violation of WCAG 2.2 AA in light and dark at ${width} px`, async () => {
      const options = { viewport: { width, height: 800 } }
      /** In both colours without a load between them, as where the reader's desktop turns dark in the evening. */
      const look = async (page: Page, view: string, name: string): Promise<void> => {
        for (const colorScheme of schemes) {
          await page.emulateMedia({ colorScheme })
          await keepPicture(page, `${colorScheme}-${width}`, name)
          assert.deepStrictEqual(await violations(page), [], `${view} in ${colorScheme}`)
        }
      }
      await look(await open("", options), "the login", "login")
      const page = await enter("", options)
      for (const view of furnished.addresses) {
        await page.goto(page.url().replace(/dashboard\/.*/, `dashboard/${view}`))
        await shown(page)
        // As tall as the page: what lies below the bar at the bottom is seen by scrolling, and is no fault of the view.
        const height = await page.evaluate(() => document.documentElement.scrollHeight)
        await page.setViewportSize({ width, height: Math.max(800, height + 80) })
        await look(page, view, fileOf(view))
        assert.deepStrictEqual(await tooWide(page), [], `${view} scrolls sideways`)
        if (width === 1280) assert.deepStrictEqual(await needlessScrollers(page), [], view)
        await page.setViewportSize({ width, height: 800 })
      }
    })
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
