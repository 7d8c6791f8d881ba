/** The view of requests: the list, its filter, and the decision of each. */
import { assert, beforeAll, describe, it } from "vitest"
import { browserPath, failing, world } from "./world.ts"

interface Decision {
  readonly decision: {
    readonly weights: Readonly<Record<string, number>> | null
    readonly candidates: ReadonlyArray<{
      readonly score: number | null
      readonly excluded: object | null
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
    // Of these `auto` would choose any: they fail, and rest then.
    for (const [provider, name, model] of [
      ["xai", "best", "flaky"],
      ["mistral", "waiting", "held"]
    ] as const) {
      await manage("POST", "/api/providers", { provider, name, models: [model], isActive: false, ...account })
      await manage("POST", "/api/combos", {
        name,
        strategy: "priority",
        targets: [{ model: `${provider}/${model}` }, { model: "groq/gpt-4o-mini" }]
      })
    }
    upstream().answers.set("flaky", failing(500, "The model is overloaded."))
    for (let n = 0; n < 5; n++) await ask("auto")
    const { connections } = await manage<{ connections: ReadonlyArray<{ id: string; isActive: boolean }> }>(
      "GET",
      "/api/providers"
    )
    for (const { id, isActive } of connections)
      if (!isActive) await manage("PUT", `/api/providers/${id}`, { isActive: true })
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
    await page.waitForURL((url) => url.href.includes(moved))
    const times = detail.getByRole("list", { name: "Time line" })
    assert.match(await times.innerText(), /xai\/flaky 500[^]*groq\/gpt-4o-mini/)
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
      const eligible = decision.candidates.filter(({ excluded }) => excluded === null)
      const scores = eligible.map(({ score }) => (score ?? 0) * 100).toSorted((one, other) => other - one)
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
    await page.getByRole("row").nth(2).waitFor({ state: "detached" })
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

  it("shows a request while it runs: its targets at once, its failover when it happens", async () => {
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    upstream().answers.set("held", (response) => void held.then(() => failing(500, "Overloaded.")(response)))
    const page = await enter("requests")
    await page.getByText("live", { exact: true }).waitFor()
    const asked = ask("waiting")
    const card = page.getByRole("region", { name: "Under way" })
    await card.getByText("→ mistral/held", { exact: true }).waitFor()
    await card.getByRole("link", { name: "waiting" }).click()
    const detail = page.getByRole("region", { name: "Request" })
    await detail.getByText("This request is still under way.").waitFor()
    const targets = detail.getByRole("region", { name: "Targets" })
    await targets.getByText("groq/gpt-4o-mini").waitFor()
    release()
    await targets.getByText(/^served/).waitFor()
    await detail.getByText("2 calls").waitFor()
    assert.strictEqual((await asked).status, 200)
    await card.waitFor({ state: "detached" })
  })
})
