/**
 * The first hour of a new user, from the first start to a budget that is reached and why: once with the mouse, once by the keyboard alone. Both are
 * the same steps, taken by another hand.
 */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { once } from "node:events"
import type { Locator, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { browserPath, hello, password, world } from "./world.ts"

/** How a person does it. */
interface Hand {
  readonly press: (page: Page, control: Locator) => Promise<void>
  readonly type: (page: Page, field: Locator, text: string) => Promise<void>
  /** Opens an entry of the side bar. */
  readonly go: (page: Page, entry: string, key: string) => Promise<void>
  /** Opens the newest row of the requests. */
  readonly openNewest: (page: Page) => Promise<void>
}

const mouse: Hand = {
  press: (_page, control) => control.click(),
  type: (_page, field, text) => field.fill(text),
  go: (page, entry) => page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: entry }).click(),
  openNewest: (page) => page.getByRole("gridcell").first().click()
}

const mostTabs = 200

/** Goes from control to control until the wanted one has the focus, as somebody does who sees where the focus is. */
const reach = async (page: Page, wanted: Locator): Promise<void> => {
  await wanted.waitFor()
  const has = () => wanted.evaluate((element) => element === document.activeElement)
  for (let tabs = 0; !(await has()); tabs++) {
    assert.isBelow(tabs, mostTabs, `${String(wanted)} is not reached with the keyboard`)
    await page.keyboard.press("Tab")
  }
}

const keyboard: Hand = {
  press: async (page, control) => {
    await reach(page, control)
    await page.keyboard.press("Enter")
  },
  type: async (page, field, text) => {
    await reach(page, field)
    await page.keyboard.press("ControlOrMeta+a")
    await page.keyboard.type(text)
  },
  go: async (page, _entry, key) => {
    // Only outside of a field do keys open an entry.
    await reach(page, page.locator("main h1, .bar button").first())
    await page.keyboard.press("g")
    await page.keyboard.press(key)
  },
  openNewest: async (page) => {
    await reach(page, page.getByRole("grid"))
    await page.keyboard.press("Enter")
  }
}

const rightKey = "sk-the-right-key-0123456789abcdef"
const wrongKey = "sk-the-wrong-key-0123456789abcdef"
const model = "gpt-4o-mini"

/** https://developers.openai.com/api/reference/resources/responses/methods/create */
const helloOfResponses = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  status: "completed",
  model,
  output: [
    {
      id: "msg_1",
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Hello.", annotations: [] }]
    }
  ],
  usage: { input_tokens: 812, output_tokens: 190, total_tokens: 1002 }
}

