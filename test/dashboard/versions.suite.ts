/** The form of any operation over an object that another has changed meanwhile: both are shown, and nothing is overwritten unseen. */
import { assert, describe, it } from "vitest"
import type { Page } from "playwright-core"
import { browserPath, world } from "./world.ts"

interface Key {
  readonly key: {
    readonly id: string
    readonly name: string
    readonly maxSessions: number | null
    readonly noLog: boolean
  }
}

describe.skipIf(browserPath === null)("two editors of one object by the forms of operations", () => {
  const { enter, manage } = world()
  const make = async (name: string) => (await manage<Key>("POST", "/api/keys", { name, maxSessions: 1 })).key
  const stored = async (id: string) => (await manage<Key>("GET", `/api/keys/${id}`)).key

  it("the second chooses where both have changed a field, and keeps what only the first has", async () => {
    const { id } = await make("shared")
    const at = `system/keysPatch?id=${id}`
    const [first, second] = await Promise.all([enter(at), enter(at)])
    for (const page of [first, second]) await page.getByText("What is stored now").waitFor()
    await second.getByLabel("Requests at the same time", { exact: true }).fill("9")
    await first.getByLabel("Requests at the same time", { exact: true }).fill("5")
    await first.getByLabel("Max requests per day", { exact: true }).fill("100")
    await first.getByRole("button", { name: "Change a part of an API key" }).click()
    await first.getByText("The answer: 200").waitFor()
    await second.getByRole("button", { name: "Change a part of an API key" }).click()
    const dialog = second.getByRole("dialog")
    await dialog.getByText("1 field needs your choice").waitFor()
    assert.strictEqual((await stored(id)).maxSessions, 5, "nothing is overwritten before the choice")
    await dialog.getByLabel("maxSessions: Yours").check()
    await dialog.getByRole("button", { name: "Save this" }).click()
    await second.getByText("The answer: 200").waitFor()
    assert.deepInclude(await stored(id), { maxSessions: 9, maxRequestsPerDay: 100 } as object)

    // Over the version that it has made itself it is sent at once.
    await second.getByLabel("Requests at the same time", { exact: true }).fill("8")
    await second.getByRole("button", { name: "Change a part of an API key" }).click()
    // What is stored is shown as well, in a part that is closed.
    await second.locator("code:visible", { hasText: '"maxSessions": 8' }).first().waitFor()
    assert.strictEqual((await stored(id)).maxSessions, 8)
  })

  it("a deletion of what was changed meanwhile is asked for again", async () => {
    const { id } = await make("old")
    const page = await enter(`system/keysRemove?id=${id}`)
    await page.getByText("What is stored now").waitFor()
    await manage("PATCH", `/api/keys/${id}`, { name: "still needed" })
    const remove = async (): Promise<void> => {
      await page.getByRole("button", { name: "Delete an API key" }).first().click()
      await page.getByRole("dialog").getByRole("button", { name: "Delete an API key" }).click()
    }
    await remove()
    await page.getByText(/Somebody else has changed it/).waitFor()
    assert.strictEqual((await stored(id)).name, "still needed")
    await page.getByText("What is stored now", { exact: true }).click()
    await page.getByText('"name": "still needed"').waitFor()
    await remove()
    await page.getByText("Done. The answer is empty.").waitFor()
    const { keys } = await manage<{ keys: ReadonlyArray<{ id: string }> }>("GET", "/api/keys")
    assert.isFalse(keys.some((key) => key.id === id))
  })

  it("a filled form sends its change again where only others were changed, and merges where it is the same", async () => {
    const [first, second] = await Promise.all([enter("system/memory"), enter("system/memory")])
    const formOf = (page: Page) => page.getByRole("region", { name: "Settings" }).locator("form")
    const save = (page: Page) => formOf(page).getByRole("button", { name: "Save", exact: true }).click()
    type Memory = { memory: { enabled: boolean; maxTokens: number; retentionDays: number } }
    const memory = async () => (await manage<Memory>("GET", "/api/settings")).memory
    await formOf(first).getByLabel("Max tokens").waitFor()
    await formOf(second).getByLabel("Max tokens").fill("700")
    await formOf(first).getByLabel("Enabled").selectOption("yes")
    await save(first)
    await first.getByText("Saved.").waitFor()
    await save(second)
    await second.getByText("Saved.").waitFor()
    assert.deepInclude(await memory(), { enabled: true, maxTokens: 700 })
    await second.reload()
    await formOf(second).getByLabel("Max tokens").fill("900")
    await first.reload()
    await formOf(first).getByLabel("Max tokens").fill("800")
    await save(first)
    await first.getByText("Saved.").waitFor()
    await save(second)
    const dialog = second.getByRole("dialog")
    await dialog.getByText("1 field needs your choice").waitFor()
    assert.strictEqual((await memory()).maxTokens, 800)
    await dialog.getByLabel("maxTokens: Yours").check()
    await dialog.getByRole("button", { name: "Save this" }).click()
    await second.getByText("Saved.").waitFor()
    assert.strictEqual((await memory()).maxTokens, 900)
  })

  it("a setting by itself is merged, too", async () => {
    await manage("PATCH", "/api/settings", { usage: { retentionDays: 50 } })
    const at = "system/settings?q=usage.retentionDays"
    const [first, second] = await Promise.all([enter(at), enter(at)])
    const open = async (page: Page, days: string): Promise<void> => {
      await page
        .getByRole("button", { name: /^Change: Retention/ })
        .first()
        .click()
      // The button that opens the form has the same label.
      await page
        .locator("form")
        .getByLabel(/Retention/)
        .first()
        .fill(days)
    }
    await open(second, "70")
    await open(first, "60")
    await first.getByRole("button", { name: "Save", exact: true }).click()
    await first.getByText("Saved.").waitFor()
    await second.getByRole("button", { name: "Save", exact: true }).click()
    const dialog = second.getByRole("dialog")
    await dialog.getByText("1 field needs your choice").waitFor()
    await dialog.getByLabel("value: Stored now").check()
    await dialog.getByRole("button", { name: "Save this" }).click()
    await second.getByText("Saved.").waitFor()
    const { usage } = await manage<{ usage: { retentionDays: number } }>("GET", "/api/settings")
    assert.strictEqual(usage.retentionDays, 60)
  })
})
