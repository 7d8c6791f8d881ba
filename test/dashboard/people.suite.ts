/** The dashboard of people who have signed in: what their roles open, and nothing else. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import type { Page } from "playwright-core"
import { eventually } from "../support/eventually.ts"
import { startIssuer, type TestIssuer } from "../support/issuer/TestIssuer.ts"
import { violations } from "./access.ts"
import { shown, wholeInSight } from "./views.ts"
import { browserPath, type PageOptions, world } from "./world.ts"

interface MadeKey {
  readonly secret: string
  readonly key: { readonly id: string }
}

const looks = [
  { colorScheme: "light", viewport: { width: 1280, height: 800 } },
  { colorScheme: "dark", viewport: { width: 390, height: 800 } }
] as const

const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth > innerWidth)

/** Waits until the feed has said what it tells. */
const expectSubscribed = (frames: ReadonlyArray<string>): Promise<unknown> =>
  eventually(
    "the subscription",
    () => frames,
    (all) => all.some((frame) => frame.includes('"subscribed"'))
  )

describe.skipIf(browserPath === null)("the dashboard of people", () => {
  // No password was chosen here: the administrator is asked to, people are not.
  const { expect, gateway, manage, newFolder, open, run, upstream } = world(
    { GATEWAY_ALLOW_LOCAL_PROVIDER_URLS: "true", GATEWAY_ADMIN_PASSWORD: "" },
    { sessions: "own" }
  )
  const scope = Effect.runSync(Scope.make())
  let issuer: TestIssuer
  let team: string
  let mine: MadeKey
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
    mine = await keyOf("mia's laptop", { userId: ids.get("mia"), teamId: team })
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

  it("shows who has only a key what the person and the teams may use, too", async () => {
    const page = await open("me")
    await page.getByLabel("API key").fill(mine.secret)
    await page.keyboard.press("Enter")
    await page.getByText("Research: $0.00047 of $20.00 a day").waitFor()
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

  it("is where who administers the gateway adds people and teams, changes them, and takes it back", async () => {
    const page = await signIn("ann", ["admins"])
    await page.goto(`${gateway().url}/dashboard/system/people`)
    await page.getByRole("row", { name: /mia.*mia@example.com.*member.*Research.*active.*in a directory/ }).waitFor()
    await page.getByRole("button", { name: "Add a person" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Name").fill("Zoe")
    await dialog.getByLabel("Email").fill("zoe@example.com")
    await dialog.getByLabel("Daily limit (USD)").fill("3")
    await dialog.getByRole("button", { name: "Add a person" }).click()
    await page.getByRole("link", { name: "Zoe" }).click()
    await page.getByText("$0.00 of $3.00 a day").waitFor()
    await page.getByRole("button", { name: "Suspend" }).click()
    await page.getByRole("button", { name: "Let in again" }).waitFor()
    await page.getByRole("button", { name: "Undo" }).click()
    await page.getByRole("button", { name: "Suspend" }).waitFor()

    await page.goto(`${gateway().url}/dashboard/system/teams`)
    await page.getByRole("button", { name: "Add a team" }).click()
    await dialog.getByLabel("Name").fill("Lab")
    await dialog.getByRole("button", { name: "Add a team" }).click()
    await page.getByRole("link", { name: "Lab" }).click()
    await page.getByLabel("Person").selectOption({ label: "Zoe" })
    await page.getByRole("button", { name: "Add to the team" }).click()
    await page.getByRole("link", { name: "Zoe" }).waitFor()
    await page.getByLabel("Team above").selectOption({ label: "Research" })
    await page.getByText("The team has another place.").waitFor()
    await page.getByRole("button", { name: "Take out Zoe" }).click()
    await page.getByText("No one is in the team.").waitFor()
    await page.getByText("Zoe is out of the team").locator("..").getByRole("button", { name: "Undo" }).click()
    await page.getByRole("link", { name: "Zoe" }).waitFor()
    await page.getByLabel("Rate").fill("1.5")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("× 1.5").waitFor()
    const labOf = async () => {
      const { teams } = await manage<{ teams: ReadonlyArray<Record<string, unknown>> }>("GET", "/api/teams")
      return teams.find(({ name }) => name === "Lab")
    }
    const lab = await labOf()
    assert.deepInclude(lab, { parent: team, rate: 1.5 })
    assert.lengthOf(lab?.["members"] as ReadonlyArray<string>, 1)
    await page
      .getByRole("banner")
      .or(page.locator(".area-head"))
      .getByRole("button", { name: "Remove" })
      .first()
      .click()
    await dialog.getByRole("textbox").fill("Lab")
    await dialog.getByRole("button", { name: "Remove" }).click()
    await page.waitForURL(/\/system\/teams$/)
    await page.getByRole("link", { name: "Research" }).waitFor()
    assert.isUndefined(await labOf())
    await page.getByRole("searchbox", { name: "Search teams" }).fill("nothing has this name")
    await page.getByText("No team has such a name.").waitFor()
  })

  it("follows the own requests of a member as they end, and says who may see their content", async () => {
    await manage("PUT", `/api/teams/${team}`, { content: "leads", contentNotice: "Lea may look at what was reported." })
    const keyOf = (name: string, body: object): Promise<MadeKey> =>
      manage<MadeKey>("POST", "/api/keys", { name, ...body })
    const own = await keyOf("mia's desk", { userId: ids.get("mia"), teamId: team })
    const foreign = await keyOf("max's desk", { userId: ids.get("max") })
    const frames: Array<string> = []
    const page = await signIn("mia")
    page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => frames.push(String(payload))))
    await page.reload()
    await page.getByText("Lea may look at what was reported.").waitFor()
    const last = page.getByRole("region", { name: "The last requests" })
    await last.getByRole("table").waitFor()
    const before = await last.getByRole("row").count()
    await expectSubscribed(frames)
    await askWith(foreign.secret)
    await askWith(own.secret)
    // Nothing is asked for by time: the feed brings it.
    await last.getByRole("row").nth(before).waitFor()
    assert.strictEqual(await last.getByRole("row").count(), before + 1)
    const told = frames.filter((frame) => frame.includes('"event"'))
    assert.isTrue(told.some((frame) => frame.includes(own.key.id)))
    assert.isFalse(told.some((frame) => frame.includes(foreign.key.id)))
    await page.context().close()
  })

  for (const look of looks) {
    it(`is without a violation of WCAG 2.2 AA, ${look.colorScheme} at ${look.viewport.width} px`, async () => {
      const check = async (page: Page, paths: ReadonlyArray<string>): Promise<void> => {
        for (const path of paths) {
          await page.goto(`${gateway().url}/dashboard/${path}`)
          await shown(page)
          await wholeInSight(page, look.viewport.width)
          assert.deepStrictEqual(await violations(page), [], path)
          assert.isFalse(await isTooWide(page), path)
          await page.setViewportSize(look.viewport)
        }
      }
      const people = ["system/people", `system/people/${ids.get("mia")}`, "system/teams", `system/teams/${team}`]
      await check(await signIn("ann", ["admins"], look), people)
      await check(await signIn("lea", ["leads"], look), ["me", "requests", "keys", "keys/month"])
      await check(await signIn("vic", ["watchers"], look), ["me", "keys", "keys/month"])
    })
  }
})
