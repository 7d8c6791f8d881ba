/** The view of keys and money: a key is made, its secret shown once, its budget seen, and it is paused, rotated and deleted. */
import { assert, describe, it } from "vitest"
import { browserPath, world } from "./world.ts"

interface Keys {
  readonly keys: ReadonlyArray<{ readonly id: string; readonly name: string; readonly isActive: boolean }>
}

describe.skipIf(browserPath === null)("the view of keys and money", () => {
  const { enter, gateway, manage, upstream } = world()
  const stored = async () => (await manage<Keys>("GET", "/api/keys")).keys
  const askWith = (secret: string) =>
    fetch(`${gateway().url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "openai/gpt-4o-mini", messages: [{ role: "user", content: "Hello" }] })
    })

  it("makes a key with a budget, shows its secret once, and what was spent of it", async () => {
    await manage("POST", "/api/providers", {
      provider: "openai",
      name: "work",
      apiKey: "sk-abcdefghijklmnopqrstuvwx1",
      baseUrl: upstream().url
    })
    // As the palette opens it.
    const page = await enter("keys?create=1")
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Name").fill("ci")
    await dialog.getByLabel("Most USD a day").fill("0.5")
    await dialog.getByRole("button", { name: "Create a key" }).click()
    await dialog.getByText("Copy it now").waitFor()
    const secret = await dialog.locator("pre").innerText()
    assert.match(secret, /^gw_/)
    await dialog.getByRole("button", { name: "Close" }).click()
    assert.notInclude(await page.content(), secret)
    await page.waitForURL((url) => !url.href.includes("create"))
    assert.strictEqual((await askWith(secret)).status, 200)
    await page.reload()
    const row = page.getByRole("row", { name: /^ci/ })
    await row.getByText("$0.00024").waitFor()
    await row.getByText("of $0.50 a day").waitFor()
    await page.getByText("$0.00024", { exact: true }).first().waitFor()
    await page.getByRole("button", { name: "Create a key" }).click()
    await dialog.getByLabel("Name").waitFor()
    await page.waitForURL(/create=1/)
  })

  it("raises a budget and pauses a key, each with a way back", async () => {
    const { key, secret } = await manage<{ key: { id: string }; secret: string }>("POST", "/api/keys", {
      name: "night"
    })
    await manage("POST", "/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd: 0.0001 })
    assert.strictEqual((await askWith(secret)).status, 429)
    const limit = async () =>
      (await manage<{ budget: { dailyLimitUsd: number } }>("GET", `/api/usage/budget?apiKeyId=${key.id}`)).budget
        .dailyLimitUsd
    const page = await enter("keys")
    const row = page.getByRole("row", { name: /^night/ })
    await row.getByRole("button", { name: "Raise to $0.00015" }).click()
    await page.getByText("night may spend $0.00015 a day now.").waitFor()
    assert.strictEqual(await limit(), 0.00015)
    await row.getByRole("button", { name: "Raise to $0.0002" }).waitFor()
    await page.getByRole("button", { name: "Undo" }).click()
    await page.getByText("night is as it was before.").waitFor()
    assert.strictEqual(await limit(), 0.0001)
    await row.getByRole("button", { name: "Pause" }).click()
    await row.getByText("paused").waitFor()
    assert.strictEqual((await askWith(secret)).status, 401)
    await page.getByRole("button", { name: "Undo" }).click()
    await row.getByText("works").waitFor()
    assert.isTrue((await stored()).find(({ name }) => name === "night")?.isActive)
  })

  it("finds a key by its name, in the address, and has a page for it", async () => {
    const page = await enter("keys")
    await page.getByLabel("Find a key").fill("nigh")
    await page.getByRole("row", { name: /^ci/ }).waitFor({ state: "detached" })
    await page.waitForURL(/q=nigh/)
    await page.getByRole("link", { name: "night" }).click()
    await page.getByRole("heading", { name: /^night/ }).waitFor()
    await page.getByText("What is left of today").first().waitFor()
    await page.getByLabel("Find a key").waitFor({ state: "detached" })
    await page.goBack()
    await page.getByLabel("Find a key").fill("no such key")
    await page.getByText("No key fits.").waitFor()
  })

  it("rotates and deletes a key on its page, asking before what cannot be undone", async () => {
    const { key, secret } = await manage<{ key: { id: string }; secret: string }>("POST", "/api/keys", {
      name: "laptop"
    })
    const page = await enter(`keys/${key.id}/rules`)
    const end = page.getByRole("region", { name: "Secret and end" })
    const dialog = page.getByRole("dialog")
    await end.getByRole("button", { name: "Rotate" }).click()
    await dialog.getByLabel("The present secret works for").selectOption("one more hour")
    await dialog.getByRole("button", { name: "Rotate" }).click()
    await dialog.getByText("Copy it now").waitFor()
    const next = await dialog.locator("pre").innerText()
    await dialog.getByRole("button", { name: "Close" }).click()
    assert.deepStrictEqual([(await askWith(secret)).status, (await askWith(next)).status], [200, 200])
    await end.getByRole("button", { name: "Rotate" }).click()
    await dialog.getByLabel("The present secret works for").selectOption("no longer: it ends at once")
    await dialog.getByRole("button", { name: "Rotate" }).click()
    await dialog.getByText("Copy it now").waitFor()
    await dialog.getByRole("button", { name: "Close" }).click()
    assert.deepStrictEqual([(await askWith(secret)).status, (await askWith(next)).status], [401, 401])
    await end.getByRole("button", { name: "Delete" }).click()
    assert.isTrue(await dialog.getByRole("button", { name: "Delete" }).isDisabled())
    await dialog.getByLabel("Type").fill("laptop")
    await dialog.getByRole("button", { name: "Delete" }).click()
    await page.getByText("laptop is deleted.").waitFor()
    assert.isFalse((await stored()).some(({ name }) => name === "laptop"))
  })
})
