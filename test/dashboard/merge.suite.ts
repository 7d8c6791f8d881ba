/** Two editors of one object, in two browsers: the second is shown both versions, chooses, and nothing is silently overwritten. */
import { assert, beforeAll, describe, it } from "vitest"
import type { Page } from "playwright-core"
import { browserPath, world } from "./world.ts"

interface Combo {
  readonly id: string
  readonly strategy: string
  readonly isActive: boolean
  readonly config: Readonly<Record<string, unknown>>
  readonly targets: ReadonlyArray<{ readonly model: string; readonly label?: string }>
}

describe.skipIf(browserPath === null)("two editors", () => {
  const { enter, manage, upstream } = world({}, { sessions: "own" })
  beforeAll(async () => {
    await manage("POST", "/api/providers", {
      provider: "openai",
      name: "work",
      models: ["gpt-4o", "gpt-4o-mini"],
      apiKey: "sk-abcdefghijklmnopqrstuvwx1",
      baseUrl: upstream().url
    })
  })

  const choose = async (page: Page, strategy: string): Promise<void> => {
    await page.getByText("Choose another strategy").click()
    await page.getByRole("radio", { name: new RegExp(`^${strategy} `) }).check()
  }

  it("of a combo: the second merges field by field", async () => {
    const { combo } = await manage<{ combo: Combo }>("POST", "/api/combos", {
      id: "shared",
      name: "shared",
      targets: [{ model: "openai/gpt-4o" }, { model: "openai/gpt-4o-mini" }],
      config: { maxRetries: 1 }
    })
    const [first, second] = await Promise.all([enter(`routing/combo/${combo.id}`), enter(`routing/combo/${combo.id}`)])
    const stored = async (): Promise<Combo> => (await manage<{ combo: Combo }>("GET", "/api/combos/shared")).combo
    await choose(second, "lkgp")
    await second.getByLabel("Label of target 1").fill("mine")

    await choose(first, "random")
    await first.getByLabel("Requests may use it").uncheck()
    await first.getByRole("button", { name: "Save", exact: true }).click()
    await first.getByText("Saved: shared.").or(first.getByText("shared is saved.")).waitFor()

    // Told by the feed while the second still types; what was typed stays.
    await second.getByText("It was changed by somebody else since you opened it.").waitFor()
    assert.strictEqual(await second.getByLabel("Label of target 1").inputValue(), "mine")
    await second.getByRole("button", { name: "Save", exact: true }).click()
    const dialog = second.getByRole("dialog")
    await dialog.getByText("1 field needs your choice").waitFor()
    const save = dialog.getByRole("button", { name: "Save this" })
    assert.isTrue(await save.isDisabled())
    assert.strictEqual((await stored()).strategy, "random", "nothing is overwritten before the choice")
    assert.isTrue(await dialog.getByLabel("isActive: Stored now").isChecked())
    assert.isTrue(await dialog.getByLabel("targets: Yours").isChecked())
    await dialog.getByLabel("strategy: Yours").check()

    // While the second chooses, the first saves once more.
    await first.getByLabel("Requests may use it").check()
    await first.getByLabel("Label of target 2").fill("theirs")
    await first.getByRole("button", { name: "Save", exact: true }).click()
    await first.waitForFunction(() => !document.body.textContent?.includes("not saved"))
    // Saving asks once more.
    await save.click()
    await dialog.getByText("1 field needs your choice").waitFor()
    await dialog.getByLabel("targets: Yours").check()
    await dialog.getByText("Every field is chosen.").waitFor()
    assert.notInclude(JSON.stringify((await stored()).targets), "mine", "it asks once more")
    await save.click()
    await second.getByText(/shared is saved\.|Saved: shared\./).waitFor()
    const { config, isActive, strategy, targets } = await stored()
    assert.deepStrictEqual(
      { strategy, isActive, config, labels: targets.map(({ label }) => label) },
      { strategy: "lkgp", isActive: true, config: { maxRetries: 1 }, labels: ["mine", undefined] }
    )
  })

  it("of an alias: only a change of the same alias is a conflict", async () => {
    for (const alias of ["one", "two"]) await manage("POST", "/api/models/alias", { alias, model: "openai/gpt-4o" })
    const [first, second] = await Promise.all([enter("routing/aliases"), enter("routing/aliases")])
    const edit = async (page: Page, alias: string, model: string): Promise<void> => {
      await page.getByLabel(`Model of ${alias}`).fill(model)
    }
    const save = (page: Page, alias: string) =>
      page
        .getByRole("row", { name: new RegExp(`^${alias}`) })
        .getByRole("button", { name: "Save" })
        .click()
    await edit(first, "one", "auto/fast")
    await edit(second, "one", "auto/cheap")
    await edit(second, "two", "auto")
    await save(first, "one")
    await first.getByText("The alias one is saved.").waitFor()
    await save(second, "two")
    await second.getByText("The alias two is saved.").waitFor()
    await save(second, "one")
    const dialog = second.getByRole("dialog")
    await dialog.getByText("auto/fast").waitFor()
    const { aliases } = await manage<{ aliases: ReadonlyArray<object> }>("GET", "/api/models/alias")
    assert.deepStrictEqual(aliases, [
      { alias: "one", model: "auto/fast" },
      { alias: "two", model: "auto" }
    ])
    await dialog.getByLabel("model: Stored now").check()
    await dialog.getByRole("button", { name: "Save this" }).click()
    await second.getByText("The alias one is saved.").waitFor()
    assert.strictEqual(await second.getByLabel("Model of one").inputValue(), "auto/fast")
  })

  it("of the fallbacks: each pattern is a field of its own", async () => {
    await manage("PATCH", "/api/settings", { modelFallbacks: { "gpt-3*": "openai/gpt-4o" } })
    const [first, second] = await Promise.all([enter("routing/fallbacks"), enter("routing/fallbacks")])
    for (const [page, pattern] of [
      [first, "mine-*"],
      [second, "yours-*"]
    ] as const) {
      await page.getByRole("button", { name: "Add a fallback" }).click()
      await page.getByLabel("Pattern 2", { exact: true }).fill(pattern)
      await page.getByLabel("Model instead of pattern 2").fill("auto")
    }
    // Another setting is no conflict of these.
    await manage("PATCH", "/api/settings", { usage: { retentionDays: 91 } })
    await first.getByRole("button", { name: "Save" }).click()
    await first.getByText("Saved: the fallbacks.").waitFor()
    await second.getByRole("button", { name: "Save" }).click()
    const dialog = second.getByRole("dialog")
    await dialog.getByText("Every field is chosen.").waitFor()
    await dialog.getByRole("button", { name: "Save this" }).click()
    await second.getByText("Saved: the fallbacks.").waitFor()
    const settings = await manage<{ modelFallbacks: object; usage: { retentionDays: number } }>("GET", "/api/settings")
    assert.deepStrictEqual(settings.modelFallbacks, {
      "gpt-3*": "openai/gpt-4o",
      "mine-*": "auto",
      "yours-*": "auto"
    })
    assert.strictEqual(settings.usage.retentionDays, 91)
  })

  it("of the resilience settings: what only one has changed is chosen already", async () => {
    const [first, second] = await Promise.all([enter("routing/resilience"), enter("routing/resilience")])
    const field = (page: Page, group: string, name: string) =>
      page
        .getByRole("group", { name: new RegExp(`^${group}`) })
        .first()
        .getByLabel(name)
    await field(first, "Retry", "Max retries").fill("2")
    await field(second, "Retry", "Max retries").fill("3")
    await field(second, "Hedging", "Delay").fill("1500")
    await field(first, "Timeouts", "Total").fill("500000")
    await first.getByRole("button", { name: "Save" }).click()
    await first.getByText("Saved: the resilience settings.").waitFor()
    await second.getByRole("button", { name: "Save" }).click()
    const dialog = second.getByRole("dialog")
    await dialog.getByText("1 field needs your choice").waitFor()
    await dialog.getByLabel("retry.maxRetries: Yours").check()
    await dialog.getByRole("button", { name: "Save this" }).click()
    await second.getByText("Saved: the resilience settings.").waitFor()
    const { hedging, retry, timeouts } = await manage<Record<string, Record<string, number>>>("GET", "/api/resilience")
    assert.deepStrictEqual([retry?.["maxRetries"], hedging?.["delayMs"], timeouts?.["totalMs"]], [3, 1_500, 500_000])
  })

  it("of a token limit: what another has changed is told, and stays", async () => {
    const { key } = await manage<{ readonly key: { readonly id: string } }>("POST", "/api/keys", { name: "limited" })
    const limits = "/api/usage/token-limits"
    const put = (tokenLimit: number) =>
      manage("POST", limits, { apiKeyId: key.id, scopeType: "global", resetInterval: "daily", tokenLimit })
    await put(1_000)
    const shown = await manage<object>("GET", `${limits}?apiKeyId=${key.id}`)
    const page = await enter(`keys/${key.id}/limits`)
    // The page has not heard of the change yet.
    await page.route(/token-limits\?apiKeyId/, (route) => route.fulfill({ json: shown }))
    const row = page
      .getByRole("region", { name: "Token limits" })
      .getByRole("row", { name: /^everything/ })
      .first()
    await row.waitFor()
    await put(5_000)
    await row.getByRole("button", { name: "Remove" }).click()
    await page.getByText("It was changed by somebody else since you opened it.").waitFor()
    const stored = await manage<{ readonly limits: ReadonlyArray<{ readonly tokenLimit: number }> }>(
      "GET",
      `${limits}?apiKeyId=${key.id}`
    )
    assert.deepStrictEqual(
      stored.limits.map(({ tokenLimit }) => tokenLimit),
      [5_000]
    )
  })
})
