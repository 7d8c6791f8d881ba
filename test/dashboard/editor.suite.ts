/** The editor for JSON and long texts: in a shadow root, within the policy of the page, loaded when it is opened. */
import { assert, describe, it } from "vitest"
import type { Page } from "playwright-core"
import { browserPath, world } from "./world.ts"

interface Reports {
  readonly reports: Array<string>
}

/** Every report of the policy, trusted types included, from the first moment of the page. */
const listen = (page: Page) =>
  page.addInitScript(() => {
    const all: Array<string> = []
    Object.assign(globalThis, { reports: all })
    document.addEventListener("securitypolicyviolation", ({ blockedURI, violatedDirective }) =>
      all.push(`${violatedDirective} ${blockedURI}`)
    )
  })

const reported = (page: Page) => page.evaluate(() => (globalThis as unknown as Reports).reports)

describe.skipIf(browserPath === null)("the editor", () => {
  const { enter, expect, manage } = world()

  it("is loaded when somebody goes into a field of JSON, styled, and breaks no rule of the page", async () => {
    const page = await enter("system/combosCreate")
    await listen(page)
    const asked: Array<string> = []
    page.on("request", (request) => asked.push(request.url()))
    await page.reload()
    const field = page.locator("#field-config\\.weights, #field-config, #field-targets").first()
    await field.waitFor()
    assert.isFalse(asked.some((url) => url.includes("/openEditor-")))
    const id = (await field.getAttribute("id")) ?? ""
    await field.click()
    const editor = page.locator(`[data-editor="${id}"]`)
    await editor.locator(".cm-content").waitFor()
    assert.isTrue(asked.some((url) => url.includes("/openEditor-")))
    const drawn = await editor.evaluate((host) => {
      const root = host.shadowRoot
      const gutter = root?.querySelector(".cm-gutters")
      return {
        sheets: root?.adoptedStyleSheets.length ?? 0,
        elements: root?.querySelectorAll("style").length ?? -1,
        display: gutter === null || gutter === undefined ? "" : getComputedStyle(gutter).display,
        inline: root?.querySelectorAll("[onclick], script").length ?? -1
      }
    })
    assert.isAbove(drawn.sheets, 0)
    assert.strictEqual(drawn.elements, 0)
    assert.strictEqual(drawn.inline, 0)
    assert.strictEqual(drawn.display, "flex")
    // It has the focus of the field it stands for: what is typed goes on where it was.
    await page.keyboard.type('{"a": [1, tru')
    await editor.locator(".cm-lintRange-error, .cm-lintPoint-error").first().waitFor({ state: "attached" })
    await page.keyboard.type("e]}")
    assert.strictEqual(await editor.locator(".cm-content").innerText(), '{"a": [1, true]}')
    // Tab leaves it, as every field.
    await page.keyboard.press("Tab")
    assert.isFalse(await editor.evaluate((host) => document.activeElement === host))
    assert.deepStrictEqual(await reported(page), [])
  })

  it("shows hostile text as text, and sends what was typed, however quickly", async () => {
    const page = await enter("system/guardrailsSet")
    await listen(page)
    await page.reload()
    const field = page.locator("#field-customPatterns")
    await field.click()
    const content = page.locator('[data-editor="field-customPatterns"] .cm-content')
    await content.waitFor()
    const name = "a".repeat(30)
    const typed = `[{"name":"${name}","pattern":"<img src=x onerror=alert(1)>","replacement":"<script>alert(1)</script>"}]`
    await page.keyboard.type(typed)
    assert.strictEqual(await content.innerText(), typed)
    assert.strictEqual(await page.locator("main img, main script").count(), 0)
    await page.getByRole("button", { name: "Change the settings of guardrails" }).click()
    await page.getByText("The answer: 200").waitFor()
    const { customPatterns } = await manage<{ customPatterns: ReadonlyArray<{ readonly pattern: string }> }>(
      "GET",
      "/api/settings/guardrails"
    )
    assert.strictEqual(customPatterns[0]?.pattern, "<img src=x onerror=alert(1)>")
    assert.deepStrictEqual(await reported(page), [])
  })

  it("is read out by the name of its field, with what describes it and whether it is wrong", async () => {
    const page = await enter("system/guardrailsSet")
    const field = page.locator("#field-customPatterns")
    await field.fill("{")
    await page.getByRole("button", { name: "Change the settings of guardrails" }).click()
    const box = page.getByRole("textbox", { name: "Custom patterns" })
    await page.getByText("This is no JSON.").waitFor()
    await page.waitForFunction(
      () =>
        document
          .querySelector('[data-editor="field-customPatterns"]')
          ?.shadowRoot?.querySelector(".cm-content")
          ?.getAttribute("aria-invalid") === "true"
    )
    assert.match((await box.getAttribute("aria-description")) ?? "", /Patterns of your own/)
  })

  it("keeps a plain field, and what is typed into it, where it cannot be loaded", async () => {
    const page = await enter("system/guardrailsSet")
    expect(/ERR_FAILED/)
    await page.route(/\/openEditor-/, (route) => route.abort())
    await page.reload()
    const field = page.locator("#field-customPatterns")
    await field.click()
    await page.keyboard.type("[]")
    await page.getByRole("button", { name: "Change the settings of guardrails" }).click()
    await page.getByText("The answer: 200").waitFor()
    assert.strictEqual(await field.inputValue(), "[]")
  })
})
