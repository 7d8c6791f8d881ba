/**
 * The pictures of docs/dashboard.md: a gateway that has been used for a month, as a reader may have it. They are kept in `.gateway/pictures/docs`, and
 * with `UPDATE_PICTURES=1` in docs/pictures. Every view in every look is kept by pages.suite.ts.
 */
import type { ServerResponse } from "node:http"
import { assert, beforeAll, describe, it } from "vitest"
import type { Page } from "playwright-core"
import { addPast, type PastRequest } from "./past.ts"
import { keepView } from "./pictures.ts"
import { shown } from "./views.ts"
import { browserPath, failing, hello, type PageOptions, world } from "./world.ts"

const wide = { viewport: { width: 1280, height: 800 } }
const phone = { viewport: { width: 390, height: 780 } }
const dayMs = 86_400_000

const streamed =
  (...words: ReadonlyArray<string>) =>
  (response: ServerResponse): void => {
    const event = (part: object): void =>
      void response.write(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", ...part })}\n\n`)
    response.writeHead(200, { "Content-Type": "text/event-stream" })
    for (const content of words) event({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
    event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })
    event({
      choices: [],
      usage: { prompt_tokens: 31, completion_tokens: words.length, total_tokens: 31 + words.length }
    })
    response.end("data: [DONE]\n\n")
  }

/** A month of three keys, the same in every run but for the day. */
const month = (keys: ReadonlyArray<string>): ReadonlyArray<PastRequest> =>
  Array.from({ length: 900 }, (_, n) => {
    const model = ["gpt-4o", "gpt-4o-mini", "llama-3.3-70b-versatile"][n % 3] ?? ""
    return {
      atMs: Date.now() - 60_000 - Math.floor((n / 900) * 30 * dayMs) - ((n * 7_919) % 3_600_000),
      keyId: keys[(n % 7) % keys.length] ?? null,
      provider: n % 3 === 2 ? "groq" : "openai",
      model,
      usd: ((n * 37) % 100) / (n % 3 === 0 ? 400 : 2_000),
      cacheRead: n % 4 === 0 ? 600 : 0,
      ...(n % 5 === 0 ? { combo: "best" } : {})
    }
  })

describe.skipIf(browserPath === null)("the pictures of the document", () => {
  const { ask, dataDir, enter, manage, upstream } = world()
  let failedOver = ""

  beforeAll(async () => {
    const account = { apiKey: "sk-abcdefghijklmnopqrstuvwx1", baseUrl: upstream().url }
    for (const [provider, name, models] of [
      ["openai", "work", ["gpt-4o", "gpt-4o-mini"]],
      ["groq", "team B", ["llama-3.3-70b-versatile"]],
      ["mistral", "home", ["mistral-small-latest"]],
      ["xai", "trial", ["grok-4"]]
    ] as const) {
      await manage("POST", "/api/providers", { provider, name, models, ...account })
    }
    const answers = upstream().answers
    for (const model of ["gpt-4o", "gpt-4o-mini", "mistral-small-latest"]) answers.set(model, hello(model))
    answers.set("llama-3.3-70b-versatile", failing(429, "Rate limit reached."))
    answers.set("grok-4", failing(402, "You are out of credits."))
    const keys: Array<string> = []
    for (const [name, limit] of [
      ["ci", 4],
      ["laptop", 10],
      ["night jobs", 2]
    ] as const) {
      const { key } = await manage<{ key: { id: string } }>("POST", "/api/keys", { name })
      await manage("POST", "/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd: limit, monthlyLimitUsd: limit * 10 })
      keys.push(key.id)
    }
    await manage("POST", "/api/combos", {
      id: "best",
      name: "best",
      strategy: "priority",
      targets: [
        { model: "groq/llama-3.3-70b-versatile", label: "quick" },
        { model: "openai/gpt-4o-mini", label: "sure" },
        { model: "mistral/mistral-small-latest", label: "spare" }
      ]
    })
    addPast(dataDir(), month(keys))
    failedOver = (await ask("best")).requestId
    for (let n = 0; n < 6; n++) await ask(n % 2 === 0 ? "openai/gpt-4o" : "auto")
    assert.notStrictEqual((await ask("xai/grok-4")).status, 200)
  })

  const picture = async (
    name: string,
    address: string,
    options: PageOptions,
    ready: (page: Page) => Promise<unknown> = async () => {}
  ): Promise<void> => {
    const page = await enter(address, options)
    await shown(page)
    await ready(page)
    await keepView(page, name)
  }

  it("are taken of what readers look at most", async () => {
    const light = { ...wide, colorScheme: "light" } as const
    const dark = { ...wide, colorScheme: "dark" } as const
    await picture("home", "?show=all", light, (page) => page.getByText("xai").first().waitFor())
    await picture("request", `requests/${failedOver}`, dark, (page) => page.getByText("Why here").waitFor())
    await picture("combo", "routing/combo/best", light, async (page) => {
      await page.getByRole("button", { name: "Move target 1 down" }).click()
      await page.getByRole("columnheader", { name: "Stored" }).first().waitFor()
      await shown(page)
      await page.getByRole("region", { name: "The decision now" }).scrollIntoViewIfNeeded()
    })
    await picture("money", "keys", dark)
    await picture("wizard", "providers/add/groq", light, async (page) => {
      await page.getByLabel(/^Key for/).fill("gsk_abcdefghijklmnopqrstuvwx1")
      await page.getByText("Address, proxy, and more").click()
      await page.getByLabel("Address").fill(upstream().url)
      await page.getByRole("button", { name: "Check" }).click()
      await page.getByText("key accepted", { exact: true }).waitFor()
    })
    upstream().answers.set(
      "gpt-4o",
      streamed(..."Air scatters short waves most, so blue comes from all sides.".split(/(?= )/))
    )
    upstream().answers.set("gpt-4o-mini", streamed(..."Blue light is **scattered** more than red.".split(/(?= )/)))
    await picture(
      "playground",
      "playground?models=openai%2Fgpt-4o&models=openai%2Fgpt-4o-mini",
      light,
      async (page) => {
        await page.locator("#model-1").fill("openai/gpt-4o")
        if ((await page.locator("#model-2").count()) === 0)
          await page.getByRole("button", { name: "Add a column" }).click()
        await page.locator("#model-2").fill("openai/gpt-4o-mini")
        await page.getByRole("button", { name: "Run all" }).click()
        await page.getByText("than red").waitFor()
        await page.getByText("from all sides").waitFor()
        await page.getByRole("button", { name: "why here?" }).first().waitFor()
        await page
          .getByRole("region", { name: "Model 1" })
          .evaluate((column) => column.scrollIntoView({ block: "end" }))
      }
    )
    await picture("home-phone", "?show=all", { ...phone, colorScheme: "dark" })
    await picture("requests-phone", "requests", { ...phone, colorScheme: "light" })
  })
})
