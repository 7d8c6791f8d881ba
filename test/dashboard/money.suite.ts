/** Who spends how much, what models cost, and whether the bill agrees; a key's page with two editors. */
import { assert, beforeAll, describe, it } from "vitest"
import { readFileSync } from "node:fs"
import type { Page } from "playwright-core"
import { addPast } from "./past.ts"
import { browserPath, world } from "./world.ts"

describe.skipIf(browserPath === null)("the view of money", () => {
  const { ask, dataDir, enter, manage, upstream } = world()
  let ci = ""
  let laptop = ""

  beforeAll(async () => {
    await manage("POST", "/api/providers", {
      provider: "openai",
      name: "work",
      models: ["gpt-4o", "gpt-4o-mini", "newest"],
      apiKey: "sk-abcdefghijklmnopqrstuvwx1",
      baseUrl: upstream().url
    })
    const made = async (name: string): Promise<string> =>
      (await manage<{ key: { id: string } }>("POST", "/api/keys", { name })).key.id
    ci = await made("ci")
    laptop = await made("laptop")
    const now = Date.now()
    const first = new Date(new Date(now).getFullYear(), new Date(now).getMonth(), 1).getTime()
    const before = new Date(new Date(now).getFullYear(), new Date(now).getMonth() - 1, 1).getTime()
    const base = { provider: "openai", cacheRead: 0 }
    addPast(dataDir(), [
      { ...base, atMs: first + 1, keyId: ci, model: "gpt-4o", usd: 6, cacheRead: 1_000_000 },
      { ...base, atMs: now - 1_000, keyId: ci, model: "gpt-4o-mini", usd: 1 },
      { ...base, atMs: now - 2_000, keyId: laptop, model: "gpt-4o", usd: 2, combo: "best" },
      { ...base, atMs: now - 3_000, keyId: null, model: "gpt-4o", usd: 0.5 },
      { ...base, atMs: before + 1, keyId: ci, model: "gpt-4o", usd: 4 }
    ])
  })

  const table = (page: Page) => page.getByRole("region", { name: "Cost as a table" }).getByRole("table")

  it("shows the month, how it compares and what caches have saved, by any two dimensions, all in the address", async () => {
    const page = await enter("keys")
    await page.getByText("$9.50", { exact: true }).first().waitFor()
    await page.getByText("providers' caches saved $1.25").waitFor()
    const row = table(page).getByRole("row", { name: /^openai\/gpt-4o \$/ })
    assert.deepStrictEqual(await row.getByRole("cell").allInnerTexts(), ["$8.50", "$6.00", "$2.00", "$0.50"])
    const heads = await table(page).getByRole("columnheader").allInnerTexts()
    assert.deepStrictEqual(heads, ["model", "Total", "ci", "laptop", "without a key"])

    await page.getByLabel("First dimension").selectOption("combo")
    await page.getByLabel("Second dimension").selectOption("provider")
    await table(page)
      .getByRole("row", { name: /^best \$2\.00/ })
      .waitFor()
    await page.waitForURL(/by=combo/)
    await page.waitForURL(/and=provider/)
    await page.reload()
    await table(page)
      .getByRole("row", { name: /^best \$2\.00/ })
      .waitFor()

    await page.getByLabel("Second dimension").selectOption("day")
    await table(page).getByRole("columnheader", { name: "day" }).waitFor()
    await page.getByRole("link", { name: "Month before" }).click()
    await page.getByText("$4.00", { exact: true }).first().waitFor()
    await page.waitForURL(/month=\d{4}-\d\d/)
    await page.getByRole("link", { name: "Month before" }).click()
    await page.getByText("Nothing was spent in this month.").waitFor()
  })

  it("saves what is shown as a file", async () => {
    const page = await enter("keys?by=apiKey&and=model")
    await table(page)
      .getByRole("row", { name: /^ci \$7\.00/ })
      .waitFor()
    const saved = async (name: string): Promise<string> => {
      await page.locator("summary", { hasText: "Export" }).click()
      const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()])
      return readFileSync(await file.path(), "utf8")
    }
    const lines = (await saved("This table as CSV")).trim().split("\r\n")
    assert.strictEqual(
      lines[0],
      "apiKey,apiKeyId,model,modelId,requests,failed,tokensIn,tokensOut,cacheRead,costUsd,cacheSavedUsd"
    )
    assert.include(lines[1], `ci,${ci},openai/gpt-4o,openai/gpt-4o,1,0,1000,200,1000000,6,`)
    const rows = JSON.parse(await saved("This table as JSON")) as ReadonlyArray<{ readonly costUsd: number }>
    assert.closeTo(
      rows.reduce((all, { costUsd }) => all + costUsd, 0),
      9.5,
      1e-9
    )
    assert.include(await saved("All requests of this month as CSV"), laptop)
  })

  it("shows a key's budget as it burns down, and raises it with a way back", async () => {
    await manage("POST", "/api/usage/budget", { apiKeyId: ci, monthlyLimitUsd: 20, dailyLimitUsd: 4 })
    const page = await enter(`keys/${ci}`)
    await page.getByRole("heading", { name: /^ci gw_/ }).waitFor()
    const month = page.getByRole("region", { name: "What is left of this month" })
    await month.getByText("$13.00 of $20.00 left").waitFor()
    await page.getByRole("button", { name: /^Raise to/ }).click()
    await page.getByText(/^ci may spend \$\d+\.00 a/).waitFor()
    type Budget = { budget: { dailyLimitUsd: number; monthlyLimitUsd: number } }
    const budget = async () => (await manage<Budget>("GET", `/api/usage/budget?apiKeyId=${ci}`)).budget
    const { dailyLimitUsd, monthlyLimitUsd } = await budget()
    assert.isTrue(
      dailyLimitUsd > 4 !== monthlyLimitUsd > 20,
      `one limit is raised: ${dailyLimitUsd}, ${monthlyLimitUsd}`
    )
    await page.getByRole("button", { name: "Undo" }).click()
    await page.getByText("ci is as it was before.").waitFor()
    assert.deepInclude(await budget(), { dailyLimitUsd: 4, monthlyLimitUsd: 20 })
    await page.getByText("This month by model").waitFor()
    await page.getByText("$7.00 this month").waitFor()
  })

  it("edits budget and rules of a key; the second of two editors merges", async () => {
    const [first, second] = await Promise.all([enter(`keys/${laptop}/rules`), enter(`keys/${laptop}/rules`)])
    for (const page of [first, second]) await page.getByLabel("Max requests per minute", { exact: true }).waitFor()
    await second.getByLabel("Max requests per minute", { exact: true }).fill("7")
    await second.getByLabel("Requests at the same time", { exact: true }).fill("3")
    await first.getByLabel("Max requests per minute", { exact: true }).fill("5")
    await first.getByLabel("Max requests per day", { exact: true }).fill("500")
    await first.getByRole("button", { name: "Save", exact: true }).click()
    await first.getByText("Saved: laptop.").waitFor()
    await second.getByRole("button", { name: "Save", exact: true }).click()
    const dialog = second.getByRole("dialog")
    await dialog.getByText("1 field needs your choice").waitFor()
    await dialog.getByLabel("maxRequestsPerMinute: Yours").check()
    await dialog.getByRole("button", { name: "Save this" }).click()
    await second.getByText("Saved: laptop.").waitFor()
    const { key } = await manage<{ key: object }>("GET", `/api/keys/${laptop}`)
    assert.deepInclude(key, { maxRequestsPerMinute: 7, maxSessions: 3, maxRequestsPerDay: 500 })

    await first.goto(first.url().replace("/rules", "/limits"))
    await first.getByLabel("Weekly limit (USD)").fill("12")
    await first.getByRole("button", { name: "Save", exact: true }).click()
    await first.getByText("Saved: Budget.").waitFor()
    await first.getByLabel("Most tokens").fill("5000")
    await first.getByRole("button", { name: "Add a token limit" }).click()
    await first.getByText("1.2K of 5K").first().waitFor()
    await first.getByRole("button", { name: "Remove", exact: true }).click()
    await first.getByText("No token limit.").waitFor()
    await first.getByRole("button", { name: "Undo" }).click()
    await first.getByText("1.2K of 5K").first().waitFor()
    await first.getByRole("button", { name: "Remove the budget" }).click()
    await first.getByText("laptop has no budget any more.").waitFor()
  })

  it("sets the price of a model that was used without one, and takes it back", async () => {
    assert.strictEqual((await ask("openai/newest")).status, 200)
    const page = await enter("keys/prices")
    const without = page.getByRole("region", { name: "Used without a price" })
    await without.getByRole("button", { name: "Set a price: openai/newest" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Input").fill("1.5")
    await dialog.getByRole("button", { name: "Save" }).click()
    await dialog.getByText("A number, 0 or more").waitFor()
    await dialog.getByLabel("Output", { exact: true }).fill("6")
    await dialog.getByRole("button", { name: "Save" }).click()
    await page.getByText("openai/newest has this price from the next request on.").waitFor()
    const row = page.getByRole("row", { name: /^openai\/newest/ })
    await row.getByText("set here").waitFor()
    const set = async () => (await manage<{ openai?: object }>("GET", "/api/pricing")).openai
    assert.deepStrictEqual(await set(), { newest: { input: 1.5, output: 6 } })
    await page.getByRole("button", { name: "Undo" }).click()
    await row.getByText("no price").waitFor()
    assert.isUndefined(Object.values((await set()) ?? {})[0])
    await page.getByLabel("Find a model").fill("no such model")
    await page.getByText("No model fits.").waitFor()
    await page.waitForURL(/q=no/)
  })

  it("compares a bill with the ledger, and says what is wrong with a text that is none", async () => {
    const page = await enter("keys/bill")
    await page.getByRole("button", { name: "Compare", exact: true }).click()
    await page.getByText("Choose a file or paste its text.").waitFor()
    const text = page.getByLabel("Or its text")
    await text.fill("name,value\n1,2\n")
    await page.getByRole("button", { name: "Compare", exact: true }).click()
    await page.getByText(/no cost export of OpenAI or Anthropic/).waitFor()
    const today = new Date(Date.now() - 1_000).toISOString().slice(0, 10)
    const seconds = Date.parse(`${today}T00:00:00Z`) / 1_000
    const line = (item: string, usd: number): string => `${seconds},${usd},usd,"${item}"`
    await page.getByLabel("File of the bill").setInputFiles({
      name: "costs.csv",
      mimeType: "text/csv",
      buffer: Buffer.from(`start_time,amount_value,amount_currency,line_item\n${line("image, output", 3)}\n`)
    })
    await page.getByRole("button", { name: "Compare", exact: true }).click()
    const result = page.getByRole("region", { name: "Bill and ledger" }).first()
    await result.getByText(/They differ by/).waitFor()
    await result.getByText(/not through this gateway/).waitFor()
    await result.getByText("The last day is not over").waitFor()
    await page.getByText("Copy as a command").click()
    await page.getByText("gateway cost reconcile costs.csv").waitFor()
    assert.notInclude(page.url(), "image")
  })

  it("says what went wrong, and which right is missing, and works at 390 pixels", async () => {
    const page = await enter("keys", { viewport: { width: 390, height: 800 } })
    await page.getByText("$9.50", { exact: true }).first().waitFor()
    const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
    assert.isFalse(isWide, "nothing scrolls sideways")
    const refused = (status: number, code: string, message: string) =>
      page.route("**/api/usage/series*", (route) => route.fulfill({ status, json: { error: { code, message } } }))
    await refused(403, "key_scope", "This needs the right to manage.")
    await page.reload()
    await page.getByText("You may not see this").waitFor()
    await page.getByText("This needs the right to manage.").waitFor()
    await page.unroute("**/api/usage/series*")
    await page.getByRole("button", { name: "Try again" }).click()
    await page.getByText("$9.50", { exact: true }).first().waitFor()
    const gone = await enter("keys/there-is-none")
    await gone.getByText("There is no such key.").waitFor()
  })
})
