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
    const page = await enter("keys")
    await page.getByRole("button", { name: "Create a key" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Name").fill("ci")
    await dialog.getByLabel("Most USD a day").fill("0.5")
    await dialog.getByRole("button", { name: "Create a key" }).click()
    await dialog.getByText("Copy it now").waitFor()
    const secret = await dialog.locator("pre").innerText()
    assert.match(secret, /^gw_/)
    await dialog.getByRole("button", { name: "Close" }).click()
    assert.notInclude(await page.content(), secret)
    assert.strictEqual((await askWith(secret)).status, 200)
    await page.reload()
    const row = page.getByRole("row", { name: /^ci/ })
    await row.getByText("$0.00024").waitFor()
    await row.getByText("$0.50 a day").waitFor()
    await row.getByText("within the limit").waitFor()
    await page.getByText(/\$0\.00024 this month/).waitFor()
  })

  it("pauses, rotates and deletes a key, asking before what cannot be undone", async () => {
    const { secret } = await manage<{ secret: string }>("POST", "/api/keys", { name: "laptop" })
    const page = await enter("keys")
    const row = page.getByRole("row", { name: /^laptop/ })
    await row.getByRole("button", { name: "Pause" }).click()
    await row.getByText("paused").waitFor()
    assert.strictEqual((await askWith(secret)).status, 401)
    await row.getByRole("button", { name: "Resume" }).click()
    await row.getByText("works").waitFor()
    await row.getByRole("button", { name: "Rotate" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByRole("button", { name: "Rotate" }).click()
    await dialog.getByText("Copy it now").waitFor()
    const next = await dialog.locator("pre").innerText()
    await dialog.getByRole("button", { name: "Close" }).click()
    assert.deepStrictEqual([(await askWith(secret)).status, (await askWith(next)).status], [401, 200])
    await row.getByRole("button", { name: "Delete" }).click()
    await dialog.getByRole("button", { name: "Cancel" }).click()
    await row.getByRole("button", { name: "Delete" }).click()
    await dialog.getByRole("button", { name: "Delete" }).click()
    await row.waitFor({ state: "detached" })
    assert.isFalse((await stored()).some(({ name }) => name === "laptop"))
  })
})
