/**
 * No text of others becomes anything but text: a gateway full of hostile names, models, answers, errors and records, and a walk through every entry
 * and area that there is, the objects that they link to included.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { entries } from "../../src/dashboard/shell/entries.ts"
import { areas } from "../../src/dashboard/views/system/areas.ts"
import { builtFolder } from "../cli/built.ts"
import { type Seeded, seedHostile, startHostileUpstream, startTrap } from "./hostile.ts"
import { payloadsFor } from "./payloads.ts"
import { browserPath, world } from "./world.ts"

/** Every page of the side bar and the system. */
const places: ReadonlyArray<string> = [...entries.map(({ path }) => path), ...areas.map(({ path }) => `system/${path}`)]

/** Objects of one place that are opened, too. */
const mostObjects = 12

/** What a text must never have become, and what it must never have done. */
const harm = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate(() => {
    const { hit, reports } = globalThis as unknown as {
      readonly hit?: unknown
      readonly reports: ReadonlyArray<string>
    }
    const made = [
      ...document.querySelectorAll(
        "body img, body iframe, body script, body object, body embed, body link, body style, body base, body meta, body video, body audio, body marquee, body math, body form[action], body template"
      )
    ].map((element) => element.outerHTML.slice(0, 200))
    const leading = [...document.querySelectorAll("a[href], [action], [formaction], [src]")]
      .flatMap((element) => ["href", "action", "formaction", "src"].flatMap((name) => element.getAttribute(name) ?? []))
      .filter((value) => /^\s*(?:javascript|data|vbscript):/i.test(value))
    const handlers = [...document.querySelectorAll("body *")].flatMap((element) =>
      element.getAttributeNames().filter((name) => name.startsWith("on"))
    )
    // The choices of look are all that is kept in the browser.
    const kept = [...Object.keys(localStorage), ...Object.keys(sessionStorage)].filter(
      (name) => !["gateway.theme", "gateway.density", "gateway.shortcuts"].includes(name)
    )
    return [...(hit === undefined ? [] : ["a script has run"]), ...reports, ...made, ...leading, ...handlers, ...kept]
  })

/** The page's text and what its fields hold, with what scrolls scrolled through. */
const textOf = async (page: Page): Promise<string> => {
  const now = () =>
    page.evaluate(() =>
      [
        document.body.innerText,
        ...Array.from(
          document.querySelectorAll<HTMLInputElement>("input, textarea, select, option"),
          (field) => field.value
        )
      ].join("\n")
    )
  let text = await now()
  const lists = page.locator(".list")
  for (let index = 0; index < (await lists.count()); index++) {
    for (let step = 0; step < 6; step++) {
      await lists.nth(index).evaluate((element) => element.scrollBy(0, element.clientHeight))
      text += await now()
    }
  }
  return text
}

const settled = async (page: Page): Promise<void> => {
  await page.getByRole("heading", { level: 1 }).first().waitFor()
  await page.waitForFunction(() => document.querySelector(".skeleton") === null)
}

