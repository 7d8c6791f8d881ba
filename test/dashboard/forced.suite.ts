/**
 * Every entry and area where the reader has set the browser otherwise: 320 px, 400 % zoom, forced colours, blocked storage, reduced motion. Nothing
 * but tables and code scrolls sideways, what can be pressed has an edge, and nothing fails.
 */
import { assert, beforeAll, describe, it } from "vitest"
import type { Page } from "playwright-core"
import { entries } from "../../src/dashboard/shell/entries.ts"
import { areas } from "../../src/dashboard/views/system/areas.ts"
import { browserPath, type PageOptions, world } from "./world.ts"

const places: ReadonlyArray<string> = [...entries.map(({ path }) => path), ...areas.map(({ path }) => `system/${path}`)]

/** What makes the page itself scroll sideways; what scrolls by itself may be as wide as it is. */
const tooWide = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate(() =>
    document.documentElement.scrollWidth <= innerWidth
      ? []
      : [...document.querySelectorAll("body *")]
          .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
          .map(({ className, tagName }) => `${tagName}.${String(className)}`)
          .slice(0, 10)
  )

/** Elements that scroll sideways and are neither a table nor code, lists and menus of the whole width included. */
const wrongScrollers = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("main, main *, .bar, .side, dialog[open]")]
      .filter(
        (element) =>
          element.scrollWidth > element.clientWidth + 1 &&
          /auto|scroll/.test(getComputedStyle(element).overflowX) &&
          !element.matches("pre, .list, textarea, .cm-scroller") &&
          element.querySelector("table, [role=grid], pre, canvas") === null
      )
      .map(({ className, tagName }) => `${tagName}.${String(className)}`)
  )

/** Buttons and fields that cannot be told from their ground in forced colours. */
const edgeless = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("main .button:not(.plain), main .input")]
      .filter((element) => element.checkVisibility())
      .filter((element) => {
        const { borderTopStyle, borderTopWidth } = getComputedStyle(element)
        return borderTopStyle === "none" || Number.parseFloat(borderTopWidth) === 0
      })
      .map((element) => element.outerHTML.slice(0, 120))
  )

const settings: ReadonlyArray<readonly [name: string, options: PageOptions]> = [
  ["320 px wide", { viewport: { width: 320, height: 640 } }],
  // 1280 × 1024 at 400 %.
  ["at 400 % zoom", { viewport: { width: 320, height: 256 }, deviceScaleFactor: 4 }],
  ["at 200 % zoom", { viewport: { width: 640, height: 512 }, deviceScaleFactor: 2 }],
  ["in forced colours", { forcedColors: "active", viewport: { width: 1280, height: 800 } }],
  [
    "in forced colours, dark, 390 px wide",
    { forcedColors: "active", colorScheme: "dark", viewport: { width: 390, height: 800 } }
  ],
  ["with less motion", { reducedMotion: "reduce" }],
  [
    "with blocked storage",
    {
      before: async (page) => {
        await page.addInitScript(() => {
          const refuse = (): never => {
            throw new DOMException("Storage is blocked.", "SecurityError")
          }
          for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches"]) {
            Object.defineProperty(globalThis, name, { get: refuse, configurable: true })
          }
          Object.defineProperty(globalThis, "BroadcastChannel", { value: refuse })
        })
      }
    }
  ]
]

describe.skipIf(browserPath === null)("every view", () => {
  const { ask, enter, manage, open, upstream } = world()
  let secret = ""

  beforeAll(async () => {
    await manage("POST", "/api/providers", {
      provider: "openai",
      name: "an account with a rather long name that has to go somewhere",
      apiKey: "sk-abcdefghijklmnopqrstuvwx1",
      baseUrl: upstream().url
    })
    await manage("POST", "/api/combos", {
      name: "best",
      strategy: "priority",
      targets: [{ model: "openai/gpt-4o" }, { model: "openai/gpt-4o-mini" }]
    })
    const made = await manage<{ readonly secret: string }>("POST", "/api/keys", { name: "w".repeat(80) })
    secret = made.secret
    for (let n = 0; n < 3; n++) await ask("openai/gpt-4o-mini")
    await ask("a".repeat(200))
  })

  const judged = async (page: Page, where: string): Promise<void> => {
    await page.getByRole("heading", { level: 1 }).first().waitFor()
    await page.waitForFunction(() => document.querySelector(".skeleton") === null)
    assert.deepStrictEqual(await tooWide(page), [], `${where} scrolls sideways`)
    assert.deepStrictEqual(await wrongScrollers(page), [], where)
    assert.deepStrictEqual(await edgeless(page), [], where)
    assert.strictEqual(await page.getByText("This view has failed.").count(), 0, where)
  }

  for (const [name, options] of settings) {
    it(`can be read ${name}`, { timeout: 200_000 }, async () => {
      const page = await open("", options)
      await judged(page, "the login")
      await page.close()
      const inside = await enter("", options)
      const root = inside.url().replace(/dashboard\/.*/, "dashboard/")
      for (const place of places) {
        await inside.goto(root + place)
        await judged(inside, place === "" ? "home" : place)
      }
      await inside.goto(`${root}me`)
      await judged(inside, "me, the key")
      await inside.getByLabel("API key").fill(secret)
      await inside.keyboard.press("Enter")
      await inside.getByRole("heading", { name: "wwww" }).waitFor()
      await judged(inside, "me")
    })
  }

  it("takes its look from the choice while storage is blocked, too", async () => {
    const blocked = settings.find(([name]) => name.includes("storage"))?.[1] ?? {}
    const page = await enter("", blocked)
    await page.locator("summary", { hasText: "Look" }).click()
    for (const [theme, density] of [
      ["light", "compact"],
      ["dark", "roomy"]
    ] as const) {
      await page.getByRole("radio", { name: theme, exact: true }).check()
      await page.getByRole("radio", { name: density, exact: true }).check()
      const shown = await page.evaluate(() => ({ ...document.documentElement.dataset }))
      assert.deepInclude(shown, { theme, density })
    }
  })
})
