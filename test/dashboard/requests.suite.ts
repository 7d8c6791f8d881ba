/** The view of requests: the list, its filter, and the decision of each. */
import { assert, beforeAll, describe, it } from "vitest"
import { browserPath, failing, world } from "./world.ts"

interface Decision {
  readonly decision: {
    readonly weights: Readonly<Record<string, number>> | null
    readonly candidates: ReadonlyArray<{
      readonly score: number | null
      readonly factors: Readonly<Record<string, number>> | null
    }>
  }
}

describe.skipIf(browserPath === null)("the view of requests", () => {
  const { ask, enter, manage, upstream } = world()
  let failed = ""
  let moved = ""

  beforeAll(async () => {
    const account = { apiKey: "sk-abcdefghijklmnopqrstuvwx1", baseUrl: upstream().url }
    await manage("POST", "/api/providers", { provider: "openai", name: "work", ...account })
    await manage("POST", "/api/providers", { provider: "groq", name: "team B", models: ["gpt-4o-mini"], ...account })
    await manage("POST", "/api/combos", {
      name: "best",
      strategy: "priority",
      targets: [{ model: "openai/gpt-4o" }, { model: "groq/gpt-4o-mini" }]
    })
    upstream().answers.set("gpt-4o", failing(500, "The model is overloaded."))
    for (let n = 0; n < 5; n++) await ask("auto")
    moved = (await ask("best")).requestId
    failed = (await ask("nope/model")).requestId
  })

  it("lists them, the newest first, and shows why one went where it went", async () => {
    const page = await enter("requests")
    const rows = page.getByRole("row")
    await page.getByRole("gridcell", { name: "nope/model" }).waitFor()
    assert.strictEqual(await rows.count(), 8)
    await page.getByRole("gridcell", { name: "best" }).click()
    const detail = page.getByRole("region", { name: "Request" })
    await detail.getByText("2 calls").waitFor()
    assert.include(page.url(), moved)
    const times = detail.getByRole("list", { name: "Time line" })
    assert.match(await times.innerText(), /openai\/gpt-4o 500[^]*groq\/gpt-4o-mini/)
    assert.include(await detail.getByRole("region", { name: "Targets" }).innerText(), "served")
  })

  it("draws scores as the sum of weight times factor", async () => {
    const { logs } = await manage<{ logs: ReadonlyArray<{ requestId: string; requestedModel: string }> }>(
      "GET",
      "/api/usage/logs?requestedModel=auto"
    )
    const page = await enter()
    for (const { requestId } of logs) {
      const { decision } = await manage<Decision>("GET", `/api/routing/decisions/${requestId}`)
      await page.goto(page.url().replace(/dashboard\/.*/, `dashboard/requests/${requestId}`))
      const bars = page.getByRole("region", { name: "Targets" }).getByRole("img")
      await bars.first().waitFor()
      const drawn = await bars.evaluateAll((elements) =>
        elements.map((bar) =>
          [...bar.children].reduce((sum, piece) => sum + Number.parseFloat((piece as HTMLElement).style.inlineSize), 0)
        )
      )
      const scores = decision.candidates.map(({ score }) => (score ?? 0) * 100).toSorted((one, other) => other - one)
      drawn
        .toSorted((one, other) => other - one)
        .forEach((sum, index) => assert.approximately(sum, scores[index] ?? Number.NaN, 0.01))
      assert.strictEqual(drawn.length, scores.length)
    }
  })

  it("filters by what is typed, keeps the filter in the address, and names what it does not understand", async () => {
    const page = await enter("requests")
    await page.getByLabel("Filter").fill("asked:best")
    await page.waitForURL(/q=asked%3Abest/)
    await page.getByRole("gridcell", { name: "best" }).waitFor()
    assert.strictEqual(await page.getByRole("row").count(), 2)
    await page.reload()
    await page.getByRole("gridcell", { name: "best" }).waitFor()
    assert.strictEqual(await page.getByLabel("Filter").inputValue(), "asked:best")
    await page.getByLabel("Filter").fill("model: best")
    await page.getByText("Not understood: model:").waitFor()
    await page.getByLabel("Filter").fill("asked:nobody-asks-for-this")
    await page.getByText("No request fits the filter.").waitFor()
  })

  it("is gone through with the keyboard alone", async () => {
    const page = await enter("requests")
    await page.getByRole("gridcell", { name: "nope/model" }).waitFor()
    await page.getByRole("grid").focus()
    await page.keyboard.press("Enter")
    await page.waitForURL(new RegExp(failed))
    await page.keyboard.press("j")
    await page.waitForURL(new RegExp(moved))
    await page.keyboard.press("k")
    await page.waitForURL(new RegExp(failed))
    await page.getByRole("link", { name: "Close the detail" }).press("Enter")
    await page.waitForURL(/requests$/)
    await page.keyboard.press("g")
    await page.keyboard.press("h")
    await page.getByRole("heading", { name: "Home" }).waitFor()
  })

  it("says that new ones are there, and moves no row under the pointer", async () => {
    const page = await enter("requests")
    await page.getByRole("gridcell", { name: "nope/model" }).waitFor()
    await page.getByText("live", { exact: true }).waitFor()
    const before = await page.getByRole("row").allInnerTexts()
    await ask("auto")
    await page.getByRole("button", { name: "1 new" }).click()
    await page.getByRole("button", { name: "1 new" }).waitFor({ state: "detached" })
    await page.waitForFunction((rows) => document.querySelectorAll("[role=row]").length === rows + 1, before.length)
  })
})
