/** The view of routing: where a model goes, combos with their trial, aliases, fallbacks, quota groups and settings. */
import { assert, beforeAll, describe, it } from "vitest"
import type { Page } from "playwright-core"
import { browserPath, world } from "./world.ts"

interface Combo {
  readonly id: string
  readonly name: string
  readonly strategy: string
  readonly isActive: boolean
  readonly config: Readonly<Record<string, unknown>>
  readonly targets: ReadonlyArray<{ readonly model: string; readonly weight?: number; readonly connectionId?: string }>
}

describe.skipIf(browserPath === null)("the view of routing", () => {
  const { enter, manage, upstream } = world()
  let work = ""
  const comboCalled = async (name: string): Promise<Combo | undefined> =>
    (await manage<{ combos: ReadonlyArray<Combo> }>("GET", "/api/combos")).combos.find((combo) => combo.name === name)

  beforeAll(async () => {
    const account = { apiKey: "sk-abcdefghijklmnopqrstuvwx1", baseUrl: upstream().url }
    const { connection } = await manage<{ connection: { id: string } }>("POST", "/api/providers", {
      provider: "openai",
      name: "work",
      models: ["gpt-4o", "gpt-4o-mini"],
      ...account
    })
    work = connection.id
    await manage("POST", "/api/providers", { provider: "groq", name: "team B", models: ["gpt-4o-mini"], ...account })
  })

  const modelsOf = (page: Page): Promise<ReadonlyArray<string>> =>
    page
      .getByLabel(/^Model of target/)
      .evaluateAll((inputs) => inputs.map((input) => (input as HTMLInputElement).value))

  it("is empty with what to do next, and explains where a model goes, for a key", async () => {
    const { key } = await manage<{ key: { id: string } }>("POST", "/api/keys", {
      name: "small <b>"
    })
    const page = await enter()
    await page.keyboard.press("g")
    await page.keyboard.press("c")
    await page.getByRole("heading", { name: "Routing", level: 1 }).waitFor()
    await page.getByText("No combo yet.").waitFor()
    const explain = page.getByRole("region", { name: "Where will it go?" })
    await explain.getByLabel("Where will").fill("openai/gpt-4o")
    await explain.getByRole("button", { name: "Explain" }).click()
    await explain.getByText("First: openai/gpt-4o").waitFor()
    await page.waitForURL((url) => url.href.includes("model=openai%2Fgpt-4o"))
    await explain.getByLabel("go, as").selectOption({ label: "small <b>" })
    await explain.getByRole("button", { name: "Explain" }).click()
    await page.waitForURL(new RegExp(`as=${key.id}`))
    await explain.getByText("As this key: what its rules leave out").waitFor()
    await explain.getByLabel("Where will").fill("nobody/serves-this")
    await explain.getByRole("button", { name: "Explain" }).click()
    await explain.getByRole("alert").waitFor()
  })

  it("makes a combo: strategy, targets, weights and settings", async () => {
    const page = await enter("routing")
    await page.getByRole("link", { name: "Create a combo" }).click()
    await page.getByRole("heading", { name: "New combo" }).waitFor()
    await page.getByLabel("Name", { exact: true }).fill("best")
    await page.getByText("Choose another strategy").click()
    assert.strictEqual(await page.getByRole("radio").count(), 17)
    await page.getByRole("radio", { name: /^weighted/ }).check()
    for (const [place, model] of ["openai/gpt-4o", "groq/gpt-4o-mini"].entries()) {
      await page.getByRole("button", { name: "Add a target" }).click()
      await page.getByLabel(`Model of target ${place + 1}`).fill(model)
    }
    await page.getByLabel("Weight of target 1").fill("3")
    await page.getByText("75%").waitFor()
    await page.getByLabel("Account of target 1").selectOption({ label: "work" })
    await page.getByLabel(/Sticky weighted limit/).fill("2")
    await page.getByRole("button", { name: "Create the combo" }).click()
    await page.waitForURL(/routing\/combo\//)
    const combo = await comboCalled("best")
    assert.strictEqual(combo?.strategy, "weighted")
    assert.deepStrictEqual(combo?.config, { stickyWeightedLimit: 2 })
    assert.deepStrictEqual(combo?.targets, [
      { model: "openai/gpt-4o", weight: 3, connectionId: work },
      { model: "groq/gpt-4o-mini" }
    ])
  })

  it("orders targets by dragging, by buttons and by keys, keeps the focus, and keeps settings that it does not know", async () => {
    const targets = ["openai/gpt-4o", "openai/gpt-4o-mini", "groq/gpt-4o-mini"].map((model) => ({ model }))
    const { combo } = await manage<{ combo: Combo }>("POST", "/api/combos", {
      name: "ordered",
      targets,
      config: { ownNote: "kept", maxRetries: 1 }
    })
    const page = await enter(`routing/combo/${combo.id}`)
    const row = (place: number) => page.getByRole("listitem", { name: `Target ${place}` })
    await row(1).locator(".handle").dragTo(row(3))
    assert.deepStrictEqual(await modelsOf(page), ["openai/gpt-4o-mini", "groq/gpt-4o-mini", "openai/gpt-4o"])
    await page.getByRole("button", { name: "Move target 3 up" }).press("Enter")
    assert.deepStrictEqual(await modelsOf(page), ["openai/gpt-4o-mini", "openai/gpt-4o", "groq/gpt-4o-mini"])
    assert.strictEqual(
      await page.evaluate(() => document.activeElement?.getAttribute("aria-label")),
      "Move target 2 up"
    )
    await page.getByLabel("Model of target 2").press("Alt+ArrowUp")
    await page.getByText("openai/gpt-4o is 1 of 3 now").waitFor()
    assert.deepStrictEqual(await modelsOf(page), ["openai/gpt-4o", "openai/gpt-4o-mini", "groq/gpt-4o-mini"])
    await page.getByRole("button", { name: "Remove target 2" }).click()
    await page.getByLabel(/^Max retries/).fill("")
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await page.getByText("ordered is saved.").waitFor()
    const saved = await comboCalled("ordered")
    assert.deepStrictEqual(
      saved?.targets.map(({ model }) => model),
      ["openai/gpt-4o", "groq/gpt-4o-mini"]
    )
    assert.deepStrictEqual(saved?.config, { ownNote: "kept" })
  })

  it("shows what a change would do, before it is saved, beside what is stored", async () => {
    const { combo } = await manage<{ combo: Combo }>("POST", "/api/combos", {
      name: "tried",
      targets: [{ model: "openai/gpt-4o" }, { model: "groq/gpt-4o-mini" }]
    })
    const page = await enter(`routing/combo/${combo.id}`)
    await page.getByRole("button", { name: "Move target 1 down" }).click()
    const now = page.getByRole("region", { name: "The decision now" })
    await now.getByRole("row", { name: "1 groq/gpt-4o-mini openai/gpt-4o" }).waitFor()
    const simulation = page.getByRole("region", { name: "A simulation with faults" })
    await simulation.getByRole("button", { name: "Add a fault" }).click()
    await simulation.getByLabel("Fault 1", { exact: true }).selectOption("503")
    await simulation.getByLabel("Target of fault 1").selectOption("groq/gpt-4o-mini")
    await simulation.getByLabel("Percent of calls of fault 1").fill("100")
    const other = simulation.getByRole("row", { name: /^by another than the first/ })
    await simulation.getByRole("row", { name: /^served 1,000 1,000 / }).waitFor()
    await page.waitForFunction(
      (text) => Number(text?.textContent?.replaceAll(/\D/g, "")) > 0,
      await other.getByRole("cell").first().elementHandle()
    )
    // What is stored calls another first, which has no fault.
    assert.match(await other.innerText(), /\s0\s/)
    assert.deepStrictEqual(
      (await comboCalled("tried"))?.targets.map(({ model }) => model),
      ["openai/gpt-4o", "groq/gpt-4o-mini"],
      "nothing is stored"
    )
  })

  it("keeps an edit while other views are looked at", async () => {
    const combo = await comboCalled("tried")
    const page = await enter(`routing/combo/${combo?.id ?? ""}`)
    await page.getByLabel("Label of target 1").fill("mine")
    await page.getByRole("link", { name: "All combos" }).click()
    await page.getByRole("link", { name: "tried" }).click()
    await page.getByText("not saved").waitFor()
    assert.strictEqual(await page.getByLabel("Label of target 1").inputValue(), "mine")
    await page.getByRole("button", { name: "Discard changes" }).click()
    assert.strictEqual(await page.getByLabel("Label of target 1").inputValue(), "")
  })

  it("clones a combo, and deletes one when its name was typed", async () => {
    const page = await enter("routing")
    const row = page.getByRole("row", { name: /^tried/ })
    await row.getByRole("link", { name: "Clone" }).click()
    await page.getByRole("button", { name: "Create the combo" }).click()
    await page.getByRole("heading", { name: "tried copy" }).waitFor()
    assert.lengthOf((await comboCalled("tried copy"))?.targets ?? [], 2)
    await page.getByRole("button", { name: "Delete" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel(/to go on/).fill("tried copy")
    await dialog.getByRole("button", { name: "Delete" }).click()
    await page.waitForURL(/routing$/)
    assert.isUndefined(await comboCalled("tried copy"))
  })

  it("says in the API's words why a combo cannot be saved", async () => {
    const page = await enter("routing/new")
    await page.getByLabel("Name", { exact: true }).fill("openai/gpt-4o")
    await page.getByRole("button", { name: "Create the combo" }).click()
    await page.locator("form.combo").getByRole("alert").first().waitFor()
    assert.isUndefined(await comboCalled("openai/gpt-4o"))
  })

  it("lists the automatic ids with what each prefers", async () => {
    const page = await enter("routing/auto")
    const row = page.getByRole("row", { name: /^auto\/fast / })
    await row.getByText("Speed first.").waitFor()
    await row.getByRole("link", { name: "Where will it go?" }).click()
    await page.getByText(/^First: /).waitFor()
  })

  it("adds, changes and removes an alias, and brings it back", async () => {
    const page = await enter("routing/aliases")
    await page.getByText("No alias yet.").waitFor()
    await page.getByLabel("Alias", { exact: true }).fill(`my <img src=x onerror="alert(1)">`)
    await page.getByLabel("Stands for", { exact: true }).fill("openai/gpt-4o")
    await page.getByRole("button", { name: "Add", exact: true }).click()
    const row = page.getByRole("row", { name: /^my <img/ })
    await row.getByRole("textbox").or(row.getByRole("combobox")).fill("groq/gpt-4o-mini")
    await row.getByRole("button", { name: "Save" }).click()
    await page
      .getByText(/^The alias my .* is saved\.$/)
      .first()
      .waitFor()
    await row.getByRole("button", { name: /^Remove the alias/ }).click()
    await row.waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Undo" }).click()
    await row.waitFor()
    const { aliases } = await manage<{ aliases: ReadonlyArray<object> }>("GET", "/api/models/alias")
    assert.deepStrictEqual(aliases, [{ alias: `my <img src=x onerror="alert(1)">`, model: "groq/gpt-4o-mini" }])
  })

  it("keeps fallbacks, and the model for what agents ask in the background", async () => {
    const page = await enter("routing/fallbacks")
    await page.getByRole("button", { name: "Add a fallback" }).click()
    await page.getByLabel("Pattern 1", { exact: true }).fill("claude-haiku-*")
    await page.getByText("Both are needed.").waitFor()
    await page.getByLabel("Model instead of pattern 1").fill("groq/gpt-4o-mini")
    await page.getByLabel("What agents ask in the background").fill("openai/gpt-4o-mini")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Saved: the fallbacks.").waitFor()
    const settings = await manage<Record<string, unknown>>("GET", "/api/settings")
    assert.deepStrictEqual(settings["modelFallbacks"], { "claude-haiku-*": "groq/gpt-4o-mini" })
    assert.strictEqual(settings["backgroundModel"], "openai/gpt-4o-mini")
  })

  it("makes a quota group and shows who gets what share", async () => {
    await manage("POST", "/api/keys", { name: "laptop" })
    const page = await enter("routing/groups")
    await page.getByText("No quota group yet.").waitFor()
    await page.getByRole("link", { name: "Create a quota group" }).click()
    await page.getByLabel("Name", { exact: true }).fill("team")
    await page.getByRole("button", { name: "Add a connection" }).click()
    await page.getByLabel("Connection 1", { exact: true }).selectOption({ label: "openai / work" })
    await page.getByRole("button", { name: "Add a key" }).click()
    await page.getByLabel("Key 1", { exact: true }).selectOption({ label: "laptop" })
    await page.getByRole("button", { name: "Add a key" }).click()
    await page.getByLabel("Key 2", { exact: true }).selectOption({ label: "small <b>" })
    await page.getByLabel("Weight of key 1").fill("3")
    await page.getByRole("button", { name: "Create the group" }).click()
    const card = page.getByRole("region", { name: "team" })
    await card.getByText("75%").waitFor()
    await card.getByRole("link", { name: "team" }).click()
    await page.getByRole("button", { name: "Delete" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel(/to go on/).fill("team")
    await dialog.getByRole("button", { name: "Delete" }).click()
    await page.getByText("No quota group yet.").waitFor()
  })

  it("shows the resilience settings, those of local servers read-only with the reason", async () => {
    const page = await enter("routing/resilience")
    const local = page.getByRole("group", { name: /^Local/ })
    await local.getByText("read only").waitFor()
    await local.getByText(/are not edited on this page/).waitFor()
    assert.isTrue(await local.getByLabel("Failure threshold").isDisabled())
    const oauth = page.getByRole("group", { name: /^Oauth/ }).first()
    await oauth.getByLabel("Failure threshold").fill("9")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Saved: the resilience settings.").waitFor()
    const { providerBreaker } = await manage<{ providerBreaker: Record<string, Record<string, number>> }>(
      "GET",
      "/api/resilience"
    )
    assert.strictEqual(providerBreaker["oauth"]?.["failureThreshold"], 9)
    assert.deepStrictEqual(providerBreaker["local"], {
      degradationThreshold: 2,
      failureThreshold: 2,
      resetTimeoutMs: 15_000
    })
  })
})