/** A provider that knows one key. */
const startProvider = async (): Promise<{ readonly url: string; readonly server: Server }> => {
  const server = createServer((request, response) => {
    const json = (status: number, body: unknown): void => {
      response.writeHead(status, { "Content-Type": "application/json" })
      response.end(JSON.stringify(body))
    }
    request.resume().on("end", () => {
      if (request.headers.authorization !== `Bearer ${rightKey}`) {
        const error = { message: "Incorrect API key provided.", type: "invalid_request_error", code: "invalid_api_key" }
        return json(401, { error })
      }
      if (request.url?.endsWith("/models") === true) return json(200, { object: "list", data: [{ id: model }] })
      return request.url?.endsWith("/responses") === true ? json(200, helloOfResponses) : hello(model)(response)
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
}

const hour = ({ go, openNewest, press, type }: Hand): void => {
  const { dataDir, gateway, open, run } = world({ GATEWAY_ADMIN_PASSWORD: "", GATEWAY_ADMIN_KEY: "" })
  let provider: Awaited<ReturnType<typeof startProvider>>
  beforeAll(async () => {
    provider = await startProvider()
  })
  afterAll(() => {
    provider.server.closeAllConnections()
    provider.server.close()
  })

  /** Asks as the client that was set up; the status. */
  const askWith = async (secret: string): Promise<number> => {
    const answer = await fetch(`${gateway().url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "best", max_tokens: 200, messages: [{ role: "user", content: "Say hello." }] })
    })
    await answer.text()
    return answer.status
  }

  /** Chooses, gives a wrong key and a right one, asks the first question, and saves. */
  const addProvider = async (page: Page): Promise<void> => {
    await go(page, "Providers", "p")
    await press(page, page.getByRole("link", { name: "Add a provider" }).first())
    await type(page, page.getByLabel("Search providers"), "openai")
    await press(page, page.getByRole("link", { name: /^OpenAI/ }).first())
    const key = page.getByLabel(/^Key for/)
    await type(page, key, wrongKey)
    await press(page, page.getByText("Address, proxy, and more"))
    await type(page, page.getByLabel("Address"), provider.url)
    await press(page, page.getByRole("button", { name: "Check" }))
    await page.getByText(/^not accepted:/).waitFor()
    await type(page, key, rightKey)
    await press(page, page.getByRole("button", { name: "Check again" }))
    await page.getByText("key accepted", { exact: true }).waitFor()
    await type(page, page.getByLabel("Model", { exact: true }), model)
    await press(page, page.getByRole("button", { name: "Ask it" }))
    await page.getByText("Hello.").waitFor()
    await press(page, page.getByRole("button", { name: "Save", exact: true }))
    await page.getByRole("heading", { name: /openai/i, level: 1 }).waitFor()
  }

  const makeCombo = async (page: Page): Promise<void> => {
    await go(page, "Routing", "c")
    await press(page, page.getByRole("link", { name: "Create a combo" }))
    await type(page, page.getByLabel("Name", { exact: true }), "best")
    await press(page, page.getByRole("button", { name: "Add a target" }))
    await type(page, page.getByLabel("Model of target 1"), `openai/${model}`)
    await press(page, page.getByRole("button", { name: "Create the combo" }))
    await page.waitForURL(/routing\/combo\//)
  }

  const makeKey = async (page: Page): Promise<string> => {
    await go(page, "Keys", "m")
    await press(page, page.getByRole("button", { name: "Create a key" }))
    const dialog = page.getByRole("dialog")
    await type(page, dialog.getByLabel("Name", { exact: true }), "client")
    await type(page, dialog.getByLabel("Most USD a day"), "0.001")
    await press(page, dialog.getByRole("button", { name: "Create a key" }))
    await dialog.getByText("Copy it now").waitFor()
    const secret = await dialog.locator("pre").first().innerText()
    await press(page, dialog.getByRole("button", { name: "Close" }).first())
    return secret.trim()
  }

  it("goes from the first start to a reached budget, and sees why", async () => {
    // The first start has no password: the page says what opens it signed in, and there one is chosen.
    const before = await open()
    await before.getByText("gateway open", { exact: true }).waitFor()
    assert.strictEqual(await before.getByLabel("Admin password").count(), 0)
    const { stdout } = await run(["open", "--json"], { DATA_DIR: dataDir() })
    const page = await open((JSON.parse(stdout) as { readonly url: string }).url.replace(/^.*#/, "#"))
    const choosing = page.getByRole("dialog", { name: "Choose an admin password" })
    await type(page, choosing.getByLabel("New password"), password)
    await press(page, choosing.getByRole("button", { name: "Save the password" }))
    await choosing.waitFor({ state: "hidden" })
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor()

    await addProvider(page)
    await makeCombo(page)
    const secret = await makeKey(page)
    assert.match(secret, /^gw_/)

    // The client asks until its budget is reached.
    const statuses: Array<number> = []
    while (statuses.at(-1) !== 429 && statuses.length < 20) statuses.push(await askWith(secret))
    assert.strictEqual(statuses[0], 200)
    assert.strictEqual(statuses.at(-1), 429)

    await go(page, "Requests", "r")
    await page.getByRole("gridcell", { name: "429" }).first().waitFor()
    await openNewest(page)
    const detail = page.getByRole("region", { name: "Request", exact: true })
    await detail.getByText("429").first().waitFor()
    await detail
      .getByText(/budget/i)
      .first()
      .waitFor()
    await detail.getByRole("link", { name: "client", exact: true }).waitFor()
  }, 180_000)
}

describe.skipIf(browserPath === null)("the first hour of a new user", () => {
  hour(mouse)
})

describe.skipIf(browserPath === null)("the first hour by the keyboard alone", () => {
  hour(keyboard)
})
