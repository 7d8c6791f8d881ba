/** The first page of the system, the settings and the flags: what is set and by whom, changed in its place and taken back. */
import { assert, describe, it } from "vitest"
import type { Page } from "playwright-core"
import { browserPath, world } from "./world.ts"

interface Settings {
  readonly cache: { readonly ttlSeconds: number; readonly enabled: boolean }
  readonly allowedHosts: ReadonlyArray<string>
  readonly pricingUrl: string | null
}

const row = (page: Page, name: string) => page.getByRole("listitem").filter({ hasText: name })

describe.skipIf(browserPath === null)("what is set", () => {
  const { enter, manage } = world()
  const settings = () => manage<Settings>("GET", "/api/settings")

  it("is answered on the first page of the system: what differs, which doors are open, whether one can get back", async () => {
    await manage("PATCH", "/api/settings", { cache: { ttlSeconds: 61 } })
    const page = await enter("system")
    const set = page.getByRole("region", { name: "What is set, and by whom" })
    await set.getByText("cache.ttlSeconds").waitFor()
    await set.getByText("admin-key").first().waitFor()
    assert.notInclude(await page.content(), "correct horse battery")
    const doors = page.getByRole("region", { name: "What is reachable from where" })
    await doors.getByText("this machine only").waitFor()
    await doors.getByText(/not required/).waitFor()
    await doors.getByText("none is open").waitFor()
    const recovery = page.getByRole("region", { name: "Can I get back" })
    await recovery.getByText("none yet").waitFor()
    await recovery.getByRole("button", { name: "Make a backup now" }).click()
    await recovery.getByText("none yet").waitFor({ state: "detached" })
    const { backups } = await manage<{ backups: ReadonlyArray<unknown> }>("GET", "/api/db-backups")
    assert.strictEqual(backups.length, 1)
    await manage("PATCH", "/api/settings", { cache: { ttlSeconds: 3_600 } })
  })

  it("is found by its words, changed in its place, told with who did it, and taken back", async () => {
    const page = await enter("system/settings")
    await page
      .locator(".group-cards a")
      .filter({ hasText: /^Cache/ })
      .click()
    await row(page, "cache.ttlSeconds").waitFor()
    await page.getByRole("link", { name: "All groups" }).click()
    await page.getByLabel("Search settings").fill("kept seconds")
    const ttl = row(page, "cache.ttlSeconds")
    await ttl.getByText("3600").waitFor()
    await page.waitForURL(/[?&]q=kept/)
    await ttl.getByRole("button", { name: /^Change/ }).click()
    const field = ttl.getByRole("spinbutton")
    assert.strictEqual(await field.inputValue(), "3600")
    // What is wrong is said beside the field, in the words of the API, and nothing is stored.
    await field.fill("0")
    await ttl.getByRole("button", { name: "Save" }).click()
    await ttl.getByRole("alert").first().waitFor()
    assert.strictEqual((await settings()).cache.ttlSeconds, 3_600)
    await field.fill("600")
    await ttl.getByRole("button", { name: "Save" }).click()
    await ttl.getByText("default: 3600").waitFor()
    await ttl.getByText(/by session:/).waitFor()
    assert.strictEqual((await settings()).cache.ttlSeconds, 600)
    await page.getByRole("button", { name: "Undo" }).click()
    await page.getByText("Taken back.").waitFor()
    assert.strictEqual((await settings()).cache.ttlSeconds, 3_600)
  })

  it("goes back to its default by a button, and that is taken back, too", async () => {
    await manage("PATCH", "/api/settings", {
      allowedHosts: ["a.example.com"],
      pricingUrl: "https://prices.example/p.json"
    })
    const page = await enter("system/settings?show=set")
    const hosts = row(page, "allowedHosts")
    await hosts.getByText("a.example.com").waitFor()
    assert.strictEqual(await page.getByRole("listitem").filter({ hasText: "metricsPublic" }).count(), 0)
    await hosts.getByRole("button", { name: /^Default/ }).click()
    await hosts.waitFor({ state: "detached" })
    assert.deepStrictEqual((await settings()).allowedHosts, [])
    await page.getByRole("button", { name: "Undo" }).click()
    await hosts.waitFor()
    assert.deepStrictEqual((await settings()).allowedHosts, ["a.example.com"])
    // A text that may be none is taken away by emptying its field.
    const url = row(page, "pricingUrl")
    await url.getByRole("button", { name: /^Change/ }).click()
    await url.getByRole("textbox").fill("")
    await url.getByRole("button", { name: "Save" }).click()
    await url.waitFor({ state: "detached" })
    assert.isNull((await settings()).pricingUrl)
    await manage("PATCH", "/api/settings", { allowedHosts: [] })
    await page.getByText("Everything is as the gateway comes.").waitFor()
  })

  it("keeps the settings of the compression that were not changed, where a change replaces all of them", async () => {
    await manage("PUT", "/api/settings/compression", { engine: "rtk", autoTriggerTokens: 500 })
    const page = await enter("system/settings?q=autoTriggerTokens")
    const trigger = row(page, "autoTriggerTokens")
    await trigger.getByRole("button", { name: /^Change/ }).click()
    await trigger.getByRole("spinbutton").fill("900")
    await trigger.getByRole("button", { name: "Save" }).click()
    await trigger.getByText("900").waitFor()
    assert.deepInclude(await manage<object>("GET", "/api/settings/compression"), {
      engine: "rtk",
      autoTriggerTokens: 900
    })
  })

  it("shows the breaker of local providers without a way to change it", async () => {
    const page = await enter("system/settings?q=providerBreaker.local")
    await row(page, "providerBreaker.local.failureThreshold").getByText("only by the API").waitFor()
    assert.strictEqual(await page.getByRole("listitem").getByRole("button").count(), 0)
  })

  it("names the variables of the start, and no secret of them", async () => {
    const page = await enter("system/settings?show=variables")
    const key = page.getByRole("row").filter({ hasText: "GATEWAY_ADMIN_PASSWORD" })
    await key.getByText("set, a secret").waitFor()
    await page.getByRole("row").filter({ hasText: "DATA_DIR" }).getByText("set at the start").waitFor()
    assert.notInclude(await page.content(), "correct horse battery")
  })
})

