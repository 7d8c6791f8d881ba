/** The view of providers: a provider is added in four steps, and its account is tested, turned off and on. */
import { assert, beforeAll, describe, it } from "vitest"
import { browserPath, hello, world } from "./world.ts"

interface List {
  readonly connections: ReadonlyArray<{ readonly provider: string; readonly name: string; readonly isActive: boolean }>
}

describe.skipIf(browserPath === null)("the view of providers", () => {
  const { ask, enter, manage, upstream } = world()
  const stored = async () => (await manage<List>("GET", "/api/providers")).connections

  beforeAll(() => {
    upstream().answers.set("gpt-4o-mini", hello("gpt-4o-mini"))
  })

  it("adds one: chosen, its key checked with nothing stored, saved, asked", async () => {
    const page = await enter("providers")
    await page.getByText("No provider is connected yet.").waitFor()
    await page.getByRole("link", { name: "Add a provider" }).click()
    await page.getByLabel("Search providers").fill("groq")
    await page.getByRole("button", { name: /^Groq/ }).first().click()
    assert.match(
      (await page.getByRole("link", { name: /Where do I get one/ }).getAttribute("href")) ?? "",
      /^https:\/\//
    )
    await page.getByLabel(/^Key for/).fill("gsk_abcdefghijklmnopqrstuvwx1")
    await page.getByLabel("Name").fill("team B")
    await page.getByLabel("Address").fill(upstream().url)
    await page.getByRole("button", { name: "Check" }).click()
    await page.getByText(/The key is accepted/).waitFor()
    assert.deepStrictEqual(await stored(), [])
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Groq is connected.").waitFor()
    assert.deepInclude((await stored())[0], { provider: "groq", name: "team B" })
    await page.getByLabel("Model").fill("gpt-4o-mini")
    await page.getByRole("button", { name: "Ask it" }).click()
    await page.getByText("Hello.", { exact: true }).waitFor()
    const { logs } = await manage<{ logs: ReadonlyArray<{ principal: string }> }>("GET", "/api/usage/logs")
    assert.strictEqual(logs[0]?.principal, "session")
  })

  it("says why a key is not accepted, in the provider's words", async () => {
    const page = await enter("providers/add")
    await page.getByLabel("Search providers").fill("mistral")
    await page
      .getByRole("button", { name: /^Mistral/ })
      .first()
      .click()
    await page.getByLabel(/^Key for/).fill("wrong-key-of-nobody")
    await page.getByLabel("Address").fill("http://127.0.0.1:9/v1")
    await page.getByRole("button", { name: "Check" }).click()
    await page.getByText(/The key is not accepted/).waitFor()
  })

  it("tests an account, turns it off and on, and opens its form with its id", async () => {
    await ask("groq/gpt-4o-mini")
    const page = await enter("providers")
    const row = page.getByRole("row", { name: /groq/ })
    await row.getByRole("button", { name: "Test" }).click()
    await page.getByText(/groq \/ team B answered after/).waitFor()
    await row.getByText("works").waitFor()
    await row.getByRole("button", { name: "Turn off" }).click()
    await row.getByText("turned off").waitFor()
    assert.strictEqual((await stored())[0]?.isActive, false)
    await row.getByRole("button", { name: "Turn on" }).click()
    await row.getByRole("button", { name: "Turn off" }).waitFor()
    await row.getByRole("link", { name: "Edit" }).click()
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>("[id='field-?id']")?.value.length === 36)
  })
})
