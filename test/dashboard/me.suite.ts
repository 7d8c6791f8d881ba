/** The page of who holds an API key: its own limits, spend, requests and models, and nothing of anybody else. */
import { assert, beforeAll, describe, it } from "vitest"
import type { Page } from "playwright-core"
import { browserPath, world } from "./world.ts"

interface Made {
  readonly secret: string
  readonly key: { readonly id: string }
}

describe.skipIf(browserPath === null)("the page of a key's holder", () => {
  const { gateway, manage, open, upstream } = world()
  let key: Made
  let other: Made
  let plain: Made

  const askWith = async ({ secret }: Made, model = "openai/gpt-4o-mini"): Promise<number> => {
    const answer = await fetch(`${gateway().url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] })
    })
    await answer.text()
    return answer.status
  }

  beforeAll(async () => {
    await manage("POST", "/api/providers", {
      provider: "openai",
      name: "the account of the team",
      apiKey: "sk-abcdefghijklmnopqrstuvwx1",
      baseUrl: upstream().url
    })
    key = await manage<Made>("POST", "/api/keys", {
      name: "laptop",
      allowedModels: ["openai/gpt-4o-mini"],
      maxRequestsPerMinute: 60
    })
    other = await manage<Made>("POST", "/api/keys", { name: "somebody else" })
    plain = await manage<Made>("POST", "/api/keys", { name: "without a scope" })
    await manage("PATCH", `/api/keys/${plain.key.id}`, { scopes: [] })
    await manage("POST", "/api/usage/budget", { apiKeyId: key.key.id, dailyLimitUsd: 2 })
    assert.deepStrictEqual([await askWith(key), await askWith(key, "openai/gpt-4o")], [200, 403])
    await askWith(other, "openai/gpt-4o")
  })

  const show = async (page: Page, { secret }: Made): Promise<void> => {
    await page.getByLabel("API key").fill(secret)
    await page.keyboard.press("Enter")
  }

  it("is led to from the login, and shows what the key may do and has used", async () => {
    const asked: Array<string> = []
    const page = await open("", { before: async (opened) => void opened.on("request", (one) => asked.push(one.url())) })
    await page.getByRole("link", { name: /You have an API key/ }).click()
    await show(page, key)
    await page.getByRole("heading", { name: "laptop" }).waitFor()
    await page.getByText("$0.00024 of $2.00 a day").waitFor()
    await page.getByText("60 requests a minute").waitFor()
    await page.getByText("Models that may be asked").waitFor()
    await page.getByRole("row", { name: /openai\/gpt-4o-mini.*200 completed/ }).waitFor()
    await page.getByText("1 model", { exact: true }).waitFor()
    await page.getByText("$GATEWAY_API_KEY").first().waitFor()
    const text = await page.locator("body").innerText()
    for (const foreign of ["somebody else", "the account of the team", key.secret]) assert.notInclude(text, foreign)
    const kept = await page.evaluate(() => [
      location.href,
      document.cookie,
      { ...localStorage },
      { ...sessionStorage },
      history.state
    ])
    assert.notInclude(JSON.stringify([kept, asked]), key.secret)
    assert.deepStrictEqual(await page.context().cookies(), [])
    const paths = new Set(asked.map((url) => new URL(url).pathname).filter((path) => /^\/(?:api|v1)\//.test(path)))
    paths.delete("/api/auth/session")
    paths.delete("/api/init")
    // The login asks for the issuers before it is left.
    paths.delete("/api/sign-in")
    assert.sameMembers(
      [...paths],
      ["/api/usage/me", "/api/me", "/api/usage/me/series", "/api/usage/me/logs", "/v1/models"]
    )
  })

  it("forgets the key when it is loaded anew, and when that is wanted", async () => {
    const page = await open("me")
    await show(page, key)
    await page.getByRole("heading", { name: "laptop" }).waitFor()
    await page.reload()
    await page.getByLabel("API key").waitFor()
    await show(page, other)
    await page.getByRole("heading", { name: "somebody else" }).waitFor()
    await page.getByText("Nothing limits this key.").waitFor()
    await page.getByRole("button", { name: "Forget the key" }).click()
    await page.getByLabel("API key").waitFor()
    assert.strictEqual(await page.getByText("somebody else").count(), 0)
  })

  it("says in the API's words why a key shows nothing", async () => {
    const page = await open("me")
    const refused = async (secret: string, words: string | RegExp): Promise<void> => {
      await show(page, { secret, key: { id: "" } })
      await page.getByRole("alert").filter({ hasText: words }).waitFor()
    }
    await refused("wrong", "The API key is not known to this gateway.")
    await refused("schlüssel\u202E", /no API key|not known/)
    await refused(plain.secret, /scope/)
  })

  it("is all that such a key opens: every other path asks for the login", async () => {
    for (const path of ["", "keys", "requests", "system", "me/more"]) {
      const page = await open(path)
      await page.getByLabel("Admin password").waitFor()
    }
  })

  it("says so when the key is taken away while the page is open", async () => {
    const short = await manage<Made>("POST", "/api/keys", { name: "ends soon" })
    const page = await open("me")
    await show(page, short)
    await page.getByRole("heading", { name: "ends soon" }).waitFor()
    await page.getByText("This key was not used yet.").waitFor()
    await manage("DELETE", `/api/keys/${short.key.id}`)
    await page.getByLabel("Search models").waitFor()
    await page.getByRole("button", { name: "Forget the key" }).click()
    await show(page, short)
    await page.getByRole("alert").filter({ hasText: "The API key is not known" }).waitFor()
  })
})