describe.skipIf(browserPath === null)("texts of others", () => {
  const { enter, gateway, manage, open } = world({ GATEWAY_UPSTREAM_RETRIES: "0" })
  let trap: Awaited<ReturnType<typeof startTrap>>
  let upstream: Awaited<ReturnType<typeof startHostileUpstream>>
  let payloads: ReadonlyArray<string> = []
  let seeded: Seeded = {}

  beforeAll(async () => {
    trap = await startTrap()
    payloads = payloadsFor(trap.url)
    upstream = await startHostileUpstream(payloads)
    seeded = await seedHostile(gateway().url, upstream.url, payloads)
  })
  afterAll(() => {
    trap.stop()
    upstream.stop()
  })

  const watched = async (page: Page): Promise<void> => {
    await page.addInitScript(() => {
      const reports: Array<string> = []
      Object.assign(globalThis, { reports })
      document.addEventListener("securitypolicyviolation", ({ blockedURI, violatedDirective }) =>
        reports.push(`${violatedDirective}: ${blockedURI}`)
      )
    })
  }
  const unharmed = async (page: Page, where: string): Promise<void> => {
    assert.deepStrictEqual(await harm(page), [], where)
    assert.deepStrictEqual(trap.asked, [], where)
  }

  it("are taken in by every way that is looked at here", () => {
    assert.lengthOf(payloads, 60)
    assert.lengthOf(new Set(payloads), 60)
    const dry = Object.entries(seeded).filter(([, taken]) => taken === 0)
    assert.deepStrictEqual(dry, [], JSON.stringify(seeded))
    assert.isAbove(seeded["keys"] ?? 0, 50)
  })

  it("stay text in every entry and area, and in what they link to", { timeout: 400_000 }, async () => {
    const page = await enter("", { before: watched })
    const root = page.url().replace(/dashboard\/.*/, "dashboard/")
    const seen = new Set<string>()
    const visited = new Set<string>()
    const visit = async (url: string): Promise<void> => {
      visited.add(url)
      await page.goto(url)
      await settled(page)
      for (const id of (await textOf(page)).match(/x\d\d/g) ?? []) seen.add(id)
      await unharmed(page, url)
    }
    for (const place of places) {
      await visit(root + place)
      const links = await page
        .locator("main a[href]")
        .evaluateAll((found) => found.map((link) => (link as HTMLAnchorElement).href))
      const objects = [...new Set(links)].filter((link) => link.startsWith(root) && !visited.has(link))
      for (const link of objects.slice(0, mostObjects)) await visit(link)
      await page.goto(root + place)
      await settled(page)
      // What a row shows beside the list.
      for (const row of (await page.locator(".list-row").all()).slice(0, mostObjects)) {
        await row.click()
        await page.waitForFunction(() => document.querySelector(".skeleton") === null)
        await unharmed(page, `${place}, a row`)
      }
    }
    const unseen = payloads.filter((_, index) => !seen.has(`x${String(index).padStart(2, "0")}`))
    // Characters that turn text around are refused in names; the requests have them.
    assert.isAtMost(unseen.length, 2, unseen.join("\n"))
  })

  it("stay text in questions, messages and dialogs", async () => {
    const page = await enter("keys", { before: watched })
    await settled(page)
    const rows = page.getByRole("region", { name: "Keys" }).getByRole("row")
    await rows.nth(40).waitFor()
    for (const nth of [1, 8, 20, 40]) {
      await rows.nth(nth).getByRole("link").first().click()
      await page.getByRole("link", { name: "Rules", exact: true }).click()
      await settled(page)
      for (const name of ["Rotate", "Delete"]) {
        await page.getByRole("button", { name, exact: true }).click()
        await page.getByRole("dialog").waitFor()
        await unharmed(page, `${name} ${nth}`)
        await page.keyboard.press("Escape")
      }
      await page.getByRole("button", { name: "Pause", exact: true }).click()
      await page.getByRole("button", { name: "Undo" }).first().waitFor()
      await unharmed(page, `Pause ${nth}`)
      await page.getByRole("link", { name: "All keys" }).click()
    }
  })

  it("stay text where a model answers them, whole and as an error", async () => {
    const page = await enter("playground", { before: watched })
    await settled(page)
    for (const model of ["p-0", "p-33", "p-51", "e-2", "e-54"]) {
      await page.locator("#model-1").fill(`openai/${model}`)
      await page.getByRole("button", { name: "Run all" }).click()
      await page.getByRole("button", { name: "Run all" }).waitFor()
      await unharmed(page, model)
    }
  })

  it("stay text in the address, at the login, and on the page of a key's holder", { timeout: 300_000 }, async () => {
    // Before the codes: wrong ones slow logins down.
    const inside = await enter("", { before: watched })
    for (const payload of payloads.filter((_, index) => index % 7 === 0)) {
      const code = encodeURIComponent(payload)
      for (const path of [
        `#code=${code}`,
        `${code}?q=${code}`,
        `requests/${code}?q=${code}`,
        `me?key=${code}#${code}`
      ]) {
        const page = await open(path, { before: watched })
        // A path with an escaped percent sign is refused, in JSON.
        await page.locator("h1, pre").first().waitFor()
        await unharmed(page, path)
        await page.context().close()
      }
    }
    const root = inside.url().replace(/dashboard\/.*/, "dashboard/")
    for (const entry of entries) {
      const code = encodeURIComponent(payloads[2] ?? "")
      await inside.goto(`${root}${entry.path === "" ? "nowhere" : entry.path}/${code}/${code}?q=${code}&filter=${code}`)
      await inside.locator("nav.side, pre").first().waitFor()
      await inside.waitForFunction(() => document.querySelector(".skeleton") === null)
      await unharmed(inside, entry.path)
    }
    const { secret } = await manage<{ readonly secret: string }>("POST", "/api/keys", { name: payloads[0] })
    await fetch(`${gateway().url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: payloads[2], messages: [{ role: "user", content: "Hello" }] })
    })
    const own = await open("me", { before: watched })
    await own.getByLabel("API key").fill(secret)
    await own.keyboard.press("Enter")
    await own.getByRole("heading", { name: "<script>" }).waitFor()
    await own.waitForFunction(() => document.querySelector(".skeleton") === null)
    assert.include(await own.locator("main").innerText(), payloads[2] ?? "")
    await unharmed(own, "me")
  })
})

describe("the files of the page", () => {
  const assets = join(builtFolder, "dashboard/assets")
  const scripts = () => readdirSync(assets).filter((file) => file.endsWith(".js"))

  /** Places of packages that name a sink and never hand a foreign text to it, by file and text around it: none of ours may be one. */
  const harmless = [
    // Preact: the property is copied only from `dangerouslySetInnerHTML`, which no file of ours gives.
    /__html|dangerouslySetInnerHTML/
  ]

  it("have no way to make an element or a script of a text", () => {
    for (const file of scripts()) {
      const text = readFileSync(join(assets, file), "utf8")
      for (const sink of [
        "document.write",
        "outerHTML=",
        "insertAdjacentHTML",
        "setHTMLUnsafe",
        "parseHTMLUnsafe",
        "createContextualFragment",
        "DOMParser",
        "srcdoc",
        "new Function",
        "eval(",
        "javascript:",
        "createPolicy",
        "importScripts",
        "createObjectURL(new Blob"
      ]) {
        assert.notInclude(text, sink, file)
      }
      for (const { index } of text.matchAll(/\.innerHTML\s*=/g)) {
        const around = text.slice(Math.max(0, index - 120), index + 120)
        assert.isTrue(
          harmless.some((pattern) => pattern.test(around)),
          `${file}: ${around}`
        )
      }
    }
  })

  it("are written without such a way", () => {
    const source = new URL("../../src/dashboard", import.meta.url).pathname
    for (const file of readdirSync(source, { recursive: true, encoding: "utf8" })) {
      if (!/\.tsx?$/.test(file)) continue
      const text = readFileSync(join(source, file), "utf8")
      assert.notMatch(
        text,
        /dangerouslySetInnerHTML|\.innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setTimeout\(["'`]|sessionStorage/,
        file
      )
      // One place writes to the browser's storage, and only the choices of look.
      if (/localStorage(?!\.(?:getItem|removeItem)\()/.test(text)) {
        assert.strictEqual(file, "ui/preferences.ts")
        assert.include(text, 'type Choice = "theme" | "density" | "shortcuts"\n')
        assert.include(text, "const keep = (name: Choice, ")
        assert.deepStrictEqual(text.match(/localStorage(?!\.(?:getItem|removeItem)\().*/g), [
          "localStorage.setItem(`gateway.${name}`, value)"
        ])
      }
    }
  })
})
