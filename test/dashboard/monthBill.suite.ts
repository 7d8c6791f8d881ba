/** The bill of a month: read, closed, saved as a file, and printed. */
import { readFileSync } from "node:fs"
import { assert, beforeAll, describe, it } from "vitest"
import { addPast } from "./past.ts"
import { shown } from "./views.ts"
import { browserPath, world } from "./world.ts"

const dayMs = 86_400_000

describe.skipIf(browserPath === null)("the bill of a month", () => {
  const { ask, dataDir, enter, gateway, manage, upstream } = world()
  const now = new Date()
  /** In the middle of last month, by UTC. */
  const lastMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 15, 12)
  const last = new Date(lastMs).toISOString().slice(0, 7)
  let keyId = ""

  beforeAll(async () => {
    await manage("POST", "/api/providers", {
      provider: "openai",
      name: "work",
      apiKey: "sk-abcdefghijklmnopqrstuvwx1",
      baseUrl: upstream().url
    })
    keyId = (await manage<{ key: { id: string } }>("POST", "/api/keys", { name: "nightly" })).key.id
    await ask("openai/gpt-4o-mini")
    const common = { keyId, provider: "openai" }
    addPast(dataDir(), [
      { ...common, atMs: lastMs, model: "gpt-4o", usd: 2 },
      { ...common, atMs: lastMs + dayMs, model: "gpt-4o", usd: 1.5 },
      { ...common, atMs: lastMs + dayMs, model: "gpt-4o-mini", usd: 0.25 }
    ])
  })

  it("sums up by what is chosen, says the total, and is a file", async () => {
    const page = await enter(`keys/month?month=${last}&by=key&and=model`)
    await page.getByRole("row", { name: /nightly.*gpt-4o .*2.*2,000.*400.*\$3.50.*\$3.50/ }).waitFor()
    await page.getByRole("row", { name: /nightly.*gpt-4o-mini.*1.*\$0.25/ }).waitFor()
    await page.getByRole("row", { name: /Total.*3.*\$3.75/ }).waitFor()
    await page.getByLabel("and", { exact: true }).selectOption("-")
    await page.getByRole("row", { name: /nightly.*3.*\$3.75/ }).waitFor()
    assert.strictEqual(await page.getByRole("columnheader", { name: "model" }).count(), 0)
    await page.getByLabel("By", { exact: true }).selectOption("provider")
    await page.getByRole("row", { name: /openai.*\$3.75/ }).waitFor()
    const saved = page.waitForEvent("download")
    await page.getByRole("button", { name: "As CSV" }).click()
    const file = await (await saved).path()
    const [head = "", row = ""] = readFileSync(file, "utf8").split("\r\n")
    assert.match(head, /^month,person,/)
    assert.match(row, new RegExp(`^${last},.*,openai,.*,3.75,3.75$`))
  })

  it("is without what is only for the screen on paper, in black on white", async () => {
    const page = await enter(`keys/month?month=${last}`, { colorScheme: "dark" })
    await page.getByRole("row", { name: /Total.*\$3.75/ }).waitFor()
    await page.emulateMedia({ media: "print" })
    await page.getByRole("navigation", { name: "Views" }).waitFor({ state: "hidden" })
    for (const name of ["Print", "As CSV", "Log out", "Create a key"]) {
      assert.isFalse(await page.getByRole("button", { name }).isVisible(), name)
    }
    assert.isTrue(await page.getByRole("heading", { name: /^Bill of / }).isVisible())
    const ground = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    assert.strictEqual(ground, "rgb(255, 255, 255)")
  })

  it("is closed for good once its month is over, with a checksum", async () => {
    const page = await enter("keys/month")
    await page.getByText("It can be closed when it is over.").waitFor()
    assert.strictEqual(await page.getByRole("button", { name: "Close the month" }).count(), 0)
    await page.getByText("No month was closed yet.").waitFor()
    await page.goto(`${gateway().url}/dashboard/keys/month?month=${last}`)
    await page.getByRole("button", { name: "Close the month" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByText("It cannot be opened again.").waitFor()
    const close = dialog.getByRole("button", { name: "Close the month" })
    assert.isTrue(await close.isDisabled())
    await dialog.getByRole("textbox").fill(last)
    await close.click()
    await page.getByText("The report is as it was closed.").waitFor()
    const { bills } = await manage<{ bills: ReadonlyArray<{ month: string; checksum: string; costUsd: number }> }>(
      "GET",
      "/api/bills/closed"
    )
    assert.lengthOf(bills, 1)
    assert.deepInclude(bills[0], { month: last, costUsd: 3.75 })
    await page.getByText(bills[0]?.checksum ?? "none").waitFor()
    await page.getByRole("row", { name: /UTC.*\$3.75.*intact/ }).waitFor()
    assert.strictEqual(await page.getByRole("button", { name: "Close the month" }).count(), 0)
  })

  it("says that nothing was asked in a month", async () => {
    const page = await enter("keys/month?month=2020-02")
    await page.getByText("Nothing was asked in this month.").waitFor()
    await shown(page)
  })
})
