/** The playground: one prompt to several models at once, streamed, with estimates, and as a key. */
import { assert, beforeAll, describe, it } from "vitest"
import type { ServerResponse } from "node:http"
import { browserPath, failing, world } from "./world.ts"

const chunk = (content: string): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`

const ending =
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\n` +
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [], usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 } })}\n\n` +
  "data: [DONE]\n\n"

describe.skipIf(browserPath === null)("the playground", () => {
  const { enter, manage, upstream } = world()

  beforeAll(async () => {
    await manage("POST", "/api/providers", {
      provider: "openai",
      name: "work",
      apiKey: "sk-abcdefghijklmnopqrstuvwx1",
      baseUrl: upstream().url
    })
    const streams =
      (...pieces: ReadonlyArray<string>) =>
      (response: ServerResponse) => {
        response.writeHead(200, { "Content-Type": "text/event-stream" })
        for (const piece of pieces) response.write(chunk(piece))
        response.end(ending)
      }
    upstream().answers.set("gpt-4o", streams("Because ", "of ", "scattering."))
    upstream().answers.set("gpt-4o-mini", streams("Short ", "waves."))
    upstream().answers.set("broken", failing(400, "This model takes no questions."))
  })

  it("asks several models at once, and shows the answer of each with its tokens", async () => {
    const page = await enter("playground")
    await page.locator("#model-1").fill("openai/gpt-4o")
    await page.getByRole("button", { name: "Add a column" }).click()
    await page.locator("#model-2").fill("openai/gpt-4o-mini")
    await page.getByRole("button", { name: "Add a column" }).click()
    await page.locator("#model-3").fill("openai/broken")
    await page.getByRole("button", { name: "Run all" }).click()
    await page.getByRole("region", { name: "Model 1" }).getByText("Because of scattering.").waitFor()
    await page.getByRole("region", { name: "Model 2" }).getByText("Short waves.").waitFor()
    await page
      .getByRole("region", { name: "Model 3" })
      .getByText(/This model takes no questions/)
      .waitFor()
    await page.getByRole("region", { name: "Model 1" }).getByText("12 → 3 tokens").waitFor()
    await page.getByRole("region", { name: "Model 1" }).getByRole("link", { name: "why here?" }).click()
    await page
      .getByRole("region", { name: "Request" })
      .getByText(/Ordered by/)
      .waitFor()
  })

  it("asks as a key: its rules hold, and the row is the key's", async () => {
    const { key } = await manage<{ key: { id: string } }>("POST", "/api/keys", {
      name: "limited",
      allowedModels: ["openai/gpt-4o-mini"]
    })
    const page = await enter("playground")
    await page.getByLabel("As", { exact: true }).selectOption({ label: "limited" })
    await page.locator("#model-1").fill("openai/gpt-4o")
    await page.getByRole("button", { name: "Run all" }).click()
    await page.getByRole("alert").waitFor()
    await page.locator("#model-1").fill("openai/gpt-4o-mini")
    await page.getByRole("button", { name: "Run all" }).click()
    await page.getByText("Short waves.").waitFor()
    const { logs } = await manage<{ logs: ReadonlyArray<{ apiKeyId: string | null; outcome: string }> }>(
      "GET",
      `/api/usage/logs?apiKeyId=${key.id}`
    )
    assert.isTrue(logs.some(({ outcome }) => outcome === "completed"))
  })

  it("stops what runs", async () => {
    upstream().answers.set("endless", (response) => {
      response.writeHead(200, { "Content-Type": "text/event-stream" })
      for (let n = 0; n < 40; n++) response.write(chunk("It goes on. "))
    })
    const page = await enter("playground")
    await page.locator("#model-1").fill("openai/endless")
    await page.getByRole("button", { name: "Run all" }).click()
    await page.getByText(/It goes on/).waitFor()
    await page.getByRole("button", { name: "Stop" }).click()
    await page.getByText("stopped").waitFor()
  })
})
