/** The filter of requests with its proposals, what is new under it, the pages that are kept, and what a request's detail has beside its decision. */
import { assert, beforeAll, describe, it } from "vitest"
import { completionOf, withCompletion } from "../../src/dashboard/views/requests/filter.ts"
import { indexOf, type Log, mostPages, rowAt, withPage } from "../../src/dashboard/views/requests/pages.ts"
import type { Row } from "../../src/dashboard/views/requests/row.ts"
import { violations } from "./access.ts"
import { browserPath, failing, world } from "./world.ts"

describe("the end of a filter", () => {
  it("is completed by name, then by value, also in quotes", () => {
    for (const [text, name, field, value] of [
      ["", "", null, ""],
      ["sta", "", null, "sta"],
      ["status:failed mod", "", null, "mod"],
      ["model:gpt", "model", "model", "gpt"],
      ['key:"a b" x', "", null, "x"],
      ['key:"a b', "key", "apiKeyId", "a b"],
      ["model:a ", "", null, ""],
      [`${'"'.repeat(1_001)}model:`, "", null, null]
    ] as const) {
      const completion = completionOf(text)
      if (value === null) continue
      assert.deepStrictEqual(completion, { name, field, text: value }, text)
    }
    assert.strictEqual(withCompletion("status:failed mod", "model:"), "status:failed model:")
    assert.strictEqual(withCompletion('a key:"x y', "key:1 "), "a key:1 ")
  })
})

describe("the pages of the log", () => {
  it("stay a window, and a page that was let go is known of", () => {
    let log: Log = { pages: new Map(), cursors: [null], count: 0, next: null, error: null, isLoading: false }
    const pageOf = (page: number): ReadonlyArray<Row> =>
      Array.from({ length: 100 }, (_, at) => ({ id: `${page}-${at}`, requestId: `${page}-${at}` }) as Row)
    for (let page = 0; page < 50; page++) log = withPage(log, page, pageOf(page), page === 49 ? null : `c${page + 1}`)
    assert.strictEqual(log.pages.size, mostPages)
    assert.deepStrictEqual([log.count, log.cursors.length, log.next], [5_000, 50, null])
    assert.isUndefined(rowAt(log, 0))
    assert.strictEqual(rowAt(log, 4_999)?.id, "49-99")
    log = withPage(log, 0, pageOf(0), "c1")
    assert.deepStrictEqual([log.pages.size, log.cursors.length, log.count], [mostPages, 50, 5_000])
    assert.strictEqual(indexOf(log, "0-7"), 7)
    assert.strictEqual(log.cursors[49], "c49")
  })
})

describe.skipIf(browserPath === null)("the filter of requests", () => {
  const { ask, enter, manage, upstream } = world()
  let served = ""

  beforeAll(async () => {
    await manage("POST", "/api/providers", { provider: "openai", name: "work", apiKey: "k", baseUrl: upstream().url })
    upstream().answers.set("gpt-4o", failing(400, "No."))
    served = (await ask("openai/gpt-4o-mini")).requestId
    await ask("openai/gpt-4o")
  })

  it("proposes names and the values that the log has, by keyboard alone", async () => {
    const page = await enter("requests")
    await page.getByRole("gridcell", { name: "openai/gpt-4o-mini" }).first().waitFor()
    await page.keyboard.press("/")
    await page.keyboard.type("ask")
    await page.getByRole("option", { name: "asked:" }).waitFor()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await page.getByRole("option", { name: "openai/gpt-4o-mini" }).waitFor()
    assert.deepStrictEqual(await violations(page), [])
    await page.keyboard.type("mini")
    await page.getByRole("option", { name: "openai/gpt-4o-mini" }).waitFor()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await page.waitForURL(/q=asked%3Aopenai%2Fgpt-4o-mini/)
    await page.getByRole("row").nth(2).waitFor({ state: "detached" })
    await page.getByRole("gridcell", { name: "openai/gpt-4o-mini" }).first().waitFor()
    assert.strictEqual(await page.getByRole("row").count(), 2)
  })

  it("counts as new only what fits", async () => {
    const page = await enter("requests?q=status%3Afailed")
    await page.getByRole("gridcell", { name: "openai/gpt-4o" }).first().waitFor()
    await page.getByText("live", { exact: true }).waitFor()
    await ask("openai/gpt-4o-mini")
    await ask("openai/gpt-4o")
    await page.getByRole("button", { name: "1 new" }).click()
    await page.getByRole("row").nth(2).waitFor()
    assert.strictEqual(await page.getByRole("row").count(), 3)
  })

  it("shows the ledger of a request, decides it again, and gives the commands", async () => {
    const page = await enter(`requests/${served}`)
    const detail = page.getByRole("region", { name: "Request", exact: true })
    await detail.getByText("Ledger", { exact: true }).click()
    await detail.getByRole("region", { name: "Ledger" }).getByRole("cell", { name: "booked", exact: true }).waitFor()
    await detail.getByRole("button", { name: "Explain again" }).click()
    await detail.getByText("The first target would be the same.").waitFor()
    await detail.getByText("Copy as a command").last().click()
    await detail.getByText(`gateway route decision ${served}`).waitFor()
    assert.deepStrictEqual(await violations(page), [])
  })
})
