/** What a change of a combo would do is the same before it is saved as after, over a thousand recorded requests; who stops it, ends it. */
import { assert, beforeAll, describe, it } from "vitest"
import { browserPath, hello, world } from "./world.ts"

const recorded = 1_000
const atOnce = 25

interface Answer {
  readonly replay: { readonly replayed: number; readonly moved: number }
}

interface Combo {
  readonly strategy: string
  readonly config: object
  readonly targets: ReadonlyArray<{ readonly model: string }>
}

describe.skipIf(browserPath === null)("a combo before it is saved", () => {
  const { ask, enter, gateway, manage, upstream } = world()
  beforeAll(async () => {
    const account = { apiKey: "sk-abcdefghijklmnopqrstuvwx1", baseUrl: upstream().url }
    for (const provider of ["openai", "groq", "mistral"]) {
      await manage("POST", "/api/providers", { provider, name: provider, models: ["gpt-4o-mini"], ...account })
    }
    for (const model of ["gpt-4o", "gpt-4o-mini"]) upstream().answers.set(model, hello(model))
    await manage("POST", "/api/combos", {
      id: "best",
      name: "best",
      strategy: "weighted",
      targets: [
        { model: "openai/gpt-4o", weight: 3 },
        { model: "groq/gpt-4o-mini", weight: 2 },
        { model: "mistral/gpt-4o-mini", weight: 1 }
      ]
    })
    for (let done = 0; done < recorded; done += atOnce) {
      const answers = await Promise.all(Array.from({ length: atOnce }, () => ask("best")))
      for (const { status } of answers) assert.strictEqual(status, 200)
    }
  })

  it("shows the same figures of 1,000 recorded requests as when it is saved", async () => {
    const page = await enter("routing")
    const panel = page.getByRole("region", { name: "Recorded requests, decided anew" })
    const shown = async (column: number): Promise<ReadonlyArray<string>> => [
      await panel.getByText(/requests decided anew/).innerText(),
      ...(await panel
        .locator(".figures tbody tr")
        .evaluateAll((rows, place) => rows.map((row) => row.querySelectorAll("td")[place]?.textContent ?? ""), column)),
      ...(await panel.locator("table").nth(1).locator("tbody tr").allInnerTexts())
    ]
    const settled = async (): Promise<void> => {
      await panel.getByRole("button", { name: "Run" }).waitFor()
      await panel.getByText("1,000 requests decided anew").waitFor()
      await panel.locator("[aria-busy=false]").waitFor()
    }
    const replayed = async (body: object): Promise<Answer["replay"]> =>
      (await manage<Answer>("POST", "/api/routing/replay", { ...body, sinceMs: 86_400_000 })).replay
    await page.getByRole("link", { name: "best" }).click()
    await settled()
    const before = await shown(0)
    await page.getByLabel("Weight of target 1").fill("1")
    await page.getByLabel("Weight of target 3").fill("6")
    await panel.getByRole("columnheader", { name: "Stored" }).waitFor()
    await settled()
    const unsaved = await shown(0)
    assert.deepStrictEqual((await shown(1)).slice(0, 4), before.slice(0, 4), "the stored one is as it was")
    assert.notDeepEqual(unsaved, before)
    const { combo } = await manage<{ combo: Combo }>("GET", "/api/combos/best")
    const tried = await replayed({
      combo: {
        id: "best",
        name: "best",
        strategy: combo.strategy,
        config: combo.config,
        targets: combo.targets.map(({ model }, place) => ({ model, weight: [1, 2, 6][place] }))
      }
    })
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await page.getByText("best is saved.").waitFor()
    await panel.getByRole("columnheader", { name: "Stored" }).waitFor({ state: "detached" })
    await settled()
    assert.deepStrictEqual(await shown(0), unsaved)
    const saved = await replayed({ model: "best" })
    assert.strictEqual(saved.replayed, recorded)
    assert.deepStrictEqual(saved, tried)
    assert.include(unsaved[1], String(saved.moved), "the page shows what the API answers")
  })

  it("ends what is stopped: the next one has its turn at once", async () => {
    const page = await enter("routing/combo/best")
    const panel = page.getByRole("region", { name: "A simulation with faults" })
    await panel.getByLabel("Requests").fill("100000")
    await panel.getByLabel("Scenario").selectOption("first-flapping")
    await panel.getByText(/ of 100,000/).waitFor()
    await panel.getByText(/^(?!0 of)[\d,]+ of 100,000/).waitFor()
    await panel.getByRole("button", { name: "Stop" }).click()
    const began = performance.now()
    await manage("POST", "/api/routing/simulate", { model: "best", requests: 1 })
    const byPageMs = performance.now() - began
    await panel.getByText("stopped").waitFor()

    const freeMs: Array<number> = []
    for (let round = 0; round < 5; round++) {
      const leaving = new AbortController()
      const answer = await fetch(`${gateway().url}/api/routing/simulate`, {
        method: "POST",
        headers: {
          accept: "text/event-stream",
          authorization: "Bearer admin-key-of-the-tests-0123456789",
          "content-type": "application/json"
        },
        body: JSON.stringify({ model: "best", requests: 100_000, scenario: "first-flapping" }),
        signal: leaving.signal
      })
      const reader = answer.body?.getReader()
      let told = ""
      while (!/"done":[1-9]/.test(told)) told += new TextDecoder().decode((await reader?.read())?.value)
      leaving.abort()
      const left = performance.now()
      await manage("POST", "/api/routing/simulate", { model: "best", requests: 1 })
      freeMs.push(performance.now() - left)
    }
    console.log(
      `stopped in the page: the next simulation after ${byPageMs.toFixed(0)} ms; by leaving: ${freeMs.map((ms) => ms.toFixed(0)).join(", ")} ms`
    )
    // To its end it would go on for many seconds; what is measured stands above.
    assert.isBelow(Math.max(byPageMs, ...freeMs), 2_500)
  })
})
