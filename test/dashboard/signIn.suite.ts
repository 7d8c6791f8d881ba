/** The login by a real directory. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { startIssuer, type TestIssuer } from "../support/issuer/TestIssuer.ts"
import { browserPath, world } from "./world.ts"

describe.skipIf(browserPath === null)("the login by a directory", () => {
  const { expect, gateway, manage, open } = world({ GATEWAY_ALLOW_LOCAL_PROVIDER_URLS: "true" }, { sessions: "own" })
  const scope = Effect.runSync(Scope.make())
  let issuer: TestIssuer

  beforeAll(async () => {
    issuer = await Effect.runPromise(Scope.extend(startIssuer, scope))
    const { issuer: made } = await manage<{ issuer: { redirectUri: string } }>("POST", "/api/issuers", {
      name: "Company",
      issuer: issuer.url,
      clientId: "gateway",
      defaultRole: "admin"
    })
    const client = {
      client_id: "gateway",
      token_endpoint_auth_method: "none",
      redirect_uris: [made.redirectUri]
    }
    await issuer.say({ clients: [client] })
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

  it("leads to the dashboard with a session of the person, and ends at the issuer, too", async () => {
    const page = await open()
    expect(new RegExp(`^asked of another host: ${issuer.url}/`))
    await page.getByRole("link", { name: "Sign in by Company" }).click()
    await page.getByRole("heading", { name: "Home" }).waitFor()
    const me = await page.evaluate(async () => (await fetch("/api/me")).json())
    assert.deepInclude(me.person, { name: "Ada", role: "admin" })
    await page.reload()
    await page.getByRole("button", { name: "Log out" }).click()
    await page.waitForURL(/\/session\/end/)
    await page.goto(`${gateway().url}/dashboard/`)
    await page.getByRole("link", { name: "Sign in by Company" }).waitFor()
  })

  it("says on a page why somebody may not sign in", async () => {
    await issuer.say({ account: { sub: "eve", name: "Eve", email: "eve@example.com", email_verified: false } })
    const page = await open()
    expect(new RegExp(`^asked of another host: ${issuer.url}/`))
    await page.getByRole("link", { name: "Sign in by Company" }).click()
    await page.getByRole("heading", { name: "The sign-in failed" }).waitFor()
    await page.getByText("not verified").waitFor()
  })
})
