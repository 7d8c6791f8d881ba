/** Areas of the system for ways in and out and for work in the background: tunnels, proxies, evaluations, batches and files. */
import { readFileSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { assert, describe, it } from "vitest"
import { browserPath, failing, hello, world } from "./world.ts"

const lines = (...models: ReadonlyArray<string>): Buffer =>
  Buffer.from(
    models
      .map((model, index) =>
        JSON.stringify({
          custom_id: `line-${index}`,
          method: "POST",
          url: "/v1/chat/completions",
          body: { model, messages: [{ role: "user", content: "Hi" }] }
        })
      )
      .join("\n")
  )

/** Answers only when the test lets it. */
const held = () => {
  const waiting: Array<() => void> = []
  let isOpen = false
  return {
    answer: (response: ServerResponse): void => {
      const go = () => hello("gpt-4o")(response)
      if (isOpen) go()
      else waiting.push(go)
    },
    open: (): void => {
      isOpen = true
      for (const go of waiting.splice(0)) go()
    }
  }
}

describe.skipIf(browserPath === null)("the areas of tunnels, proxies, evaluations and batches", () => {
  const { enter, manage, upstream } = world()
  let connectionId: string | null = null
  const connect = async (): Promise<void> => {
    if (connectionId !== null) return
    const { connection } = await manage<{ connection: { id: string } }>("POST", "/api/providers", {
      provider: "openai",
      name: "work",
      apiKey: "sk-abcdefghijklmnopqrstuvwx1",
      baseUrl: upstream().url
    })
    connectionId = connection.id
  }

  it("opens a tunnel after its name was typed, and says that it waits for an authtoken", async () => {
    const page = await enter("system/tunnels")
    const card = page.getByRole("region", { name: "Token tunnel" })
    await card.getByText("TOKEN_TUNNEL_AUTHTOKEN").waitFor()
    await card.getByRole("button", { name: "Open" }).click()
    const dialog = page.getByRole("dialog")
    const open = dialog.getByRole("button", { name: "Open" })
    assert.isTrue(await open.isDisabled())
    await dialog.getByRole("textbox").fill("token")
    await open.click()
    await dialog.getByRole("alert").waitFor()
    await dialog.getByRole("button", { name: "Cancel" }).click()
    await card.getByLabel("Open it although no API key is required").check()
    await card.getByRole("button", { name: "Open" }).click()
    await dialog.getByText("Everybody who learns the address can use your accounts").waitFor()
    await dialog.getByRole("textbox").fill("token")
    await open.click()
    await dialog.waitFor({ state: "hidden" })
    await card.getByText("waits for you").waitFor()
    await card.getByRole("button", { name: "Close" }).click()
    await dialog.getByRole("textbox").fill("token")
    await dialog.getByRole("button", { name: "Close" }).click()
    await card.getByText("closed").waitFor()
  })

  it("takes the authtoken from the page and keeps nothing of it there", async () => {
    const page = await enter("system/tunnels")
    const card = page.getByRole("region", { name: "Token tunnel" })
    const field = card.getByLabel("Authtoken")
    await field.fill("canary-authtoken")
    await card.getByRole("button", { name: "Open" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByRole("textbox").fill("token")
    const [sent] = await Promise.all([
      page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/api/tunnels/token")),
      dialog.getByRole("button", { name: "Open" }).click()
    ])
    assert.strictEqual((sent.postDataJSON() as { authToken: string }).authToken, "canary-authtoken")
    assert.strictEqual(await field.getAttribute("type"), "password")
    assert.notInclude(page.url(), "canary")
    assert.notInclude(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage })), "canary")
  })

  it("says what is missing for the mesh, and why it cannot be installed", async () => {
    const page = await enter("system/tunnels")
    const card = page.getByRole("region", { name: "Mesh funnel" })
    await card.getByText("not installed", { exact: true }).waitFor()
    assert.strictEqual(await card.getByLabel("Your password on the gateway's machine").getAttribute("type"), "password")
    await card.getByRole("button", { name: "Install it" }).waitFor()
  })

  it("adds a proxy, assigns it to an account, tests it, and never shows its password", async () => {
    await connect()
    const page = await enter("system/proxies")
    await page.getByText("No proxy yet: every call leaves by this machine's own address.").waitFor()
    await page.getByRole("button", { name: "Add a proxy" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Name", { exact: true }).fill("berlin")
    await dialog.getByLabel("Host").fill("127.0.0.1")
    await dialog.getByLabel("Port").fill("1")
    await dialog.getByLabel("User name").fill("alice")
    await dialog.getByLabel("Password").fill("canary-password")
    await dialog.getByRole("button", { name: "Add a proxy" }).click()
    await dialog.waitFor({ state: "hidden" })
    const row = page.getByRole("row", { name: /^berlin/ })
    await row.getByText("alice:****@127.0.0.1:1").waitFor()
    assert.notInclude(await page.content(), "canary")
    await row.getByRole("button", { name: "Test" }).click()
    await row.getByRole("alert").waitFor()
    await row.getByRole("button", { name: "Assign" }).click()
    await dialog.getByLabel("Account", { exact: true }).selectOption({ label: "openai / work" })
    await dialog.getByRole("button", { name: "Assign" }).click()
    await dialog.waitFor({ state: "hidden" })
    await row.getByText("Account").waitFor()
    const { assignments } = await manage<{ assignments: ReadonlyArray<Record<string, unknown>> }>(
      "GET",
      "/api/v1/management/proxies/assignments"
    )
    assert.containsSubset(assignments, [{ scope: "connection", scopeId: connectionId }])
    await row.getByRole("button", { name: "Assign" }).click()
    await dialog.getByRole("button", { name: "Take back" }).click()
    await row.getByText("nothing").waitFor()
    await dialog.getByRole("button", { name: "Close" }).click()
  })

  it("switches a proxy off with undo, and removes it after its name was typed", async () => {
    const page = await enter("system/proxies")
    const row = page.getByRole("row", { name: /^berlin/ })
    await row.getByRole("button", { name: "Switch off" }).click()
    await row.getByRole("button", { name: "Switch on" }).waitFor()
    await page.getByRole("button", { name: "Undo" }).click()
    await row.getByRole("button", { name: "Switch off" }).waitFor()
    await row.getByRole("button", { name: "Remove" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByRole("textbox").fill("berlin")
    await dialog.getByRole("button", { name: "Remove" }).click()
    await page.getByText("No proxy yet").waitFor()
  })

  it("runs a suite over two models with its progress, and compares their results case by case", async () => {
    await connect()
    upstream().answers.set("gpt-4o", (response) => {
      response.writeHead(200, { "Content-Type": "application/json" })
      response.end(
        JSON.stringify({
          id: "c",
          object: "chat.completion",
          created: 1,
          model: "gpt-4o",
          choices: [{ index: 0, message: { role: "assistant", content: "Paris" }, finish_reason: "stop" }],
          usage: { prompt_tokens: 8, completion_tokens: 2, total_tokens: 10 }
        })
      )
    })
    const page = await enter("system/evaluations")
    await page.getByText("No run yet. Run a suite over the model").waitFor()
    await page.getByRole("button", { name: "Run a suite" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Its name", { exact: true }).fill("openai/gpt-4o")
    await dialog.getByLabel("Its name, too").fill("openai/gpt-4o-mini")
    await dialog.getByRole("button", { name: "Run", exact: true }).click()
    await page.waitForURL(/system\/evaluations\/[\w-]+$/)
    const here = page.getByRole("region", { name: "This run" })
    await here.getByText("completed").waitFor()
    await page.getByRole("region", { name: "The run that it is compared with" }).getByText("completed").waitFor()
    await page.getByText("1 cases passed here only, 0 passed there only.").waitFor()
    await page
      .getByRole("row", { name: /capital/ })
      .getByText("here only")
      .waitFor()
    await page.getByRole("link", { name: "Back to the list" }).click()
    await page
      .getByRole("row", { name: /openai\/gpt-4o 1?7?\D*1 of 6 passed/ })
      .first()
      .waitFor()
    upstream().answers.delete("gpt-4o")
  })

  it("cancels a run that is under way", async () => {
    await connect()
    const gate = held()
    upstream().answers.set("gpt-4o", gate.answer)
    const { run } = await manage<{ run: { id: string } }>("POST", "/api/evals", {
      suiteId: "golden-set",
      target: { type: "model", id: "openai/gpt-4o" }
    })
    const page = await enter(`system/evaluations/${run.id}`)
    await page.getByText("The first answers are on their way.").waitFor()
    await page.getByRole("button", { name: "Cancel" }).click()
    await page.getByRole("region", { name: "This run" }).getByText("cancelled").waitFor()
    gate.open()
    upstream().answers.delete("gpt-4o")
  })

  it("says why a run is refused, in the API's words", async () => {
    const page = await enter("system/evaluations")
    await page.getByRole("button", { name: "Run a suite" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Its name", { exact: true }).fill("no-such-model")
    await dialog.getByRole("button", { name: "Run", exact: true }).click()
    await dialog.getByRole("alert").filter({ hasText: "no-such-model" }).waitFor()
  })

  it("makes a batch of a file, follows it in the bar, and gives its results and errors as files", async () => {
    await connect()
    const gate = held()
    upstream().answers.set("gpt-4o", gate.answer)
    upstream().answers.set("gpt-4o-mini", failing(400, "not this one"))
    const page = await enter("system/batches")
    await page.getByText("No batch here. Make one of a file").waitFor()
    await page.getByRole("button", { name: "Make a batch" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("File with the requests").setInputFiles({
      name: "lines.jsonl",
      mimeType: "application/jsonl",
      buffer: lines("openai/gpt-4o", "openai/gpt-4o", "openai/gpt-4o-mini")
    })
    await dialog.getByRole("button", { name: "Make a batch" }).click()
    await dialog.waitFor({ state: "hidden" })
    await page.locator(".bar .jobs summary").click()
    await page.locator(".bar .jobs").getByText("Batch", { exact: true }).waitFor()
    gate.open()
    await page.getByText("2 of 3 answered").waitFor()
    await page.getByText("1 failed").waitFor()
    await page.locator(".bar .jobs").waitFor({ state: "detached" })
    const saved = async (name: string): Promise<string> => {
      const [file] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name, exact: true }).click()
      ])
      return readFileSync(await file.path(), "utf8")
    }
    assert.strictEqual((await saved("Results")).trim().split("\n").length, 2)
    assert.include(await saved("Errors"), "not this one")
    upstream().answers.clear()
  })

  it("cancels a batch after its id was typed, and deletes it", async () => {
    await connect()
    const gate = held()
    upstream().answers.set("gpt-4o", gate.answer)
    const page = await enter("system/batches")
    await page.getByRole("button", { name: "Make a batch" }).click()
    const dialog = page.getByRole("dialog")
    await dialog
      .getByLabel("File with the requests")
      .setInputFiles({ name: "more.jsonl", mimeType: "application/jsonl", buffer: lines("openai/gpt-4o") })
    await dialog.getByRole("button", { name: "Make a batch" }).click()
    await dialog.waitFor({ state: "hidden" })
    const row = page.getByRole("region", { name: "Batches" }).getByRole("row").nth(1)
    // The first row is that of the batch before until the list has come anew.
    await row.getByRole("button", { name: "Cancel" }).waitFor()
    const id = await row.locator("code").first().innerText()
    await row.getByRole("button", { name: "Cancel" }).click()
    await dialog.getByRole("textbox").fill(id)
    await dialog.getByRole("button", { name: "Cancel" }).first().click()
    await dialog.waitFor({ state: "hidden" })
    gate.open()
    await row.getByText("cancelled", { exact: true }).waitFor()
    await row.getByRole("button", { name: "Delete" }).click()
    await dialog.getByRole("textbox").fill(id)
    await dialog.getByRole("button", { name: "Delete" }).click()
    await page.getByText(id, { exact: true }).waitFor({ state: "detached" })
    upstream().answers.clear()
  })

  it("shows the batches of a key to an administrator who chooses it, and of nobody else", async () => {
    const { key } = await manage<{ key: { id: string } }>("POST", "/api/keys", { name: "<b>ci</b>" })
    const page = await enter("system/batches")
    await page.getByText("lines.jsonl").waitFor()
    await page.getByLabel("Whose batches and files").selectOption(key.id)
    await page.waitForURL(new RegExp(`key=${key.id}`))
    await page.getByText("No batch here.").waitFor()
    await page.getByText("No file here.").waitFor()
    assert.strictEqual(await page.locator("main b").count(), 0)
    await page.getByRole("button", { name: "Make a batch" }).click()
    const dialog = page.getByRole("dialog")
    await dialog
      .getByLabel("File with the requests")
      .setInputFiles({ name: "of-the-key.jsonl", mimeType: "application/jsonl", buffer: lines("openai/gpt-4o") })
    await dialog.getByRole("button", { name: "Make a batch" }).click()
    await dialog.waitFor({ state: "hidden" })
    await page.getByText("1 of 1 answered").waitFor()
    await page.getByLabel("Whose batches and files").selectOption("")
    await page.getByText("lines.jsonl").waitFor()
    assert.strictEqual(await page.getByText("of-the-key.jsonl").count(), 0)
  })
})
