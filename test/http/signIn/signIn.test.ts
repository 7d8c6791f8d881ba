/** Sign-in of people by a real issuer: who they are then, what they may do, and when it ends. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { managementRoutes } from "../../../src/contract/ManagementRoutes.ts"
import { rights } from "../../../src/contract/tiers/Rights.ts"
import { userRoles } from "../../../src/subjects/users/entity.ts"
import { Browser, type TestIssuer } from "../../support/issuer/TestIssuer.ts"
import type { TestGateway } from "../../support/TestGateway.ts"
import { account, register, setUp } from "./support.ts"

const test = (name: string, body: (gateway: TestGateway, issuer: TestIssuer) => Promise<void>) =>
  it.scopedLive(
    name,
    () =>
      Effect.gen(function* () {
        const { gateway, issuer } = yield* setUp
        yield* Effect.promise(() => body(gateway, issuer))
      }),
    // An issuer of its own is started, and the first request loads the handlers.
    { timeout: 90_000 }
  )

interface Person {
  readonly id: string
  readonly name: string
  readonly role: string
  readonly source: string
  readonly issuer: string | null
  readonly teams: ReadonlyArray<string>
}

const peopleOf = async (gateway: TestGateway): Promise<ReadonlyArray<Person>> =>
  (await gateway.manage("GET", "/api/users")).users

const meOf = async (gateway: TestGateway, browser: Browser) => {
  const response = await browser.get(`${gateway.url}/api/me`)
  return { status: response.status, body: (await response.json()) as ReturnType<typeof JSON.parse> }
}

const statusOf = async (gateway: TestGateway, browser: Browser, path: string): Promise<number> =>
  (await browser.get(gateway.url + path)).status

const signedIn = async (gateway: TestGateway, id: string): Promise<Browser> => {
  const browser = new Browser()
  const { page, status } = await browser.signIn(gateway.url, id)
  assert.strictEqual(status, 200, page)
  return browser
}

describe("a sign-in", () => {
  test("makes a person at first, whose session has the rights of the role", async (gateway, issuer) => {
    const id = await register(gateway, issuer)
    const browser = await signedIn(gateway, id)
    const people = await peopleOf(gateway)
    assert.deepStrictEqual(
      people.map(({ issuer: at, name, role, source }) => ({ at, name, role, source })),
      [{ at: issuer.url, name: "Ada", role: "member", source: "oidc" }]
    )
    const { body } = await meOf(gateway, browser)
    assert.deepStrictEqual(body.person, { id: people[0]?.id, name: "Ada", role: "member" })
    assert.strictEqual(body.principal.type, "session")
    assert.strictEqual(body.rights.readKeys, "own")
    assert.strictEqual(body.rights.administer, "none")
    assert.strictEqual(await statusOf(gateway, browser, "/api/keys"), 200)
    assert.strictEqual(await statusOf(gateway, browser, "/api/providers"), 403)
    assert.strictEqual(await statusOf(gateway, browser, "/api/settings/feature-flags"), 403)
    assert.strictEqual(await statusOf(gateway, browser, "/api/auth/session"), 200)
    const { page } = await new Browser().signIn(gateway.url, id)
    assert.include(page, 'content="0; url=/dashboard/"')
    assert.strictEqual((await peopleOf(gateway)).length, 1)
  })

  test("opens each route by the role alone, in every role", async (gateway, issuer) => {
    const browser = await signedIn(gateway, await register(gateway, issuer))
    const [ada] = await peopleOf(gateway)
    const wrong: Array<string> = []
    for (const role of userRoles) {
      await gateway.manage("PUT", `/api/users/${ada?.id}`, { role })
      for (const { key, method, operation, path, tier } of managementRoutes) {
        // Without the token no request changes anything; the right is asked for before it.
        if (tier !== "manage" && tier !== "session") continue
        const url = gateway.url + path.replaceAll(/:\w+/g, "none")
        const response = await browser.get(url, { method })
        const text = response.status === 403 ? await response.text() : ""
        // Some answers do not end.
        if (response.status !== 403) await response.body?.cancel()
        const isRefused = text.includes('"key_scope"')
        if (isRefused !== (rights[operation][role] === "none")) wrong.push(`${role} ${key}: ${response.status} ${text}`)
      }
    }
    assert.deepStrictEqual(wrong, [])
  })

  test("shows a person's session the own keys only, and lets none act with others' keys", async (gateway, issuer) => {
    const id = await register(gateway, issuer)
    const browser = await signedIn(gateway, id)
    const [ada] = await peopleOf(gateway)
    const own = await gateway.manage("POST", "/api/keys", { name: "own", userId: ada?.id })
    const other = await gateway.manage("POST", "/api/keys", { name: "other" })
    const listed = (await (await browser.get(`${gateway.url}/api/keys`)).json()) as {
      keys: ReadonlyArray<{ id: string }>
    }
    assert.deepStrictEqual(
      listed.keys.map((key) => key.id),
      [own.key.id]
    )
    assert.strictEqual(await statusOf(gateway, browser, `/api/keys/${other.key.id}`), 404)
    const session = (await (await browser.get(`${gateway.url}/api/auth/session`)).json()) as { csrfToken: string }
    const page = { "x-csrf-token": session.csrfToken, "sec-fetch-site": "same-origin" }
    const as = async (key: string) =>
      (await browser.get(`${gateway.url}/v1/models`, { headers: { ...page, "x-gateway-as-key": key } })).status
    assert.strictEqual(await as(own.key.id), 200)
    assert.strictEqual(await as(other.key.id), 403)
  })

  test("gives role and teams by groups, anew each time", async (gateway, issuer) => {
    const { team } = await gateway.manage("POST", "/api/teams", { name: "Research" })
    const groups = [
      { group: "leads", role: "lead", team: team.id },
      { group: "admins", role: "admin" }
    ]
    const id = await register(gateway, issuer, { groups })
    await issuer.say(account("ada", { groups: ["leads", "admins", "others"] }))
    await signedIn(gateway, id)
    const membersOf = async () => (await gateway.manage("GET", `/api/teams/${team.id}`)).team.members
    const [ada] = await peopleOf(gateway)
    assert.strictEqual(ada?.role, "admin")
    assert.deepStrictEqual(await membersOf(), [ada?.id])
    await issuer.say(account("ada", { groups: [] }))
    await signedIn(gateway, id)
    assert.strictEqual((await peopleOf(gateway))[0]?.role, "member")
    assert.deepStrictEqual(await membersOf(), [])
  })

  test("ends when the person is suspended or removed, or the issuer is switched off", async (gateway, issuer) => {
    const id = await register(gateway, issuer)
    const browser = await signedIn(gateway, id)
    const [ada] = await peopleOf(gateway)
    const path = `/api/users/${ada?.id}`
    await gateway.manage("PUT", path, { state: "suspended" })
    assert.strictEqual(await statusOf(gateway, browser, "/api/auth/session"), 401)
    const refused = await new Browser().signIn(gateway.url, id)
    assert.strictEqual(refused.status, 403)
    assert.include(refused.page, "suspended")
    await gateway.manage("PUT", path, { state: "active" })
    assert.strictEqual(await statusOf(gateway, browser, "/api/auth/session"), 401)
    const again = await signedIn(gateway, id)
    await gateway.manage("DELETE", path)
    assert.strictEqual(await statusOf(gateway, again, "/api/auth/session"), 401)
    const third = await signedIn(gateway, id)
    await gateway.manage("PUT", `/api/issuers/${id}`, { enabled: false })
    assert.strictEqual(await statusOf(gateway, third, "/api/auth/session"), 401)
    assert.deepStrictEqual((await (await fetch(`${gateway.url}/api/sign-in`)).json()) as unknown, { issuers: [] })
  })

  test("ends at the issuer, too", async (gateway, issuer) => {
    const id = await register(gateway, issuer)
    const browser = await signedIn(gateway, id)
    const session = (await (await browser.get(`${gateway.url}/api/auth/session`)).json()) as { csrfToken: string }
    const response = await browser.get(`${gateway.url}/api/sign-in/logout`, {
      method: "POST",
      headers: { "x-csrf-token": session.csrfToken }
    })
    const { url } = (await response.json()) as { url: string }
    assert.isTrue(url.startsWith(`${issuer.url}/session/end?`), url)
    assert.strictEqual(await statusOf(gateway, browser, "/api/auth/session"), 401)
  })
})
