/** The page on which a person allows a login at the command line: by a code that is typed, and by a browser that goes back. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Machine } from "../http/logins/support.ts"
import { startIssuer, type TestIssuer } from "../support/issuer/TestIssuer.ts"
import { violations } from "./access.ts"
import { browserPath, world } from "./world.ts"

describe.skipIf(browserPath === null)("the page of a login at the command line", () => {
  const { enter, expect, gateway, manage, open } = world(
    { GATEWAY_ALLOW_LOCAL_PROVIDER_URLS: "true" },
    { sessions: "own" }
  )
  const scope = Effect.runSync(Scope.make())
  let issuer: TestIssuer

  beforeAll(async () => {
    issuer = await Effect.runPromise(Scope.extend(startIssuer, scope))
    const { issuer: made } = await manage<{ issuer: { redirectUri: string } }>("POST", "/api/issuers", {
      name: "Company",
      issuer: issuer.url,
      clientId: "gateway"
    })
    const client = { client_id: "gateway", token_endpoint_auth_method: "none", redirect_uris: [made.redirectUri] }
    await issuer.say({ clients: [client] })
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

  const signIn = async (page: Page): Promise<void> => {
    expect(new RegExp(`^asked of another host: ${issuer.url}/`))
    await page.getByRole("link", { name: "Sign in by Company" }).click()
    await page.getByRole("heading", { name: "Log in a command line" }).waitFor()
  }

  const checked = async (page: Page): Promise<void> => assert.deepStrictEqual(await violations(page), [])

  it("asks to sign in first, shows what asks, and allows it by keys alone", async () => {
    const machine = new Machine(gateway().url)
    await machine.begin("device", "Ada's <b>laptop</b>")
    const page = await open("login")
    await signIn(page)
    await checked(page)
    await page.getByLabel("Code").focus()
    await page.keyboard.type(machine.code.toLowerCase().replace("-", " "))
    await page.keyboard.press("Enter")
    const heading = page.getByRole("heading", { name: "Allow this login?" })
    await heading.waitFor()
    // What was typed on presses no button.
    assert.isTrue(await heading.evaluate((element) => element === document.activeElement))
    await page.getByText("Ada's <b>laptop</b>").waitFor()
    await page.getByText("127.0.0.1", { exact: true }).waitFor()
    await checked(page)
    assert.strictEqual((await machine.ask()).body.status, "pending")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.getByText("Allowed. Go on at the command line").waitFor()
    const other = new Machine(gateway().url)
    Object.assign(other, { secret: machine.secret })
    await new Promise((resolve) => setTimeout(resolve, 5_000))
    assert.strictEqual((await other.ask()).body.login.person.name, "Ada")
  })

  it("keeps the login over the way to the directory, and goes back to the machine alone", async () => {
    const machine = new Machine(gateway().url)
    await machine.begin("browser")
    const asked: Array<string> = []
    const page = await open(`login#request=${machine.code}`, {
      before: async (opened) => {
        await opened.route("http://127.0.0.1:49152/**", async (route) => {
          asked.push(route.request().url())
          await route.fulfill({ status: 200, contentType: "text/plain", body: "back" })
        })
      }
    })
    expect(/^asked of another host: http:\/\/127\.0\.0\.1:49152\//)
    await signIn(page)
    await page.getByRole("heading", { name: "Allow this login?" }).waitFor()
    assert.notInclude(page.url(), machine.code)
    assert.deepStrictEqual(asked, [])
    await page.getByRole("button", { name: "Allow the login" }).click()
    await page.waitForURL(/127\.0\.0\.1:49152/)
    const back = new URL(asked[0] ?? "")
    assert.strictEqual(back.searchParams.get("state"), machine.state)
    assert.strictEqual(back.searchParams.get("iss"), new URL(gateway().url).host)
    assert.strictEqual((await machine.ask(back.searchParams.get("code"))).body.login.person.name, "Ada")
  })

  it("says that a code is none, and refuses a login when that is wanted", async () => {
    const page = await open("login")
    await signIn(page)
    await page.getByLabel("Code").fill("BCDF-GHJK")
    await page.getByRole("button", { name: "Show what asks" }).click()
    await page.getByRole("alert").filter({ hasText: "No login that waits has this code" }).waitFor()
    const machine = new Machine(gateway().url)
    await machine.begin("device")
    await page.getByLabel("Code").fill(machine.code)
    await page.getByRole("button", { name: "Show what asks" }).click()
    await page.getByRole("button", { name: "Refuse" }).click()
    await page.getByText("Refused. The command line was told so.").waitFor()
    assert.strictEqual((await machine.ask()).body.status, "denied")
  })

  it("tells the administrator to sign in as a person", async () => {
    const page = await enter("login")
    await page.getByText("who is no person of a directory").waitFor()
    assert.strictEqual(await page.getByLabel("Code").count(), 0)
    await checked(page)
  })
})
