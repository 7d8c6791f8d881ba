/** Plugins and webhooks: installed or made, granted, set, watched, switched and removed. */
import { once } from "node:events"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { browserPath, world } from "./world.ts"

interface Plugin {
  readonly plugin: { readonly status: string; readonly permissions: { readonly granted: ReadonlyArray<string> } }
}

const hostile = `<img src=x onerror="alert(1)"> \u202Egnp.exe`

const manifest = {
  name: "team-tag",
  version: "1.2.0",
  description: `Tags requests. ${hostile}`,
  main: "index.js",
  hooks: { onRequest: true },
  requires: { permissions: ["network"], hosts: ["api.example.com"] },
  configSchema: {
    team: { type: "string", default: "core", max: 20, description: "Name of the team." },
    level: { type: "select", enum: ["low", "high"], default: "low" },
    limit: { type: "number", default: 10, min: 1, max: 100 },
    isStrict: { type: "boolean", default: false },
    token: { type: "string", secret: true, description: "Token of the service." }
  }
}

const code = `import { definePlugin } from "gateway/plugin"
export default definePlugin({ name: "team-tag", onRequest: (context) => { console.log("seen ${hostile.replaceAll('"', '\\"')}") } })
`

describe.skipIf(browserPath === null)("plugins", () => {
  const { ask, enter, manage, upstream } = world()

  beforeAll(async () => {
    await manage("POST", "/api/providers", {
      provider: "openai",
      name: "work",
      apiKey: "sk-abcdefghijklmnopqrstuvwx1",
      baseUrl: upstream().url
    })
  })

  it("of the list are installed, switched on without a permission, reloaded, and off with a way back", async () => {
    const page = await enter("system/plugins")
    await page.getByText("No plugin is installed.").waitFor()
    await page.getByRole("button", { name: "Install: request-logger" }).click()
    await page.getByRole("link", { name: "request-logger" }).click()
    await page.getByText("not switched on yet").waitFor()
    await page.getByText("See and change requests and answers of the events that it listens to").waitFor()
    const status = async () => (await manage<Plugin>("GET", "/api/plugins/request-logger")).plugin.status
    await page.getByRole("button", { name: "Switch on" }).click()
    await page.getByRole("button", { name: "Reload" }).click()
    await page.getByText("It was loaded anew.").waitFor()
    assert.strictEqual(await status(), "active")
    await page.getByRole("button", { name: "Switch off" }).click()
    await page.getByRole("button", { name: "Switch on" }).waitFor()
    assert.strictEqual(await status(), "inactive")
    await page.getByRole("button", { name: "Undo" }).click()
    await page.getByRole("button", { name: "Switch off" }).waitFor()
    assert.strictEqual(await status(), "active")
  })

  it("say in words what they may do, and get it only after their name was typed", async () => {
    await manage("POST", "/api/plugins", { manifest, files: { "index.js": code } })
    const page = await enter("system/plugins/team-tag")
    const permissions = page.getByRole("region", { name: "What it may do" })
    await permissions.getByText(/call api\.example\.com: it may send/).waitFor()
    await permissions.getByText("asked for, not granted").waitFor()
    await page.getByRole("button", { name: "Switch on" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByText(/From then on it may call api\.example\.com/).waitFor()
    const granted = async () => (await manage<Plugin>("GET", "/api/plugins/team-tag")).plugin.permissions.granted
    await dialog.getByRole("textbox").fill("team")
    assert.isTrue(await dialog.getByRole("button", { name: "Grant and switch on" }).isDisabled())
    assert.deepStrictEqual(await granted(), [])
    await dialog.getByRole("textbox").fill("team-tag")
    await dialog.getByRole("button", { name: "Grant and switch on" }).click()
    await permissions.getByText("granted", { exact: true }).waitFor()
    assert.deepStrictEqual(await granted(), ["network"])
    assert.strictEqual(await page.locator("main img").count(), 0)
  })

  it("are set by a form made of what they declare, their secrets masked, and what is wrong is said beside it", async () => {
    const page = await enter("system/plugins/team-tag")
    const form = page.getByRole("region", { name: "Configuration" })
    const values = async () =>
      (await manage<{ values: Readonly<Record<string, unknown>> }>("GET", "/api/plugins/team-tag/config")).values
    assert.strictEqual(await form.getByLabel("team").inputValue(), "core")
    await form.getByLabel("team").fill("search")
    await form.getByLabel("level").selectOption("high")
    await form.getByLabel("isStrict").selectOption("yes")
    await form.getByLabel("limit").fill("500")
    await form.getByRole("button", { name: "Save" }).click()
    await form.getByRole("alert").first().waitFor()
    assert.deepInclude(await values(), { team: "core" })
    await form.getByLabel("limit").fill("50")
    await form.getByLabel("token").fill("a-secret-of-the-service")
    await form.getByRole("button", { name: "Save" }).click()
    await page.getByText("Saved.").waitFor()
    assert.deepInclude(await values(), { team: "search", level: "high", limit: 50, isStrict: true })
    await page.reload()
    await form.getByLabel("team").waitFor()
    assert.notInclude(await page.content(), "a-secret-of-the-service")
    // An emptied field is the default again.
    await form.getByLabel("team").fill("")
    await form.getByRole("button", { name: "Save" }).click()
    await page.getByText("Saved.").waitFor()
    assert.deepInclude(await values(), { team: "core" })
    await page.getByRole("button", { name: "Undo" }).click()
    await page.getByText("Taken back.").waitFor()
    assert.deepInclude(await values(), { team: "search" })
  })

  it("show what they wrote as text", async () => {
    await ask("openai/gpt-4o-mini")
    const page = await enter("system/plugins/team-tag")
    const logs = page.getByRole("region", { name: "What it wrote" })
    await logs
      .getByText(/seen <img src=x/)
      .first()
      .waitFor()
    assert.include(await logs.innerText(), "␣202E")
    assert.strictEqual(await page.locator("main img").count(), 0)
  })

  it("are removed after their name was typed", async () => {
    const page = await enter("system/plugins/team-tag")
    await page.getByRole("button", { name: "Remove" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByRole("textbox").fill("team-tag")
    await dialog.getByRole("button", { name: "Remove" }).click()
    await page.getByRole("heading", { name: "Plugins" }).waitFor()
    await page.getByRole("link", { name: "team-tag" }).waitFor({ state: "detached" })
  })

  it("that are not there say so", async () => {
    const page = await enter("system/plugins/nope")
    await page.getByRole("alert").waitFor()
    await page.getByRole("link", { name: "All plugins" }).click()
    await page.getByRole("heading", { name: "Plugins" }).waitFor()
  })
})

interface Hook {
  readonly id: string
  readonly url: string
  readonly enabled: 0 | 1
  readonly secret: string
}

describe.skipIf(browserPath === null)("webhooks", () => {
  const { ask, enter, manage } = world({ OUTBOUND_SSRF_GUARD_ENABLED: "false" })
  const got: Array<{ readonly id: string; readonly body: string }> = []
  let status = 200
  let server: Server
  let url = ""
  const stored = async () => (await manage<{ webhooks: ReadonlyArray<Hook> }>("GET", "/api/webhooks")).webhooks

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = ""
      request.on("data", (chunk: Buffer) => (body += chunk.toString()))
      request.on("end", () => {
        got.push({ id: String(request.headers["webhook-id"]), body })
        response.writeHead(status).end()
      })
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  it("are made, their secret shown once, and tested", async () => {
    const page = await enter("system/webhooks")
    await page.getByText("No webhook yet.").waitFor()
    await page.getByRole("button", { name: "Create a webhook" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("URL").fill("ftp://nowhere")
    await dialog.getByRole("button", { name: "Create a webhook" }).click()
    await dialog.getByRole("alert").first().waitFor()
    await dialog.getByLabel("URL").fill(url)
    await dialog.getByLabel("Events", { exact: true }).fill("request.failed")
    await dialog.getByLabel("Description").fill("Alerts <b>of</b> the team")
    await dialog.getByRole("button", { name: "Create a webhook" }).click()
    await dialog.getByText("Copy the key of its signatures now").waitFor()
    const secret = await dialog.locator("pre").innerText()
    assert.match(secret, /^whsec_/)
    await dialog.getByRole("button", { name: "Close" }).click()
    assert.notInclude(await page.content(), secret)
    await page.getByRole("link", { name: "Alerts <b>of</b> the team" }).click()
    await page.getByText("Nothing was sent yet.").waitFor()
    await page.getByRole("button", { name: "Send a test" }).click()
    await page.getByText("The receiver answered 200.").waitFor()
    await page.getByRole("row").filter({ hasText: "test.ping" }).waitFor()
    assert.notInclude(await page.content(), secret)
    assert.lengthOf(got, 1)
  })

  it("are changed by a form and taken back, switched off and on, and say when a test is not delivered", async () => {
    const [hook] = await stored()
    const page = await enter(`system/webhooks/${hook?.id ?? ""}`)
    const form = page.getByRole("region", { name: "Settings" })
    await form.getByLabel("Events", { exact: true }).fill("request.failed\nprovider.error")
    await form.getByRole("button", { name: "Save" }).click()
    await page.getByText("Saved.").waitFor()
    await page.getByText("request.failed, provider.error").waitFor()
    await page.getByRole("button", { name: "Undo" }).click()
    await page.getByText("Taken back.").waitFor()
    await page.getByRole("button", { name: "Switch off" }).click()
    await page.getByRole("button", { name: "Switch on" }).waitFor()
    assert.strictEqual((await stored())[0]?.enabled, 0)
    await page.getByRole("button", { name: "Switch on" }).click()
    await page.getByRole("button", { name: "Switch off" }).waitFor()
    status = 500
    await page.getByRole("button", { name: "Send a test" }).click()
    await page.getByText(/It was not delivered/).waitFor()
    status = 200
  })

  it("show each attempt of an event, and send one again that was given up", async () => {
    status = 404
    await ask("nope/model")
    const [hook] = await stored()
    const page = await enter(`system/webhooks/${hook?.id ?? ""}`)
    const attempts = page.getByRole("row").filter({ hasText: "request.failed" })
    await attempts.filter({ hasText: "404" }).waitFor()
    status = 200
    await attempts.getByRole("button", { name: "Send again" }).click()
    await attempts.filter({ hasText: "200" }).waitFor()
    // It gave its event away: there is nothing to send again.
    await attempts.getByRole("button", { name: "Send again" }).waitFor({ state: "detached" })
    const [first, second] = got.slice(-2)
    assert.strictEqual(first?.id, second?.id)
  })

  it("are deleted after their name was typed", async () => {
    const [hook] = await stored()
    const page = await enter(`system/webhooks/${hook?.id ?? ""}`)
    await page.getByRole("button", { name: "Delete" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByRole("textbox").fill("Alerts <b>of</b> the team")
    await dialog.getByRole("button", { name: "Delete" }).click()
    await page.getByText("No webhook yet.").waitFor()
    assert.lengthOf(await stored(), 0)
  })
})