describe.skipIf(browserPath === null)("the flags", () => {
  const { enter, expect } = world()

  it("are all there, switched, told with who set them, and taken back", async () => {
    const page = await enter("system/flags")
    await page.getByText("38 flags", { exact: true }).waitFor()
    const guard = row(page, "PII_REDACTION_ENABLED")
    const toggle = guard.getByRole("switch")
    assert.isFalse(await toggle.isChecked())
    await toggle.click()
    await guard.getByText("set here").waitFor()
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>("#flag-PII_REDACTION_ENABLED")?.checked === true
    )
    await page.getByRole("button", { name: "Undo" }).click()
    await guard.getByText("set here").waitFor({ state: "detached" })
    const mode = row(page, "TOOL_POLICY_MODE")
    await mode.getByRole("combobox").selectOption("warn")
    await mode.getByText("default: disabled").waitFor()
    await mode.getByRole("button", { name: /^Default/ }).click()
    await mode.getByText("set here").waitFor({ state: "detached" })
  })

  it("say what waits for a restart, and start the gateway anew after its word was typed", async () => {
    expect(/WebSocket|ERR_/)
    const page = await enter("system/flags")
    const one = row(page, "GATEWAY_ENABLE_LIVE_WS")
    await one.getByRole("switch").click()
    await one.getByText("another value is in force until the next start").waitFor()
    await page.getByText("1 flag waits for a restart.").waitFor()
    await page.getByRole("button", { name: "Restart" }).click()
    const dialog = page.getByRole("dialog", { name: "Restart" })
    assert.isTrue(await dialog.getByRole("button", { name: "Restart" }).isDisabled())
    await dialog.getByRole("textbox").fill("restart")
    await dialog.getByRole("button", { name: "Restart" }).click()
    await page.getByText("1 flag waits for a restart.").waitFor({ state: "detached" })
    await one.getByText("another value is in force until the next start").waitFor({ state: "detached" })
    assert.isFalse(await one.getByRole("switch").isChecked())
    await one.getByRole("button", { name: /^Default/ }).click()
    await one.getByText("set here").waitFor({ state: "detached" })
  })

  it("that are refused stay as they are, and say why", async () => {
    const page = await enter("system/flags?q=ENABLE_TLS_FINGERPRINT")
    const flag = row(page, "ENABLE_TLS_FINGERPRINT")
    await flag.getByRole("switch").click()
    await page
      .locator(".toast")
      .getByText(/ENABLE_TLS_FINGERPRINT cannot be switched on/)
      .waitFor()
    assert.isFalse(await flag.getByRole("switch").isChecked())
  })

  it("go back to their defaults together", async () => {
    const page = await enter("system/flags?show=set")
    await page.getByText("No flag is set").waitFor()
    await page.getByRole("link", { name: "All", exact: true }).click()
    await row(page, "PRICING_SYNC_ENABLED").getByRole("switch").click()
    await page.getByRole("button", { name: "All to their defaults" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByText("1 flag that was set here").waitFor()
    await dialog.getByRole("textbox").fill("all flags")
    await dialog.getByRole("button", { name: "All to their defaults" }).click()
    await page.getByText("1 flag was reset.").waitFor()
    await row(page, "PRICING_SYNC_ENABLED").getByText("set here").waitFor({ state: "detached" })
  })
})
