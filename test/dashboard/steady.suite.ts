/** What becomes of an open page when the gateway, the proxy before it, the session or the clock do something: nothing typed is lost, and it says so. */
import { afterAll, assert, afterEach, beforeEach, describe, it } from "vitest"
import type { Page } from "playwright-core"
import { adminKey, browserPath, logIn, password, world } from "./world.ts"
import { type Proxy, startProxy } from "./proxy.ts"

interface Named {
  readonly name: string
}

describe.skipIf(browserPath === null)("an open page", () => {
  const { another, dataDir, enter, expect, gateway, manage, newFolder, open } = world({}, { sessions: "own" })
  let proxy: Proxy

  beforeEach(async () => {
    proxy = await startProxy(gateway().url)
  })
  // The pages are closed first.
  const proxies: Array<Proxy> = []
  afterEach(() => void proxies.push(proxy))
  afterAll(() => {
    for (const one of proxies) one.stop()
  })

  const typed = "status:failed model:gpt-4o"
  const filterOf = (page: Page) => page.getByLabel("Filter")
  /** What Chromium says when nobody answers. */
  const expectAway = (): void => {
    expect(/net::ERR_/)
    expect(/WebSocket/)
  }
  const seen = (page: Page, text: string | RegExp) => page.locator(".bar").getByText(text).waitFor()

  it("says since when the gateway is away, keeps what is typed, and goes on when it is back", async () => {
    expectAway()
    const page = await enter("keys", { at: proxy.url })
    await seen(page, "live")
    await page.getByRole("button", { name: "Create a key" }).click()
    await page.getByRole("dialog").getByLabel("Name").fill("typed before")
    proxy.faults.isAway = true
    proxy.cutOpen()
    await seen(page, /^gateway unreachable since \d/)
    // What is sent now says so and stays.
    await page.getByRole("dialog").getByRole("button", { name: "Create a key" }).click()
    await page.getByRole("dialog").getByText("The gateway does not answer.").waitFor()
    assert.strictEqual(await page.getByRole("dialog").getByLabel("Name").inputValue(), "typed before")
    await manage("POST", "/api/keys", { name: "made meanwhile" })
    proxy.faults.isAway = false
    await seen(page, "live")
    await page.getByRole("row", { name: /^made meanwhile/ }).waitFor()
    await page.getByRole("dialog").getByRole("button", { name: "Create a key" }).click()
    await page.getByRole("dialog").getByText("Copy it now").waitFor()
    const { keys } = await manage<{ keys: ReadonlyArray<Named> }>("GET", "/api/keys")
    assert.lengthOf(
      keys.filter(({ name }) => name === "typed before"),
      1
    )
  })

  it("stays signed in over a restart of the gateway", async () => {
    expectAway()
    const folder = newFolder()
    const first = await another(folder)
    proxy.faults.target = first.url
    const page = await enter("requests", { at: proxy.url })
    await filterOf(page).fill(typed)
    await seen(page, "live")
    await first.stop("SIGTERM")
    await seen(page, /^gateway unreachable since/)
    proxy.faults.target = (await another(folder)).url
    await seen(page, "live")
    assert.strictEqual(await filterOf(page).inputValue(), typed)
    assert.strictEqual(await page.getByRole("dialog", { name: "Log in" }).count(), 0)
  })

  it("asks to log in, over the page, when a gateway with another data folder answers, and shows that one's", async () => {
    expectAway()
    await manage("POST", "/api/keys", { name: "of the first gateway" })
    const page = await enter("keys", { at: proxy.url })
    await page.getByRole("row", { name: /^of the first gateway/ }).waitFor()
    await page.getByRole("button", { name: "Create a key" }).click()
    await page.getByRole("dialog", { name: "Create a key" }).getByLabel("Name").fill("typed before")
    const other = await another(newFolder())
    await fetch(`${other.url}/api/keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "of the other gateway" })
    })
    proxy.faults.target = other.url
    proxy.cutOpen()
    const login = page.getByRole("dialog", { name: "Log in" })
    await login.getByText("Your session has ended, or another gateway answers.").waitFor()
    await login.getByLabel("Admin password").fill(password)
    await page.keyboard.press("Enter")
    await login.waitFor({ state: "hidden" })
    await seen(page, "live")
    assert.strictEqual(
      await page.getByRole("dialog", { name: "Create a key" }).getByLabel("Name").inputValue(),
      "typed before"
    )
    await page.getByRole("dialog", { name: "Create a key" }).getByRole("button", { name: "Cancel" }).click()
    await page.getByRole("row", { name: /^of the other gateway/ }).waitFor()
    assert.strictEqual(await page.getByRole("row", { name: /^of the first gateway/ }).count(), 0)
  })

  it("offers to load another version, newer or older, and keeps what was typed when it is loaded", async () => {
    expect(/WebSocket/)
    const page = await enter("playground", { at: proxy.url })
    const prompt = page.getByLabel("Prompt", { exact: true })
    await prompt.fill("A long question\nof two lines")
    await page.locator("summary", { hasText: "Parameters" }).click()
    await page.getByLabel("Most tokens").fill("77")
    await page.locator("#model-1").fill("openai/gpt-4o")
    await seen(page, "live")
    assert.strictEqual(await page.getByRole("button", { name: "Load it" }).count(), 0)
    proxy.faults.headers = (headers) =>
      headers["x-gateway-dashboard-build"] === undefined
        ? headers
        : { ...headers, "x-gateway-dashboard-build": "another" }
    proxy.cutOpen()
    await page.getByText("The gateway has another version of the dashboard now. What you typed is kept.").waitFor()
    assert.strictEqual(await prompt.inputValue(), "A long question\nof two lines")
    proxy.faults.headers = (headers) => headers
    await page.getByRole("button", { name: "Load it" }).click()
    await page.waitForFunction(() =>
      [...document.querySelectorAll("textarea")].some(({ value }) => value.includes("two lines"))
    )
    assert.strictEqual(await prompt.inputValue(), "A long question\nof two lines")
    assert.strictEqual(await page.getByLabel("Most tokens").inputValue(), "77")
    assert.strictEqual(await page.locator("#model-1").inputValue(), "openai/gpt-4o")
    assert.strictEqual(await page.getByRole("button", { name: "Load it" }).count(), 0)
    // It was for this load only, and is in no storage.
    const [state, ...stored] = await page.evaluate(() =>
      [history.state, { ...localStorage }, { ...sessionStorage }].map((kept) => JSON.stringify(kept))
    )
    assert.notInclude(state, "two lines")
    assert.deepStrictEqual(stored, ["{}", "{}"])
  })

  it("says that no feed comes through a proxy that cuts sockets, and shows what is new all the same", async () => {
    expect(/WebSocket/)
    proxy.faults.cutsSockets = true
    const page = await enter("keys", { at: proxy.url })
    await seen(page, "no live feed, asked again and again")
    await manage("POST", "/api/keys", { name: "seen without a feed" })
    await page.getByRole("row", { name: /^seen without a feed/ }).waitFor()
    proxy.faults.cutsSockets = false
    await seen(page, "live")
  })

  it("works behind a proxy that takes a path away", async () => {
    proxy.faults.prefix = "/llm"
    const page = await enter("requests", { at: `${proxy.url}/llm` })
    await seen(page, "live")
    await page.getByRole("link", { name: "Keys & money" }).click()
    await page.getByRole("heading", { name: "Keys & money" }).waitFor()
    assert.strictEqual(new URL(page.url()).pathname, "/llm/dashboard/keys")
    const [cookie] = await page.context().cookies()
    assert.deepInclude(cookie, { name: "gateway_session", path: "/llm", httpOnly: true, sameSite: "Strict" })
  })

  it("says why what is for the gateway's own machine is closed behind a proxy", async () => {
    proxy.faults.prefix = "/llm"
    const page = await enter("system/inspectorList", { at: `${proxy.url}/llm` })
    await page.locator("form button[type=submit]").click()
    await page.getByText("Only on the gateway's own machine").waitFor()
    await page.getByText("Open the dashboard there: gateway open.").waitFor()
  })

  it("asks for a lost socket after half a second, then ever more rarely, at most every 30 seconds", async () => {
    expect(/WebSocket/)
    proxy.faults.cutsSockets = true
    const page = await enter("keys", {
      at: proxy.url,
      before: async (opened) => {
        await opened.clock.install()
        // How long each try was waited for: the delay of the timer that made it. The time that answers take is no part of it.
        await opened.addInitScript(() => {
          const waits: Array<number | null> = []
          let waited: number | null = null
          const set = globalThis.setTimeout
          const Own = WebSocket
          Object.assign(globalThis, {
            waits,
            setTimeout: (run: () => void, delayMs: number) =>
              set(() => {
                waited = delayMs
                run()
                waited = null
              }, delayMs),
            WebSocket: class extends Own {
              constructor(url: string) {
                super(url)
                waits.push(waited)
              }
            }
          })
        })
      }
    })
    const waits = () => page.evaluate(() => (globalThis as unknown as { readonly waits: Array<number | null> }).waits)
    while ((await waits()).length < 11) await page.clock.fastForward(1_000)
    // The first one is made by the view.
    assert.deepStrictEqual(
      (await waits()).slice(1, 11),
      [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000, 30_000]
    )
  })

  it("keeps only what needs a person while it is hidden, and catches up when it is seen", async () => {
    const sent: Array<string> = []
    const page = await enter("keys", {
      at: proxy.url,
      before: async (opened) => {
        opened.on("websocket", (socket) => socket.on("framesent", ({ payload }) => sent.push(String(payload))))
      }
    })
    await seen(page, "live")
    const turn = (state: "hidden" | "visible") =>
      page.evaluate((value) => {
        Object.defineProperty(document, "visibilityState", { value, configurable: true })
        document.dispatchEvent(new Event("visibilitychange"))
      }, state)
    await turn("hidden")
    await page.waitForFunction(() => true)
    assert.deepStrictEqual(JSON.parse(sent.at(-1) ?? "{}"), { type: "subscribe", channels: ["attention"] })
    await manage("POST", "/api/keys", { name: "made while hidden" })
    await turn("visible")
    await page.getByRole("row", { name: /^made while hidden/ }).waitFor()
    assert.include(sent.at(-1), "config")
  })

  it("says when the clocks are an hour apart, and shows the gateway's times", async () => {
    await manage("POST", "/api/keys", { name: "of now" })
    for (const [hours, words] of [
      [-1, /behind the gateway's/],
      [1, /ahead of the gateway's/]
    ] as const) {
      const page = await enter("keys", {
        at: proxy.url,
        before: (opened) => opened.clock.install({ time: Date.now() + hours * 3_600_000 })
      })
      await page.getByText(words).waitFor()
      assert.match(await page.locator(".notice").innerText(), /1:00 h|59:5\d min/)
    }
    const page = await enter("keys", { at: proxy.url })
    await seen(page, "live")
    assert.strictEqual(await page.locator(".notice").count(), 0)
  })

  it("asks again over an open dialog when its session ends in mid-edit, at once", async () => {
    expect(/WebSocket/)
    const page = await enter("keys", { at: proxy.url })
    await seen(page, "live")
    await page.getByRole("button", { name: "Create a key" }).click()
    const dialog = page.getByRole("dialog", { name: "Create a key" })
    await dialog.getByLabel("Name").fill("half typed")
    await manage("DELETE", "/api/auth/sessions")
    const login = page.getByRole("dialog", { name: "Log in" })
    await login.getByLabel("Admin password").fill("wrong")
    await page.keyboard.press("Enter")
    await login.getByText("The password is wrong.").waitFor()
    await login.getByLabel("Admin password").fill(password)
    await page.keyboard.press("Enter")
    await login.waitFor({ state: "hidden" })
    assert.strictEqual(await dialog.getByLabel("Name").inputValue(), "half typed")
    await dialog.getByRole("button", { name: "Create a key" }).click()
    await page.getByText("Copy it now").waitFor()
    await seen(page, "live")
  })

  it("goes on when another tab of the browser logs in anew", async () => {
    expect(/WebSocket/)
    const page = await enter("keys", { at: proxy.url })
    const tab = await page.context().newPage()
    await tab.goto(`${proxy.url}/dashboard/`)
    await tab.getByRole("button", { name: "Log out" }).click()
    await logIn(tab)
    // The first tab has the token of the session before.
    await page.getByRole("button", { name: "Create a key" }).click()
    const dialog = page.getByRole("dialog", { name: "Create a key" })
    await dialog.getByLabel("Name").fill("by the first tab")
    await dialog.getByRole("button", { name: "Create a key" }).click()
    await page.getByText("Copy it now").waitFor()
  })

  it("shows the waiting time of the login throttle", async () => {
    const other = await another(newFolder())
    proxy.faults.target = other.url
    const page = await open("", { at: proxy.url })
    const field = page.getByLabel("Admin password")
    for (let tries = 0; tries < 9; tries++) {
      await field.fill(`wrong ${tries}`)
      await page.keyboard.press("Enter")
      await page.getByRole("button", { name: "Log in" }).and(page.locator(":enabled")).waitFor()
    }
    await page.getByText("Too many logins were tried.").waitFor()
    assert.isNotEmpty(dataDir())
  })
})
