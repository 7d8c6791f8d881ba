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
  const { enter, expect, manage, upstream } = world()

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
    await page.getByRole("region", { name: "Model 1" }).getByText("→ openai/gpt-4o", { exact: true }).waitFor()
    await page
      .getByRole("region", { name: "Model 1" })
      .getByText(/~\$0\.\d+ est\./)
      .waitFor()
    await page.getByRole("region", { name: "Model 1" }).getByRole("button", { name: "why here?" }).click()
    await page
      .getByRole("dialog")
      .getByText(/Ordered by/)
      .waitFor()
    await page.getByRole("dialog").getByRole("link", { name: "The whole decision" }).click()
    await page
      .getByRole("region", { name: "Request" })
      .getByText(/Ordered by/)
      .waitFor()
    await page.goBack()
    await page.getByRole("region", { name: "Model 2" }).getByText("Short waves.").waitFor()
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

  it("tells a stream that was cut, and keeps what had come", async () => {
    upstream().answers.set("cut", (response) => {
      response.writeHead(200, { "Content-Type": "text/event-stream" })
      response.write(chunk("The beginning of "), () => response.destroy())
    })
    const page = await enter("playground")
    await page.locator("#model-1").fill("openai/cut")
    await page.getByRole("button", { name: "Run all" }).click()
    await page.getByText(/The beginning of/).waitFor()
    await page
      .getByRole("region", { name: "Model 1" })
      .getByText(/The answer was cut|This did not work/)
      .waitFor()
    await page.getByRole("button", { name: "Run all" }).waitFor()
    // A proxy between page and gateway may cut it without a word.
    await page.route("**/v1/chat/completions", (route) =>
      route.fulfill({ contentType: "text/event-stream", body: chunk("Half of ") })
    )
    await page.getByRole("button", { name: "Run all" }).click()
    await page.getByText(/The answer was cut/).waitFor()
    await page.getByText("Half of").waitFor()
  })

  it("draws hostile answers as text", async () => {
    const payload = `<img src=x onerror="alert(1)"> [x](javascript:alert(1)) ![p](https://evil.example/?q=1) **bold** \u202Egnp`
    upstream().answers.set("hostile", (response) => {
      response.writeHead(200, { "Content-Type": "text/event-stream" })
      response.write(chunk(payload))
      response.end(ending)
    })
    const page = await enter("playground")
    await page.locator("#model-1").fill("openai/hostile")
    await page.getByRole("button", { name: "Run all" }).click()
    const column = page.getByRole("region", { name: "Model 1" })
    await column.getByText("bold").waitFor()
    const text = await column.innerText()
    assert.include(text, "<img src=x")
    assert.include(text, "␣202E")
    assert.include(text, "picture, not loaded: p (evil.example)")
    assert.strictEqual(await page.locator("main img").count(), 0)
    assert.deepStrictEqual(
      await column.locator(".markdown a").evaluateAll((all) => all.map((one) => one.getAttribute("href"))),
      ["https://evil.example/?q=1"]
    )
  })

  it("lets a column have its own prompt, and names what is no JSON before anything is sent", async () => {
    const asked: Array<string> = []
    const page = await enter("playground?endpoint=chat&models=openai/gpt-4o,openai/gpt-4o-mini")
    page.on("request", (request) => {
      if (request.url().endsWith("/v1/chat/completions")) asked.push(request.postData() ?? "")
    })
    const second = page.getByRole("region", { name: "Model 2" })
    await second.getByRole("button", { name: "Its own prompt and parameters" }).click()
    await second.getByLabel("Prompt", { exact: true }).fill("Of this column alone")
    await second.getByText("Parameters", { exact: true }).click()
    await second.getByLabel("Temperature").fill("0.25")
    await page.getByRole("button", { name: "Run all" }).click()
    await second.getByText("Short waves.").waitFor()
    const own = asked.map((text) => JSON.parse(text)).find(({ model }) => model === "openai/gpt-4o-mini")
    assert.strictEqual(own.temperature, 0.25)
    assert.strictEqual(own.messages[0].content, "Of this column alone")
    await second.getByText("Tools, schema and pictures").click()
    await second.getByLabel("Tools").fill("{no")
    const before = asked.length
    await page.getByRole("button", { name: "Run all" }).click()
    await second.getByText("The tools are no JSON list.").waitFor()
    assert.isAtMost(asked.length, before + 1)
    await second.getByLabel("Tools").fill('[{"name":"read_file","parameters":{"type":"object"}}]')
    await second.getByLabel("Schema of the answer").fill('{"type":"object"}')
    await page.getByRole("button", { name: "Run all" }).click()
    await second.getByText("Short waves.").waitFor()
    const last = asked.map((text) => JSON.parse(text)).findLast(({ model }) => model === "openai/gpt-4o-mini")
    assert.strictEqual(last.tools[0].function.name, "read_file")
    assert.strictEqual(last.response_format.json_schema.schema.type, "object")
  })

  it("saves a preset, takes it back after deleting, and opens it by its address", async () => {
    const page = await enter("playground?models=openai/gpt-4o")
    await page.getByLabel("System prompt").fill("Answer <b>briefly</b>.")
    await page.getByText("Presets", { exact: true }).first().click()
    await page.getByLabel("Name of the preset").fill("Short <answers>")
    await page.getByRole("button", { name: "Save as a preset" }).click()
    await page.getByText("The preset Short <answers> is saved.").waitFor()
    const { presets } = await manage<{ presets: ReadonlyArray<{ id: string; system: string; model: string }> }>(
      "GET",
      "/api/playground/presets"
    )
    assert.strictEqual(presets[0]?.system, "Answer <b>briefly</b>.")
    const other = await enter(`playground?preset=${presets[0]?.id ?? ""}`)
    await other.locator("#model-1").waitFor()
    await other.waitForFunction(
      () => (document.querySelector("#model-1") as HTMLInputElement).value === "openai/gpt-4o"
    )
    await page.getByRole("button", { name: "Delete the preset" }).click()
    await page.getByRole("button", { name: "Undo" }).click()
    await page.getByRole("option", { name: "Short <answers>" }).waitFor({ state: "attached" })
  })

  it("improves a prompt with a diff, and takes it only when that is said", async () => {
    expect(/status of 502/)
    upstream().answers.set("improver", (response) => {
      response.writeHead(200, { "Content-Type": "application/json" })
      const content = JSON.stringify({ improvedPrompt: "Why is the sky blue? Answer in one sentence." })
      response.end(
        JSON.stringify({
          id: "c",
          object: "chat.completion",
          created: 1,
          model: "improver",
          choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
          usage: { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 }
        })
      )
    })
    const page = await enter("playground")
    await page.getByRole("button", { name: "Improve the prompt" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("With the model").fill("nope/nothing")
    await dialog.getByRole("button", { name: "Improve the prompt" }).click()
    await dialog.getByRole("alert").waitFor()
    await dialog.getByLabel("With the model").fill("openai/improver")
    await dialog.getByRole("button", { name: "Improve the prompt" }).click()
    const change = dialog.getByRole("region", { name: "The prompt, before and after" })
    await change.locator("ins").first().waitFor()
    assert.strictEqual(
      await page.getByLabel("Prompt", { exact: true }).inputValue(),
      "Why is the sky blue? Answer in two sentences."
    )
    await dialog.getByRole("button", { name: "Take it" }).click()
    assert.strictEqual(
      await page.getByLabel("Prompt", { exact: true }).inputValue(),
      "Why is the sky blue? Answer in one sentence."
    )
  })

  it("writes snippets without a key, and shows what differs between answers", async () => {
    const page = await enter("playground?models=openai/gpt-4o,openai/gpt-4o-mini")
    await page.getByRole("button", { name: "Snippets" }).click()
    await page
      .getByRole("dialog")
      .getByText(/Bearer \$GATEWAY_API_KEY/)
      .waitFor()
    await page.getByRole("dialog").getByRole("button", { name: "python" }).click()
    await page
      .getByRole("dialog")
      .getByText(/import requests/)
      .waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("button", { name: "Run all" }).click()
    await page.getByRole("region", { name: "Model 2" }).getByText("Short waves.").waitFor()
    await page.getByRole("button", { name: "Diff", exact: true }).click()
    await page.getByRole("dialog").locator("del").first().waitFor()
    await page.keyboard.press("Escape")
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save the answers" }).click()
    ])
    assert.strictEqual(saved.suggestedFilename(), "answers.json")
  })

  it("shows pictures and sound from memory, and names what lies elsewhere", async () => {
    const page = await enter("playground?endpoint=images&models=openai/gpt-image-1")
    const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    await page.route("**/v1/images/generations", (route) =>
      route.fulfill({ json: { created: 1, data: [{ b64_json: dot }, { url: "https://evil.example/x.png" }] } })
    )
    await page.route("**/v1/audio/speech", (route) =>
      route.fulfill({ contentType: "audio/mpeg", body: Buffer.from("SUQzBAAAAAAAAA==", "base64") })
    )
    await page.getByRole("button", { name: "Run all" }).click()
    const picture = page.getByRole("img", { name: "Picture 1" })
    await picture.waitFor()
    assert.match((await picture.getAttribute("src")) ?? "", /^blob:/)
    await page.getByText("On evil.example; not loaded").waitFor()
    await page.getByLabel("Endpoint").selectOption("speech")
    await page.getByRole("button", { name: "Run all" }).click()
    await page.locator("audio[src^='blob:']").waitFor()
    await page.getByLabel("Endpoint").selectOption("transcriptions")
    await page.getByRole("button", { name: "Run all" }).click()
    await page.getByText("Choose a sound file first.").waitFor()
  })
})
