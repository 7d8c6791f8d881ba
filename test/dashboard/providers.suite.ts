/** The view of providers: the list, the way to add one, the page of an account, models, quotas, pauses and own servers. */
import { assert, beforeAll, describe, it } from "vitest"
import type { Page } from "playwright-core"
import { browserPath, failing, hello, world } from "./world.ts"

interface Connection {
  readonly id: string
  readonly provider: string
  readonly name: string
  readonly isActive: boolean
  readonly priority: number
  readonly testStatus: string
}

interface Nodes {
  readonly nodes: ReadonlyArray<{ readonly id: string; readonly name: string; readonly prefix: string }>
}

const hostile = `"><script>alert(1)</script>`

describe.skipIf(browserPath === null)("the view of providers", () => {
  const { ask, enter, manage, upstream } = world()
  const stored = async () =>
    (await manage<{ connections: ReadonlyArray<Connection> }>("GET", "/api/providers")).connections
  const named = async (name: string) => (await stored()).find((connection) => connection.name === name)
  const add = async (body: object) =>
    (await manage<{ connection: Connection }>("POST", "/api/providers", { baseUrl: upstream().url, ...body }))
      .connection

  beforeAll(() => {
    upstream().answers.set("gpt-4o-mini", hello("gpt-4o-mini"))
  })

  const choose = async (page: Page, name: string, exact: RegExp): Promise<void> => {
    await page.getByLabel("Search providers").fill(name)
    await page.getByRole("link", { name: exact }).first().click()
    await page.getByLabel(/^Key for/).waitFor()
  }

  it("adds one: chosen, its key checked, asked a first question with nothing stored, saved into a combo with undo", async () => {
    const { combo } = await manage<{ combo: { id: string } }>("POST", "/api/combos", {
      name: "best",
      targets: [{ model: "openai/gpt-4o" }]
    })
    const page = await enter("providers")
    await page.getByText("No provider is connected yet.", { exact: false }).waitFor()
    await page.getByRole("link", { name: "Add a provider" }).first().click()
    await choose(page, "groq", /^Groq/)
    await page.waitForURL(/providers\/add\/groq$/)
    await page.getByRole("button", { name: "Check" }).click()
    await page.getByText("Fill in what is needed first.").waitFor()
    assert.match(
      (await page.getByRole("link", { name: /Where do I get one/ }).getAttribute("href")) ?? "",
      /^https:\/\//
    )
    await page.getByLabel(/^Key for/).fill("sk-of-somebody-else")
    await page.getByText(/Keys of this provider look like gsk_/).waitFor()
    await page.getByLabel(/^Key for/).fill("gsk_abcdefghijklmnopqrstuvwx1")
    await page.getByLabel("Name").fill("team B")
    await page.getByText("Address, proxy, and more").click()
    await page.getByLabel("Address").fill(upstream().url)
    await page.getByRole("button", { name: "Check" }).click()
    await page.getByText("accepted", { exact: false }).first().waitFor()
    await page.getByText(/^reachable, \d/).waitFor()
    await page.getByText("2 models", { exact: true }).waitFor()
    await page.getByText("2 without a price").waitFor()
    await page.getByLabel("Model").fill("gpt-4o-mini")
    await page.getByRole("button", { name: "Ask it" }).click()
    await page.getByText("Hello.").waitFor()
    assert.deepStrictEqual(await stored(), [])
    await page.getByRole("button", { name: "Save and add to combo “best”" }).click()
    await page.getByRole("heading", { name: "groq / team B", level: 1 }).waitFor()
    assert.deepInclude((await stored())[0], { provider: "groq", name: "team B" })
    const targets = async () =>
      (
        await manage<{ combo: { targets: ReadonlyArray<{ model: string }> } }>("GET", `/api/combos/${combo.id}`)
      ).combo.targets.map(({ model }) => model)
    assert.deepStrictEqual(await targets(), ["openai/gpt-4o", "groq/gpt-4o-mini"])
    await page.getByRole("button", { name: "Undo" }).click()
    await page.waitForFunction(() => document.querySelectorAll(".toast").length === 0)
    assert.deepStrictEqual(await targets(), ["openai/gpt-4o"])
  })

  it("says why a key is not accepted, in the provider's words, and that what was typed has changed", async () => {
    const page = await enter("providers/add/mistral")
    await page.getByLabel(/^Key for/).fill("wrong-key-of-nobody")
    await page.getByText("Address, proxy, and more").click()
    await page.getByLabel("Address").fill("http://127.0.0.1:9/v1")
    await page.getByRole("button", { name: "Check" }).click()
    await page.getByText("not reachable").waitFor()
    await page.getByText(/^not accepted:/).waitFor()
    await page.getByLabel("Address").fill("http://169.254.169.254/v1")
    await page.getByText("What you typed has changed since. Check again.").waitFor()
    await page.getByRole("button", { name: "Check again" }).click()
    await page.getByRole("alert").waitFor()
    await page.goto(page.url().replace("mistral", "nobody-at-all"))
    await page.getByText("No provider is called nobody-at-all.").waitFor()
  })

  it("adds a server of one's own with its account, edits it, and deletes both after the name was typed", async () => {
    const page = await enter("providers/nodes")
    await page.getByText("No server of your own yet.", { exact: false }).waitFor()
    await page.getByRole("link", { name: "Add a server" }).click()
    await page.getByLabel("Prefix").fill("cellar")
    await page.getByLabel("Name").fill("In the cellar")
    await page.getByLabel("Address").fill(upstream().url)
    await page.getByRole("button", { name: "Check" }).click()
    await page.getByText("accepts requests").waitFor()
    assert.deepStrictEqual((await manage<Nodes>("GET", "/api/provider-nodes")).nodes, [])
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await page.getByRole("heading", { level: 1, name: /cellar/i }).waitFor()
    await page.getByRole("link", { name: "All accounts" }).click()
    await page.getByRole("link", { name: "Own servers" }).click()
    await page.getByRole("link", { name: "In the cellar" }).click()
    await page.getByLabel("Name", { exact: true }).fill("In the attic")
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await page.getByRole("heading", { name: "In the attic" }).waitFor()
    assert.deepInclude((await manage<Nodes>("GET", "/api/provider-nodes")).nodes[0], {
      name: "In the attic",
      prefix: "cellar"
    })
    await page.getByRole("button", { name: "Delete" }).click()
    const dialog = page.getByRole("dialog", { name: "Delete In the attic?" })
    assert.isTrue(await dialog.getByRole("button", { name: "Delete" }).isDisabled())
    await dialog.getByLabel(/^Type/).fill("In the attic")
    await dialog.getByRole("button", { name: "Delete" }).click()
    await page.getByText("No server of your own yet.", { exact: false }).waitFor()
    assert.isUndefined((await stored()).find(({ provider }) => provider === "cellar"))
  })

  it("tests an account in its row, turns it off with undo, and filters by state", async () => {
    await ask("groq/gpt-4o-mini")
    const page = await enter("providers")
    const row = page.getByRole("row", { name: /team B/ })
    await row.getByRole("button", { name: "Test" }).click()
    await page.getByText(/groq \/ team B answered/).waitFor()
    await row.getByText("works").waitFor()
    await row.getByRole("button", { name: "Turn off" }).click()
    await row.getByText("turned off").waitFor()
    assert.strictEqual((await named("team B"))?.isActive, false)
    await page.getByRole("link", { name: "Off 1" }).click()
    await page.getByText("1 account", { exact: true }).waitFor()
    await page.getByRole("link", { name: /^Usable/ }).click()
    await page.getByText("No account fits.").waitFor()
    await page.getByRole("link", { name: /^All/ }).first().click()
    await page.getByRole("button", { name: "Undo" }).click()
    await row.getByRole("button", { name: "Turn off" }).waitFor()
    assert.strictEqual((await named("team B"))?.isActive, true)
  })

  it("shows an account: why it cannot be used and lets it go on; its requests, quotas, models, price and way out", async () => {
    const account = await add({
      provider: "openai",
      name: hostile,
      apiKey: "sk-abcdefghijklmnopqrstuvwx1",
      quotas: [{ window: "daily", unit: "requests", limit: 100 }]
    })
    await manage("POST", "/api/v1/management/proxies", { name: "berlin", type: "http", host: "127.0.0.1", port: 9 })
    // A name for people that the operator has given.
    await manage("POST", "/api/provider-models", { provider: "openai", modelId: "gpt-4o", name: `GPT-4o ${hostile}` })
    upstream().answers.set("gpt-4o", failing(402, `You have run out of credits. ${hostile}`))
    await ask("openai/gpt-4o")
    const page = await enter(`providers/${account.id}`)
    const state = page.getByRole("region", { name: "State" })
    await state.getByText("Its credits are used up.", { exact: false }).waitFor()
    await state.getByText("run out of credits", { exact: false }).waitFor()
    await state
      .getByRole("button", { name: /^Let go on/ })
      .first()
      .click()
    await state
      .getByText("Requests may use it.", { exact: false })
      .or(state.getByText("Nobody has used it yet", { exact: false }))
      .first()
      .waitFor()
    assert.match(
      decodeURIComponent((await page.getByRole("link", { name: "Its requests" }).getAttribute("href")) ?? ""),
      new RegExp(`requests\\?q=account:${account.id}$`)
    )
    await page.getByRole("region", { name: "Quotas" }).first().getByText("100 requests").waitFor()
    const models = page.getByRole("region", { name: "Models" }).first()
    await models.getByRole("button", { name: "Ask for the list again" }).click()
    await page.getByText("The provider lists 2 models.").waitFor()
    await models.getByText("openai/gpt-4o-mini").waitFor()
    await models.getByText(`GPT-4o ${hostile}`).waitFor()
    await models.getByRole("button", { name: "Change price: openai/gpt-4o-mini" }).click()
    const price = page.getByRole("dialog", { name: "Price of openai/gpt-4o-mini" })
    await price.getByLabel(/of the prompt$/).fill("0.5")
    await price.getByLabel(/of the answer$/).fill("2")
    await price.getByRole("button", { name: "Save" }).click()
    await models.getByText("$0.5 in, $2 out").waitFor()
    await page.getByRole("button", { name: "Undo" }).last().click()
    await models.getByText("$0.5 in, $2 out").waitFor({ state: "detached" })
    await page.getByLabel("Proxy").selectOption({ label: "berlin" })
    await page.getByText("The way out is changed.").waitFor()
    assert.strictEqual(await page.locator("main script").count(), 0)
    // So that later tests leave by the usual way.
    await page.getByLabel("Proxy").selectOption({ label: "None of its own" })
    await page.waitForFunction(() => document.querySelector<HTMLSelectElement>("#account-proxy")?.value === "")
  })

  it("edits over the version that was seen, keeps the key, and merges with another editor", async () => {
    const account = await add({ provider: "openai", name: "shared", apiKey: "sk-abcdefghijklmnopqrstuvwx2" })
    const page = await enter(`providers/${account.id}`)
    await page.getByRole("link", { name: "Edit", exact: true }).click()
    await page.getByLabel("Name", { exact: true }).fill("mine")
    await manage("PUT", `/api/providers/${account.id}`, { name: "theirs", priority: 7 })
    await page.getByRole("button", { name: "Save", exact: true }).click()
    const merge = page.getByRole("dialog", { name: /shared|mine|theirs/ })
    await merge.getByLabel("name: mine").or(merge.getByRole("radio").first()).first().check()
    await merge.getByRole("button", { name: /^Save/ }).click()
    await page.getByRole("heading", { level: 1, name: /mine/ }).waitFor()
    const after = await named("mine")
    assert.strictEqual(after?.priority, 7)
    const { connection } = await manage<{ connection: { apiKey: string } }>("GET", `/api/providers/${account.id}`)
    assert.isNotNull(connection.apiKey)
    await page.getByRole("button", { name: "Delete" }).click()
    const dialog = page.getByRole("dialog", { name: /^Delete/ })
    await dialog.getByLabel(/^Type/).fill("mine")
    await dialog.getByRole("button", { name: "Delete" }).click()
    await page.waitForURL(/providers$/)
    assert.isUndefined(await named("mine"))
  })

  it("says of an account that is not there what the gateway says", async () => {
    const page = await enter("providers/nobody")
    await page.getByRole("alert").waitFor()
    await page.getByRole("button", { name: "Try again" }).waitFor()
  })

  it("shows how an account signs in, in a browser", async () => {
    const page = await enter("providers/add/codex")
    await page.getByLabel("OAuth client").fill("my-client")
    await page.getByRole("button", { name: "Sign in", exact: true }).click()
    const link = page.getByRole("link", { name: /Open the provider's page/ })
    assert.match((await link.getAttribute("href")) ?? "", /^https:\/\/auth\.openai\.com\//)
    await page
      .getByLabel("Address of the page at the end")
      .fill("http://localhost:1455/auth/callback?code=x&state=made-up")
    await page.getByRole("button", { name: "Finish" }).click()
    await page.getByRole("alert").waitFor()
    await page.getByRole("button", { name: "Sign in", exact: true }).waitFor()
  })

  it("stays quick with 1,000 accounts: a page at a time, searched and sorted by the API", async () => {
    for (let from = 0; from < 1_000; from += 20) {
      await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          add({
            provider: "groq",
            name: `account ${String(from + at).padStart(4, "0")}`,
            apiKey: `gsk_${String(from + at).padStart(20, "x")}`,
            models: ["gpt-4o-mini"]
          })
        )
      )
    }
    const page = await enter("providers")
    await page.getByRole("link", { name: "Next page" }).waitFor()
    assert.isAtMost(await page.getByRole("row").count(), 52)
    const asked: Array<string> = []
    page.on("request", (request) => {
      if (request.url().includes("/api/")) asked.push(request.url())
    })
    const began = performance.now()
    await page.getByLabel("Search accounts").fill("account 0777")
    await page.getByText("1 account", { exact: true }).waitFor()
    console.log(`filter to rows among 1,000 accounts: ${Math.round(performance.now() - began)} ms`)
    assert.isAtMost(asked.filter((url) => url.includes("/api/providers")).length, 3, asked.join("\n"))
    await page.getByRole("link", { name: "account 0777" }).waitFor()
    await page.getByLabel("Search accounts").fill("")
    await page.getByRole("link", { name: "Account", exact: true }).click()
    await page.getByRole("row", { name: /account 0000/ }).waitFor()
    await page.getByRole("link", { name: "Account", exact: true }).click()
    await page.waitForURL(/sort=-name/)
    await page.getByRole("row", { name: /team B/ }).waitFor()
    await page.getByRole("link", { name: "Next page" }).click()
    await page.getByRole("link", { name: "First page" }).waitFor()
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox").fill("account 0500")
    await page.getByRole("option", { name: /account 0500/ }).click()
    await page.getByRole("heading", { level: 1, name: /account 0500/ }).waitFor()
  }, 240_000)
})
