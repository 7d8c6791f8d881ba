/** The frame of all views: the palette, the keys, the choices of look, and where the focus is. */
import { assert, describe, it } from "vitest"
import type { Page } from "playwright-core"
import { violations } from "./access.ts"
import { browserPath, world } from "./world.ts"

const focused = (page: Page): Promise<string> =>
  page.evaluate(() => `${document.activeElement?.tagName ?? ""} ${document.activeElement?.textContent ?? ""}`)

describe.skipIf(browserPath === null)("the shell", () => {
  const { enter, manage, upstream } = world()

  it("finds views, objects, operations and actions by their names, by keyboard alone", async () => {
    await manage("POST", "/api/providers", {
      name: "team B <b>",
      provider: "openai",
      apiKey: "k",
      baseUrl: upstream().url
    })
    const made = await manage<{ key: { id: string } }>("POST", "/api/keys", { name: "office robot" })
    const page = await enter()
    await page.getByRole("heading", { name: "Home" }).waitFor()
    await page.keyboard.press("Control+k")
    const field = page.getByRole("combobox", { name: "Search or command" })
    await field.waitFor()
    assert.deepStrictEqual(await violations(page), [])
    await field.fill("office ro")
    await page.getByRole("option", { name: "office robot" }).waitFor()
    await page.keyboard.press("Enter")
    await page.waitForURL(`**/keys/${made.key.id}`)
    assert.strictEqual(await page.locator("dialog[open]").count(), 0)

    await page.keyboard.press("Control+k")
    await field.fill("team")
    await page.getByRole("option", { name: "team B" }).waitFor()
    assert.include(await page.getByRole("option", { name: "team B" }).innerText(), "<b>")
    await field.fill("create a combo")
    await page.getByRole("option", { name: "/api/combos" }).first().waitFor()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("Enter")
    await page.waitForURL("**/system/combosCreate")
    await page.locator("dialog[open]").waitFor({ state: "detached" })
    await page.keyboard.press("Control+k")
    await field.fill("dark theme")
    await page.keyboard.press("Enter")
    assert.strictEqual(await page.evaluate(() => document.documentElement.dataset["theme"]), "dark")
    await field.waitFor({ state: "detached" })
    await page.keyboard.press("Control+k")
    await field.fill("zzzz no such thing")
    await page.getByText("Nothing has such a name.").waitFor()
    await page.keyboard.press("Escape")
    await field.waitFor({ state: "detached" })
  })

  it("lists its keys, goes to the filter, and fires none in a field or when they are turned off", async () => {
    const page = await enter("requests")
    await page.getByRole("heading", { name: "Requests" }).waitFor()
    await page.keyboard.press("?")
    await page.getByRole("dialog", { name: "Keys" }).getByText("Go to the filter").waitFor()
    assert.deepStrictEqual(await violations(page), [])
    await page.keyboard.press("Escape")
    await page.keyboard.press("/")
    await page.keyboard.type("g h ?/")
    assert.strictEqual(await page.locator("#filter").inputValue(), "g h ?/")
    assert.strictEqual(await page.locator("dialog[open]").count(), 0)
    await page.waitForURL(/\/requests/)

    await page.locator("summary", { hasText: "Look" }).click()
    await page.getByLabel("Keys of the page").uncheck()
    await page.keyboard.press("Escape")
    await page.keyboard.press("?")
    await page.keyboard.press("Control+k")
    await page.keyboard.press("g")
    await page.keyboard.press("h")
    assert.strictEqual(await page.locator("dialog[open]").count(), 0)
    await page.waitForURL(/\/requests/)
    await page.reload()
    await page.getByRole("heading", { name: "Requests" }).waitFor()
    await page.keyboard.press("?")
    assert.strictEqual(await page.locator("dialog[open]").count(), 0)
    assert.deepStrictEqual(
      await page.evaluate(() => Object.keys(localStorage)),
      ["gateway.shortcuts"],
      "choices of look are all that is kept"
    )
  })

  it("keeps the focus: on the heading of a view that is opened, by key, link and palette", async () => {
    const page = await enter()
    await page.getByRole("heading", { name: "Home" }).waitFor()
    for (const [key, heading] of [
      ["p", "Providers"],
      ["m", "Keys & money"],
      ["r", "Requests"],
      ["s", "System"],
      ["h", "Home"],
      ["p", "Providers"]
    ] as const) {
      await page.keyboard.press("g")
      await page.keyboard.press(key)
      await page.locator("h1:focus").filter({ hasText: heading }).waitFor()
    }
    await page.getByRole("link", { name: "Keys & money" }).focus()
    await page.keyboard.press("Enter")
    await page.locator("h1:focus").filter({ hasText: "Keys & money" }).waitFor()
    assert.strictEqual(await focused(page), "H1 Keys & money")
  })

  it("knows what was pressed while a view was being opened", async () => {
    const page = await enter("requests")
    await page.getByRole("heading", { name: "Requests", exact: true }).waitFor()
    await page.evaluate(async () => {
      const press = (key: string) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))
      document.querySelector<HTMLElement>('nav a[href$="/keys"]')?.click()
      press("g")
      // What follows the new address has run after the second frame.
      for (let frame = 0; frame < 3; frame++) {
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
      }
      press("h")
    })
    await page.getByRole("heading", { name: "Home" }).waitFor()
  })

  it("keeps the height of rows beside the theme", async () => {
    const page = await enter()
    await page.locator("summary", { hasText: "Look" }).click()
    assert.deepStrictEqual(await violations(page), [])
    await page.getByLabel("roomy").check()
    await page.getByLabel("light", { exact: true }).check()
    await page.reload()
    const { density, theme } = await page.evaluate(() => ({ ...document.documentElement.dataset }))
    assert.deepStrictEqual([density, theme], ["roomy", "light"])
    await page.locator("summary", { hasText: "Look" }).click()
    await page.getByLabel("usual").check()
    await page.getByLabel("as the system").check()
    assert.deepStrictEqual(await page.evaluate(() => Object.keys(localStorage)), [])
  })
})
