/** What is typed and the address: each follows the other, and a view that was left calls nobody back. And what is under way, however late the feed is heard. */
import { assert, beforeAll, describe, it } from "vitest"
import type { Page } from "playwright-core"
import { browserPath, hello, logIn, world } from "./world.ts"

describe.skipIf(browserPath === null)("the address", () => {
  const { ask, enter, manage, open, upstream } = world()
  beforeAll(async () => {
    const account = { apiKey: "k", baseUrl: upstream().url }
    await manage("POST", "/api/providers", { provider: "openai", name: "work", ...account })
    await manage("POST", "/api/providers", { provider: "deepseek", name: "held", models: ["held"], ...account })
    await ask("openai/gpt-4o")
  })

  /** Holds the scripts that a page asks for from now on. */
  const hold = async (page: Page): Promise<() => Promise<void>> => {
    await page.route(/\.js$/, () => {})
    // Those that wait go on then, too.
    return () => page.unroute(/\.js$/)
  }

  it.each([
    ["requests?q=openai", "Filter", "gpt"],
    ["routing?q=a", "Search combos", "b"],
    ["system/operations?q=a", "Search operations", "b"],
    ["playground?models=a", "Model 1", "b"]
  ])("of %s is not written by it once the reader has gone on", async (path, label, text) => {
    const page = await open(path, { before: (one) => one.clock.install() })
    await logIn(page)
    const field = page.getByLabel(label).and(page.locator("input")).first()
    await field.waitFor()
    await page.clock.fastForward(1_000)
    const release = await hold(page)
    await field.fill(text)
    const aside = page.getByRole("navigation", { name: "Views" })
    await aside.getByRole("link", { name: "Keys" }).click()
    await page.waitForURL(/dashboard\/keys$/)
    // The view is still on its way: what was typed has settled meanwhile.
    await page.clock.fastForward(1_000)
    assert.match(page.url(), /dashboard\/keys$/)
    await release()
    await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor()
    assert.match(page.url(), /dashboard\/keys$/)
  })

  it("is followed by the field: a link to another filter is not taken back", async () => {
    const page = await enter("requests?q=outcome:completed")
    const field = page.getByLabel("Filter")
    await page.getByRole("gridcell").first().waitFor()
    await page.evaluate(() => {
      const link = document.createElement("a")
      link.href = "requests?q=provider:none"
      link.textContent = "others"
      document.querySelector("main h1")?.append(link)
    })
    await page.getByRole("link", { name: "others" }).click()
    await page.getByText("No request fits").waitFor()
    assert.strictEqual(await field.inputValue(), "provider:none")
    await field.fill("")
    await page.waitForURL(/dashboard\/requests$/)
  })

  it("of requests shows what began before the feed was heard, with the number of its targets", async () => {
    await manage("POST", "/api/combos", {
      name: "waiting",
      strategy: "priority",
      targets: [{ model: "deepseek/held" }, { model: "openai/gpt-4o" }]
    })
    let finish = (): void => {}
    upstream().answers.set("held", (response) => {
      finish = () => hello("held")(response)
    })
    let subscribe = (): void => {}
    const page = await enter("requests", {
      before: (one) =>
        one.routeWebSocket(/api\/live/, (socket) => {
          const gateway = socket.connectToServer()
          const waiting: Array<string | Buffer> = []
          let isOpen = false
          socket.onMessage((message) => void (isOpen ? gateway.send(message) : waiting.push(message)))
          // Until it is asked for something else the feed tells everything: here it tells nothing.
          gateway.onMessage((message) => {
            if (isOpen || String(message).includes('"welcome"')) socket.send(message)
          })
          subscribe = () => {
            isOpen = true
            for (const message of waiting) gateway.send(message)
          }
        })
    })
    await page.getByText("live", { exact: true }).waitFor()
    await page.getByRole("gridcell").first().waitFor()
    const called = new Promise<void>((resolve) => {
      const answer = upstream().answers.get("held")
      upstream().answers.set("held", (response) => {
        answer?.(response)
        resolve()
      })
    })
    const asked = ask("waiting")
    await called
    subscribe()
    const card = page.getByRole("region", { name: "Under way" })
    await card.getByText("→ deepseek/held").waitFor()
    await card.getByText("of 2 targets").waitFor()
    finish()
    await asked
    await card.waitFor({ state: "detached" })
  })
})
