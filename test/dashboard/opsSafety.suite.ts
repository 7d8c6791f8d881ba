/** Areas of the system that bring one back and say who did what: backups, audit, sessions and locks, sync. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { browserPath, password, world } from "./world.ts"

interface Backups {
  readonly backups: ReadonlyArray<{ readonly id: string; readonly reason: string }>
}

describe.skipIf(browserPath === null)("the areas of backups, audit, sessions and sync", () => {
  const { enter, expect, gateway, manage } = world({}, { sessions: "own" })
  const backups = async () => (await manage<Backups>("GET", "/api/db-backups")).backups
  const keepLast = async () => (await manage<{ backup: { keepLast: number } }>("GET", "/api/settings")).backup.keepLast

  it("says what to do without a backup, makes one, and restores it after its name was typed", async () => {
    const page = await enter("system/backups")
    await page.getByText("No backup yet. Make one now").waitFor()
    await page.getByRole("button", { name: "Make a backup" }).click()
    const [made] = await (async () => {
      await page.getByRole("cell", { name: /asked for/ }).waitFor()
      return backups()
    })()
    assert.isDefined(made)
    const key = await manage<{ key: { id: string } }>("POST", "/api/keys", { name: "made after it" })
    await page.getByRole("button", { name: "Restore" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByText("The gateway restarts with everything as it was").waitFor()
    const restore = dialog.getByRole("button", { name: "Restore" })
    assert.isTrue(await restore.isDisabled())
    await dialog.getByRole("textbox").fill(made?.id ?? "")
    await restore.click()
    await dialog.waitFor({ state: "hidden" })
    await page.getByText(/Restored. To undo it, restore db_/).waitFor()
    const { keys } = await manage<{ keys: ReadonlyArray<{ id: string }> }>("GET", "/api/keys")
    assert.isFalse(keys.some(({ id }) => id === key.key.id))
    await page.getByRole("cell", { name: "before a restore" }).waitFor()
  })

  it("sets the schedule, refuses a wrong one in the API's words, and gives the database as a file", async () => {
    const page = await enter("system/backups")
    const kept = page.getByLabel("How many of these are kept")
    await kept.fill("0")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByRole("alert").filter({ hasText: "backup.keepLast" }).waitFor()
    await kept.fill("3")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("The schedule is saved.").waitFor()
    assert.strictEqual(await keepLast(), 3)
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download the database" }).click()
    ])
    assert.include(
      readFileSync(await file.path())
        .subarray(0, 16)
        .toString("latin1"),
      "SQLite format 3"
    )
  })

  it("refuses a file that is no database, and changes nothing", async () => {
    const page = await enter("system/backups")
    await page
      .locator('input[type="file"]')
      .setInputFiles({ name: "wrong.sqlite", mimeType: "application/octet-stream", buffer: Buffer.from("no database") })
    const dialog = page.getByRole("dialog")
    await dialog.getByRole("textbox").fill("wrong.sqlite")
    await dialog.getByRole("button", { name: "Replace" }).click()
    await dialog.getByRole("alert").waitFor()
    assert.strictEqual(await keepLast(), 3)
  })

  it("shows what is under way in the bar, and nothing when nothing runs", async () => {
    const page = await enter("system/backups")
    assert.strictEqual(await page.locator(".bar .jobs").count(), 0)
    // Seen however short it is: the page notes that it was there.
    await page.evaluate(() => {
      new MutationObserver(() => {
        const text = document.querySelector(".bar .jobs [role=status]")?.textContent
        if (text !== undefined && text !== null) document.title = `seen ${text}`
      }).observe(document.body, { childList: true, subtree: true, characterData: true })
    })
    await page.getByRole("button", { name: "Make a backup" }).click()
    await page.waitForFunction(() => document.title === "seen 1 job")
    await page.locator(".bar .jobs").waitFor({ state: "detached" })
  })

  it("says who changed what, field by field, and keeps the filter in the address", async () => {
    const before = await keepLast()
    await manage("PATCH", "/api/settings", { backup: { keepLast: before + 2 }, sharedKey: "canary-key-0123456789" })
    const page = await enter("system/audit")
    await page.getByLabel("What", { exact: true }).fill("settings.*")
    await page.getByRole("button", { name: "Show", exact: true }).click()
    await page.waitForURL(/action=settings/)
    const row = page.getByRole("row", { name: /admin key settings\.update/ }).first()
    await row.getByRole("link", { name: "More about settings.update" }).click()
    await page.waitForURL(/row=/)
    const differences = page.getByRole("region", { name: "What was before and after" })
    await differences.getByRole("row", { name: `backup.keepLast ${before} ${before + 2}` }).waitFor()
    await differences.getByRole("row", { name: /sharedKey changed; not kept/ }).waitFor()
    assert.notInclude(await page.content(), "canary")
    await page.reload()
    await differences.waitFor()
    await page.getByLabel("What", { exact: true }).fill("nothing.like.this")
    await page.getByRole("button", { name: "Show", exact: true }).click()
    await page.getByText("Take a word off the filter").waitFor()
  })

  it("pages through the audit log", async () => {
    for (let index = 0; index < 60; index++) await manage("PATCH", "/api/settings", { backup: { keepLast: 5 } })
    const page = await enter("system/audit")
    await page.getByRole("link", { name: "Next page" }).click()
    await page.waitForURL(/offset=50/)
    await page.getByRole("link", { name: "First page" }).click()
    await page.waitForURL((url) => !url.search.includes("offset"))
  })

  it("shows hostile names as they are written", async () => {
    await manage("POST", "/api/combos", { name: "<img src=x onerror=alert(1)>", targets: [] }).catch(() => null)
    const hostile = "apiKey:<b>x</b>\u202egnp"
    const page = await enter(`system/audit?actor=${encodeURIComponent(hostile)}`)
    await page.getByText("No row.").waitFor()
    assert.strictEqual(await page.locator("main img, main b").count(), 0)
  })

  it("marks the own session, ends another, and ends all others after that was typed", async () => {
    // Its live feed is refused once its session has ended.
    expect(/WebSocket connection .* failed/)
    const other = await enter("")
    const page = await enter("system/sessions")
    await page.getByText("this one").waitFor()
    const rows = page.getByRole("region", { name: "Sessions" }).getByRole("row")
    const many = await rows.count()
    assert.isAbove(many, 2)
    await rows.getByRole("button", { name: "End", exact: true }).first().click()
    await page.getByText("The session is ended.").waitFor()
    await enter("")
    await page.reload()
    await page.getByRole("button", { name: "End all others" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByRole("textbox").fill("end all others")
    await dialog.getByRole("button", { name: "End all others" }).click()
    await dialog.waitFor({ state: "hidden" })
    await page.getByText("Only you are logged in.").waitFor()
    await other.goto(`${gateway().url}/dashboard/keys`)
    await other.getByLabel("Admin password").waitFor()
  })

  it("lets an address log in again that has to wait", async () => {
    const page = await enter("system/sessions")
    await page.getByText("Nobody. An address has to wait").waitFor()
    const wrong = () =>
      fetch(`${gateway().url}/api/auth/login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ password: `not ${password}` })
      })
    for (let tries = 0; tries < 20 && (await wrong()).status !== 429; tries++);
    await page.reload()
    await page.getByRole("button", { name: "Let it log in" }).first().click()
    await page.getByText("They may log in again.").waitFor()
    await page
      .getByRole("button", { name: "Let all log in" })
      .or(page.getByText("Nobody. An address"))
      .first()
      .waitFor()
  })

  it("says why a sync cannot be switched on, and sets where prices come from", async () => {
    const page = await enter("system/sync")
    await page.getByText("It is off. Say where the signed bundle is kept").waitFor()
    await page.getByLabel("Server").fill("https://127.0.0.1:1/team")
    await page.getByLabel("Shared key").fill("canary-shared-key-0123456789")
    await page.getByRole("button", { name: "Switch on and synchronise" }).click()
    await page.getByRole("alert").first().waitFor()
    await page.getByLabel("Address of the prices").fill("https://prices.example.com/models.json")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("The address is saved.").waitFor()
    const { pricingUrl } = await manage<{ pricingUrl: string }>("GET", "/api/settings")
    assert.strictEqual(pricingUrl, "https://prices.example.com/models.json")
  })
})
