/** The first page: the steps of a new gateway, what needs a person with the buttons that mend it, and what happens now and in a day. */
import { assert, describe, it } from "vitest"
import { browserPath, failing, world } from "./world.ts"

interface Made {
  readonly connection: { readonly id: string }
}

interface Attention {
  readonly items: ReadonlyArray<{ readonly kind: string }>
}

const hostile = `"><img src=x onerror=alert(1)>`

describe.skipIf(browserPath === null)("the first page", () => {
  const { enter, gateway, manage, upstream } = world()
  let work = ""

  const askAs = async (key: string, model: string): Promise<number> => {
    const answer = await fetch(`${gateway().url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] })
    })
    await answer.text()
    return answer.status
  }

  it("shows a new gateway three steps with their state and nothing else, and ticks each when it is done", async () => {
    const page = await enter()
    const steps = page.getByRole("region", { name: "Three steps to a first answer" })
    const step = (name: string) => steps.getByRole("listitem").filter({ hasText: name })
    await steps.waitFor()
    assert.strictEqual(await page.getByRole("region").count(), 2, "the steps, and the address to copy")
    await step("Connect a provider").getByText("next", { exact: true }).waitFor()
    await step("Ask a first question").getByText("later", { exact: true }).waitFor()
    assert.match(
      (await steps.getByRole("link", { name: "Add a provider" }).getAttribute("href")) ?? "",
      /providers\/add$/
    )

    const made = await manage<Made>("POST", "/api/providers", {
      provider: "openai",
      name: "work",
      apiKey: "sk-abcdefghijklmnopqrstuvwx1",
      baseUrl: upstream().url
    })
    work = made.connection.id
    await page.reload()
    await step("Connect a provider").getByText("done", { exact: true }).waitFor()
    await steps.getByRole("button", { name: "Ask it" }).click()
    await steps.getByText("Hello.").waitFor()
    await step("Ask a first question").getByText("done", { exact: true }).waitFor()
    await step("Point a client").getByText("next", { exact: true }).waitFor()
    assert.strictEqual(await page.getByRole("heading", { name: "Needs you" }).count(), 0)

    const { secret } = await manage<{ secret: string }>("POST", "/api/keys", { name: "laptop" })
    assert.strictEqual(await askAs(secret, "openai/gpt-4o-mini"), 200)
    await page.reload()
    await page.getByRole("heading", { name: "Needs you" }).waitFor()
    assert.strictEqual(await steps.count(), 0)
  })

  it("says what happens now, what today costs, and who was asked most in a day", async () => {
    const { key, secret } = await manage<{ key: { id: string }; secret: string }>("POST", "/api/keys", {
      name: hostile
    })
    await manage("POST", "/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd: 10 })
    await manage("POST", "/api/combos", { name: "best", targets: [{ model: "openai/gpt-4o-mini" }] })
    for (let n = 0; n < 3; n++) assert.strictEqual(await askAs(secret, "best"), 200)
    const page = await enter()
    const now = page.getByRole("region", { name: "Now" })
    await now.getByText(/of \$10\.00/).waitFor()
    await now.getByText("running").waitFor()
    const top = page.getByRole("region", { name: "Most asked, 24 h" })
    await top
      .getByRole("link", { name: /openai\/gpt-/ })
      .first()
      .waitFor()
    await top.getByRole("link", { name: "Keys" }).click()
    assert.match(
      (await top.getByRole("link", { name: hostile }).getAttribute("href")) ?? "",
      new RegExp(`keys/${key.id}$`)
    )
    await top.getByRole("link", { name: "Combos" }).click()
    await page.waitForURL(/top=combos/)
    await top.getByText("best").waitFor()
    await top.getByText("3 requests").waitFor()
    assert.strictEqual(await page.locator("main img").count(), 0)
  })

  it("mends what needs a person: off with undo, tested with the answer's words, used again", async () => {
    upstream().answers.set("gpt-4o", failing(402, "You have run out of credits."))
    await askAs("", "openai/gpt-4o")
    const { items } = await manage<Attention>("GET", "/api/attention")
    assert.include(
      items.map(({ kind }) => kind),
      "connectionEnded"
    )
    const page = await enter()
    const needs = page.getByRole("region", { name: /^Needs you/ })
    const item = needs.getByRole("listitem").filter({ hasText: "work" })
    const strip = page.getByRole("region", { name: "Providers, 24 h" })
    await strip.getByText("cannot be used").waitFor()
    assert.match(
      (await item.getByRole("link", { name: "work" }).getAttribute("href")) ?? "",
      new RegExp(`providers/${work}$`)
    )

    await item.getByRole("button", { name: "Switch it off" }).click()
    await page.getByText("work: Switch it off: done.").waitFor()
    await strip.getByText("turned off").waitFor()
    await page.getByRole("button", { name: "Undo" }).click()
    await page.getByText("Taken back.").waitFor()
    await strip.getByText("cannot be used").waitFor()

    await item.getByRole("button", { name: "Use it again" }).click()
    await strip.getByText("works").waitFor()
    await needs.getByText("its credits", { exact: false }).waitFor({ state: "detached" })
  })

  it("raises a budget that is used up, and takes that back", async () => {
    const { key, secret } = await manage<{ key: { id: string }; secret: string }>("POST", "/api/keys", { name: "ci" })
    const spent = 0.0001
    await manage("POST", "/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd: 5, monthlyLimitUsd: 50 })
    assert.strictEqual(await askAs(secret, "openai/gpt-4o-mini"), 200)
    await manage("POST", "/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd: spent, monthlyLimitUsd: 50 })
    const page = await enter()
    const budget = async () => {
      const { dailyLimitUsd, monthlyLimitUsd } = (
        await manage<{ budget: { dailyLimitUsd: number; monthlyLimitUsd: number } }>(
          "GET",
          `/api/usage/budget?apiKeyId=${key.id}`
        )
      ).budget
      return [dailyLimitUsd, monthlyLimitUsd]
    }
    const row = page
      .getByRole("region", { name: /^Needs you/ })
      .getByRole("listitem")
      .filter({ hasText: "ci" })
    await row.getByRole("button", { name: "Raise" }).click()
    const dialog = page.getByRole("dialog", { name: "Raise the budget of ci" })
    await dialog.getByLabel("USD a day").fill("5")
    assert.strictEqual(await dialog.getByLabel("USD a month").inputValue(), "50", "only what was not enough is doubled")
    await dialog.getByRole("button", { name: "Raise" }).click()
    await page.getByText("The budget of ci is raised.").waitFor()
    assert.deepStrictEqual(await budget(), [5, 50])
    await row.waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Undo" }).click()
    await page.getByText("Taken back.").waitFor()
    assert.deepStrictEqual(await budget(), [spent, 50])
    await row.getByText("is used up", { exact: false }).waitFor()
  })

  it("says why there is nothing to see while the gateway does not answer", async () => {
    const page = await enter("", {
      before: async (opened) => {
        await opened.route("**/api/attention", (route) =>
          route.fulfill({
            status: 503,
            contentType: "application/json",
            body: JSON.stringify({ error: { message: "The database is busy.", code: "unavailable" } })
          })
        )
      }
    })
    await page.getByRole("alert").getByText("The database is busy.").waitFor()
    await page.getByRole("button", { name: "Try again" }).waitFor()
    await page.getByRole("region", { name: "Providers, 24 h" }).getByText("openai").waitFor()
  })
})
