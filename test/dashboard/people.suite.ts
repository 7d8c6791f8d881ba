/** The dashboard of people who have signed in: what their roles open, and nothing else. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import type { Page } from "playwright-core"
import { startIssuer, type TestIssuer } from "../support/issuer/TestIssuer.ts"
import { violations } from "./access.ts"
import { shown } from "./views.ts"
import { browserPath, type PageOptions, world } from "./world.ts"

interface MadeKey {
  readonly secret: string
  readonly key: { readonly id: string }
}

const looks = [
  { colorScheme: "light", viewport: { width: 1280, height: 800 } },
  { colorScheme: "dark", viewport: { width: 390, height: 800 } }
] as const

describe.skipIf(browserPath === null)("the dashboard of people", () => {
  // No password was chosen here: the administrator is asked to, people are not.
  const { expect, gateway, manage, newFolder, open, run, upstream } = world(
    { GATEWAY_ALLOW_LOCAL_PROVIDER_URLS: "true", GATEWAY_ADMIN_PASSWORD: "" },
    { sessions: "own" }
  )
  const scope = Effect.runSync(Scope.make())
  let issuer: TestIssuer
  let team: string
  const ids = new Map<string, string>()
  /** Paths that were asked for and refused: a page asks for nothing that its reader may not see. */
  let refused: Array<string> = []

  afterEach(() => {
    const found = refused
    refused = []
    assert.deepStrictEqual(found, [])
  })

  /** Signs a person in; the claims of the account say who it is. */
  const signIn = async (sub: string, groups: ReadonlyArray<string> = [], options: PageOptions = {}): Promise<Page> => {
    await issuer.say({ account: { sub, name: sub, email: `${sub}@example.com`, email_verified: true, groups } })
    const page = await open("", options)
    expect(new RegExp(`^asked of another host: ${issuer.url}/`))
    await page.getByRole("link", { name: "Sign in by Company" }).click()
    await page.getByRole("navigation", { name: "Views" }).waitFor()
    page.on("response", (response) => {
      if (response.status() === 403) refused.push(new URL(response.url()).pathname)
    })
    return page
  }

  const askWith = async (secret: string): Promise<void> => {
    const answer = await fetch(`${gateway().url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "openai/gpt-4o-mini", messages: [{ role: "user", content: "Hello" }] })
    })
    await answer.text()
    assert.strictEqual(answer.status, 200)
  }

  const entriesOf = (page: Page): Promise<ReadonlyArray<string>> =>
    page.getByRole("navigation", { name: "Views" }).locator(".name").allInnerTexts()

  beforeAll(async () => {
    issuer = await Effect.runPromise(Scope.extend(startIssuer, scope))
    const { issuer: made } = await manage<{ issuer: { redirectUri: string } }>("POST", "/api/issuers", {
      name: "Company",
      issuer: issuer.url,
      clientId: "gateway",
      scopes: ["openid", "profile", "email", "groups"],
      defaultRole: "member",
      groups: [
        { group: "leads", role: "lead" },
        { group: "watchers", role: "viewer" },
        { group: "admins", role: "admin" }
      ]
    })
    await issuer.say({
      clients: [{ client_id: "gateway", token_endpoint_auth_method: "none", redirect_uris: [made.redirectUri] }]
    })
    await manage("POST", "/api/providers", {
      provider: "openai",
      name: "the account of the company",
      apiKey: "sk-abcdefghijklmnopqrstuvwx1",
      baseUrl: upstream().url
    })
    for (const [sub, groups] of [
      ["mia", []],
      ["lea", ["leads"]],
      ["max", []]
    ] as const) {
      const page = await signIn(sub, groups)
      const me = await page.evaluate(async () => (await fetch("/api/me")).json())
      ids.set(sub, me.person.id)
      await page.context().close()
    }
    const members = [ids.get("mia"), ids.get("lea")]
    const research = await manage<{ team: { id: string } }>("POST", "/api/teams", {
      name: "Research",
      members,
      budget: { dailyLimitUsd: 20 }
    })
    team = research.team.id
    const keyOf = (name: string, body: object): Promise<MadeKey> =>
      manage<MadeKey>("POST", "/api/keys", { name, ...body })
    const mine = await keyOf("mia's laptop", { userId: ids.get("mia"), teamId: team })
    const leads = await keyOf("lea's laptop", { userId: ids.get("lea"), teamId: team })
    const foreign = await keyOf("max's laptop", { userId: ids.get("max") })
    await manage("POST", "/api/usage/budget", { apiKeyId: mine.key.id, dailyLimitUsd: 2 })
    for (const { secret } of [mine, leads, foreign]) await askWith(secret)
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

  it("is one page for a member: the own keys, limits, requests and models, and how tools are set up", async () => {
    const page = await signIn("mia")
    await page.waitForURL(/\/dashboard\/me$/)
    await page.getByRole("heading", { name: "mia", exact: true }).waitFor()
    await page.getByRole("row", { name: /mia's laptop.*active.*\$0.00024 of \$2.00 a day/ }).waitFor()
    await page.getByRole("region", { name: "Research" }).getByText("$0.00047 of $20.00 a day").waitFor()
    await page.getByRole("row", { name: /openai\/gpt-4o-mini.*200 completed/ }).waitFor()
    await page.getByText("openai/gpt-4o-mini", { exact: true }).first().waitFor()
    await page.getByLabel("Tool", { exact: true }).selectOption("codex")
    await page.getByText(`gateway setup-codex --remote ${gateway().url} --api-key "$GATEWAY_API_KEY"`).waitFor()
    assert.deepStrictEqual(await entriesOf(page), ["Yours"])
    const text = await page.locator("body").innerText()
    for (const foreign of ["lea's", "max's", "the account of the company"]) assert.notInclude(text, foreign)
    assert.strictEqual(await page.getByRole("dialog").count(), 0)
    assert.strictEqual(await page.getByRole("button", { name: /Search or command/ }).count(), 0)
    for (const path of ["requests", "keys", "providers", "system/people"]) {
      await page.goto(`${gateway().url}/dashboard/${path}`)
      await page.getByText("The role 'member' does not open this view.").waitFor()
    }
    await page.getByRole("link", { name: "Your page" }).click()
    await page.waitForURL(/\/dashboard\/me$/)
  })

  it("gives a member another secret for an own key, once", async () => {
    const page = await signIn("mia")
    await page.getByRole("button", { name: /Give 'mia's laptop' a new secret/ }).click()
    await page.getByRole("dialog").getByRole("button", { name: "New secret" }).click()
    const secret = await page.getByRole("dialog").locator("pre").innerText()
    await askWith(secret.trim())
    // The command of the page does what it says, with a key of a member.
    const home = newFolder()
    const { code, stderr } = await run(
      ["setup-codex", "--remote", gateway().url, "--api-key", secret.trim(), "--dry-run"],
      { HOME: home, XDG_CONFIG_HOME: home, DATA_DIR: newFolder() }
    )
    assert.strictEqual(code, 0, stderr)
    await page.getByRole("button", { name: "Close" }).click()
    assert.notInclude(await page.locator("body").innerText(), secret.trim())
  })

  it("is shown to a lead with the keys and the requests of the teams, which can be given and asked for", async () => {
    const page = await signIn("lea", ["leads"])
    await page.getByRole("heading", { name: "lea", exact: true }).waitFor()
    assert.deepStrictEqual(await entriesOf(page), ["Yours", "Requests", "Keys & money"])
    await page.getByRole("link", { name: "Keys & money" }).click()
    await page.getByRole("link", { name: "mia's laptop" }).waitFor()
    assert.strictEqual(await page.getByText("max's laptop").count(), 0)
    await page.getByRole("button", { name: "Create a key" }).click()
    await page.getByLabel("Name").fill("for mia")
    await page.getByLabel("Person").selectOption({ label: "mia" })
    await page.getByRole("dialog").getByRole("button", { name: "Create a key" }).click()
    await page.getByText("Copy it now").or(page.getByText("shown")).first().waitFor()
    await page.getByRole("button", { name: "Close" }).click()
    await page.getByRole("link", { name: "for mia" }).waitFor()
    const { keys } = await manage<{ keys: ReadonlyArray<{ name: string; userId: string; teamId: string }> }>(
      "GET",
      "/api/keys"
    )
    assert.deepInclude(
      keys.find(({ name }) => name === "for mia"),
      { userId: ids.get("mia") ?? "", teamId: team }
    )
    await page.getByRole("link", { name: "Requests" }).first().click()
    await page.getByRole("gridcell", { name: "openai/gpt-4o-mini" }).first().click()
    await page.getByRole("region", { name: "Request", exact: false }).first().waitFor()
    await page.getByText("lea's laptop").or(page.getByText("mia's laptop")).first().waitFor()
    assert.strictEqual(await page.getByText("does not open this").count(), 0)
  })

  for (const look of looks) {
    it(`is without a violation of WCAG 2.2 AA, ${look.colorScheme} at ${look.viewport.width} px`, async () => {
      const page = await signIn("lea", ["leads"], look)
      for (const path of ["me", "requests", "keys"]) {
        await page.goto(`${gateway().url}/dashboard/${path}`)
        await shown(page)
        assert.deepStrictEqual(await violations(page), [], path)
        const isTooWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
        assert.isFalse(isTooWide, path)
      }
    })
  }
})
