/** The login, and what becomes of a session that ends. */
import { assert, describe, it } from "vitest"
import { browserPath, password, world } from "./world.ts"

describe.skipIf(browserPath === null)("the login", () => {
  const { dataDir, enter, expect, manage, open, run } = world({}, { sessions: "own" })

  it("lets in with the password only, and says why not", async () => {
    const page = await open()
    const field = page.getByLabel("Admin password")
    await field.fill("not the password")
    await page.keyboard.press("Enter")
    await page
      .getByText(/wrong|incorrect|not the/i)
      .first()
      .waitFor()
    assert.strictEqual(await field.getAttribute("aria-invalid"), "true")
    await field.fill(password)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Home" }).waitFor()
  })

  it("leaves nothing of the session where a script could read it", async () => {
    const page = await enter()
    const kept = await page.evaluate(() => ({
      cookies: document.cookie,
      local: JSON.stringify(localStorage),
      session: JSON.stringify(sessionStorage),
      address: location.href
    }))
    assert.deepStrictEqual(
      { cookies: kept.cookies, local: kept.local, session: kept.session },
      { cookies: "", local: "{}", session: "{}" }
    )
    assert.notInclude(kept.address, password)
  })

  it("keeps the session over a reload, and ends it at the log-out", async () => {
    const page = await enter("requests")
    await page.reload()
    await page.getByRole("heading", { name: "Requests" }).waitFor()
    await page.getByRole("button", { name: "Log out" }).click()
    await page.getByLabel("Admin password").waitFor()
    await page.reload()
    await page.getByLabel("Admin password").waitFor()
  })

  it("asks again over the page when the session ends, and keeps what was typed", async () => {
    const page = await enter("requests")
    const filter = page.getByLabel("Filter")
    await filter.fill("status:failed")
    expect(/WebSocket/)
    await manage("DELETE", "/api/auth/sessions")
    // At one go: `fill` would type into the dialog when that opens between its two steps.
    await filter.evaluate((field: HTMLInputElement) => {
      field.value = "status:failed model:gpt"
      field.dispatchEvent(new Event("input", { bubbles: true }))
    })
    const dialog = page.getByRole("dialog", { name: "Log in" })
    await dialog.waitFor()
    await dialog.getByLabel("Admin password").fill(password)
    await page.keyboard.press("Enter")
    await dialog.waitFor({ state: "hidden" })
    assert.strictEqual(await filter.inputValue(), "status:failed model:gpt")
  })

  it("takes a code of the owner's out of the address, once", async () => {
    const { stdout } = await run(["open", "--json"], { DATA_DIR: dataDir() })
    const { url } = JSON.parse(stdout) as { readonly url: string }
    const code = url.slice(url.indexOf("#code=") + "#code=".length)
    assert.isAbove(code.length, 30)
    const page = await open(`#code=${code}`)
    await page.getByRole("heading", { name: "Home" }).waitFor()
    assert.notInclude(page.url(), code)
    const other = await open(`#code=${code}`)
    await other.getByLabel("Admin password").waitFor()
    assert.notInclude(other.url(), code)
  })
})

describe.skipIf(browserPath === null)("the login of a gateway with an admin key and no password", () => {
  const { dataDir, open, run } = world({ GATEWAY_ADMIN_PASSWORD: "" }, { sessions: "own" })

  it("asks for no password, and says what opens the page", async () => {
    const page = await open()
    await page.getByText("gateway open", { exact: true }).waitFor()
    assert.strictEqual(await page.getByLabel("Admin password").count(), 0)
    const { stdout } = await run(["open", "--json"], { DATA_DIR: dataDir() })
    const opened = await open((JSON.parse(stdout) as { readonly url: string }).url.replace(/^.*#/, "#"))
    const choosing = opened.getByRole("dialog", { name: "Choose an admin password" })
    await choosing.getByLabel("New password").fill(password)
    await choosing.getByRole("button", { name: "Save the password" }).click()
    await choosing.waitFor({ state: "hidden" })
    await page.reload()
    await page.getByLabel("Admin password").waitFor()
  })
})
