/** Sign-ins that are not good: what comes back from the issuer is altered, old, another's, or does not come. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Browser, type TestIssuer } from "../../support/issuer/TestIssuer.ts"
import type { TestGateway } from "../../support/TestGateway.ts"
import { account, register, setUp } from "./support.ts"

const test = (name: string, body: (gateway: TestGateway, issuer: TestIssuer, id: string) => Promise<void>) =>
  it.scopedLive(
    name,
    () =>
      Effect.gen(function* () {
        const { gateway, issuer } = yield* setUp
        yield* Effect.promise(async () => body(gateway, issuer, await register(gateway, issuer)))
      }),
    // An issuer of its own is started, and the first request loads the handlers.
    { timeout: 90_000 }
  )

const sessions = async (gateway: TestGateway): Promise<number> =>
  (await gateway.manage("GET", "/api/auth/sessions")).total

/** Signs in, which is refused with a page that says why; nobody is signed in, and no person is made. */
const refused = async (gateway: TestGateway, id: string, status: number, words: string): Promise<void> => {
  const answer = await new Browser().signIn(gateway.url, id)
  assert.strictEqual(answer.status, status, answer.page)
  assert.include(answer.page, words)
  assert.strictEqual(await sessions(gateway), 0)
  assert.deepStrictEqual((await gateway.manage("GET", "/api/users")).users, [])
}

const open = async (browser: Browser, url: string) => {
  const response = await browser.get(url)
  return { status: response.status, page: await response.text() }
}

const minutes = 60_000

describe("an ID token", () => {
  test("for another client is refused", async (gateway, issuer, id) => {
    await issuer.say({ altered: { aud: "another-client" } })
    await refused(gateway, id, 502, "for another client (aud)")
  })

  test("of another issuer is refused", async (gateway, issuer, id) => {
    await issuer.say({ altered: { iss: "https://other.example" } })
    await refused(gateway, id, 502, "iss")
  })

  test("without the nonce, or with another, is refused", async (gateway, issuer, id) => {
    await issuer.say({ altered: { nonce: null } })
    await refused(gateway, id, 502, "nonce")
    await issuer.say({ altered: { nonce: "another" } })
    await refused(gateway, id, 502, "nonce")
  })

  test("with a signature of another key is refused", async (gateway, issuer, id) => {
    await issuer.say({ isForged: true })
    await refused(gateway, id, 502, "signature")
  })

  test("of a clock that is five minutes late is refused once it is over, and taken while it is not", async (gateway, issuer, id) => {
    await issuer.say({ clockOffsetMs: -5 * minutes, idTokenS: 60 })
    await refused(gateway, id, 502, "clocks")
    await issuer.say({ idTokenS: 3600 })
    assert.strictEqual((await new Browser().signIn(gateway.url, id)).status, 200)
  })

  test("that counts only in five minutes, by a clock that is ahead, is refused", async (gateway, issuer, id) => {
    const nowS = Math.floor(Date.now() / 1000)
    await issuer.say({ clockOffsetMs: 5 * minutes, altered: { nbf: nowS + 300 } })
    await refused(gateway, id, 502, "clocks")
  })

  test("is checked by new keys at once when the issuer has changed its keys", async (gateway, issuer, id) => {
    assert.strictEqual((await new Browser().signIn(gateway.url, id)).status, 200)
    await issuer.say({ rotate: true })
    assert.strictEqual((await new Browser().signIn(gateway.url, id)).status, 200)
    assert.strictEqual((await gateway.manage("GET", "/api/users")).total, 1)
  })
})

describe("a way back", () => {
  test("counts once, and only in the browser that began it", async (gateway, _, id) => {
    const browser = new Browser()
    const url = await browser.wayBack(gateway.url, id)
    const jar = new Map(browser.cookies(gateway.url))
    assert.strictEqual((await open(new Browser(), url)).status, 400)
    assert.strictEqual((await open(browser, url)).status, 200)
    for (const [name, value] of jar) browser.cookies(gateway.url).set(name, value)
    const again = await open(browser, url)
    assert.strictEqual(again.status, 400)
    assert.include(again.page, "used already")
    assert.strictEqual(await sessions(gateway), 1)
  })

  test("with another state, at another issuer, or with an altered cookie is refused", async (gateway, issuer, id) => {
    const { issuer: other } = await gateway.manage("POST", "/api/issuers", {
      name: "Other",
      issuer: issuer.url,
      clientId: "other"
    })
    const browser = new Browser()
    const url = await browser.wayBack(gateway.url, id)
    const another = new URL(url)
    another.searchParams.set("state", "another")
    assert.strictEqual((await open(browser, another.href)).status, 400)
    assert.strictEqual((await open(browser, url.replace(id, other.id))).status, 400)
    const jar = browser.cookies(gateway.url)
    const value = jar.get("gateway_sign_in") ?? ""
    jar.set("gateway_sign_in", value.slice(0, -8) + "AAAAAAAA")
    assert.strictEqual((await open(browser, url)).status, 400)
    assert.strictEqual(await sessions(gateway), 0)
  })

  test("that names another issuer (iss), or an error, is refused", async (gateway, _, id) => {
    const browser = new Browser()
    const url = new URL(await browser.wayBack(gateway.url, id))
    url.searchParams.set("iss", "https://other.example")
    assert.strictEqual((await open(browser, url.href)).status, 502)
    const denied = new URL(await browser.wayBack(gateway.url, id))
    denied.searchParams.delete("code")
    denied.searchParams.set("error", "access_denied")
    const answer = await open(browser, denied.href)
    assert.strictEqual(answer.status, 502)
    assert.include(answer.page, "access_denied")
    assert.strictEqual(await sessions(gateway), 0)
  })

  test("is throttled as the login is", async (gateway, _, id) => {
    const browser = new Browser()
    const statuses: Array<number> = []
    for (let tries = 0; tries < 12; tries += 1) {
      statuses.push((await browser.get(`${gateway.url}/api/sign-in/${id}/callback?state=guess&code=guess`)).status)
    }
    assert.include(statuses, 429)
    assert.strictEqual(statuses.at(-1), 429)
  })
})

describe("an account", () => {
  test("whose e-mail address is not verified is refused", async (gateway, issuer, id) => {
    await issuer.say(account("eve", { email_verified: false }))
    await refused(gateway, id, 403, "not verified")
  })

  test("without an e-mail address is refused", async (gateway, issuer, id) => {
    await issuer.say({ account: { sub: "eve", name: "Eve", groups: [] } })
    await refused(gateway, id, 403, "no e-mail address")
  })

  test("of another domain, or in none of the groups, is refused", async (gateway, issuer, id) => {
    await gateway.manage("PUT", `/api/issuers/${id}`, { allowedDomains: ["Company.example"] })
    await issuer.say(account("eve", { email: "eve@company.example.evil.example" }))
    await refused(gateway, id, 403, "domain")
    await gateway.manage("PUT", `/api/issuers/${id}`, { allowedGroups: ["staff"] })
    await issuer.say(account("eve", { email: "eve@company.example", groups: ["guests"] }))
    await refused(gateway, id, 403, "groups")
    await issuer.say(account("eve", { email: "eve@COMPANY.example", groups: ["staff"] }))
    assert.strictEqual((await new Browser().signIn(gateway.url, id)).status, 200)
  })

  test("of a domain whose address the issuer says nothing of is refused", async (gateway, issuer, id) => {
    await gateway.manage("PUT", `/api/issuers/${id}`, { allowedDomains: ["example.com"] })
    await issuer.say({ account: { sub: "eve", name: "Eve", email: "eve@example.com", groups: [] } })
    await refused(gateway, id, 403, "allowedDomains")
  })

  test("that no group gives a role is refused where there is no other", async (gateway, issuer, id) => {
    const groups = [{ group: "leads", role: "lead" }]
    await gateway.manage("PUT", `/api/issuers/${id}`, { groups, defaultRole: null })
    await refused(gateway, id, 403, "has a role here")
    await issuer.say(account("lea", { groups: ["leads"] }))
    assert.strictEqual((await new Browser().signIn(gateway.url, id)).status, 200)
  })

  test("with controls in its name has a plain one", async (gateway, issuer, id) => {
    await issuer.say(account("eve", { name: "E\u001b[31mve\u202e\r\n Doe" }))
    assert.strictEqual((await new Browser().signIn(gateway.url, id)).status, 200)
    assert.strictEqual((await gateway.manage("GET", "/api/users")).users[0].name, "E [31mve Doe")
  })
})

describe("two issuers", () => {
  it.scopedLive("make two people of one e-mail address, beside one who is kept here", () =>
    Effect.gen(function* () {
      const { gateway, issuer } = yield* setUp
      const second = (yield* setUp).issuer
      yield* Effect.promise(async () => {
        await gateway.manage("POST", "/api/users", { name: "Local", email: "ada@example.com", role: "admin" })
        const ids = [await register(gateway, issuer), await register(gateway, second)]
        for (const id of ids) assert.strictEqual((await new Browser().signIn(gateway.url, id)).status, 200)
        const { users } = await gateway.manage("GET", "/api/users")
        assert.deepStrictEqual(
          users.map(({ email, issuer: at, role }: Readonly<Record<string, unknown>>) => [email, at, role]),
          [
            ["ada@example.com", null, "admin"],
            ["ada@example.com", issuer.url, "member"],
            ["ada@example.com", second.url, "member"]
          ]
        )
      })
    })
  )
})

describe("an issuer", () => {
  test("that is away says so, at the beginning and at the way back", async (gateway, issuer, id) => {
    const browser = new Browser()
    const url = await browser.wayBack(gateway.url, id)
    await issuer.stop()
    const back = await open(browser, url)
    assert.strictEqual(back.status, 502)
    assert.include(back.page, "could not be asked")
    await gateway.manage("PUT", `/api/issuers/${id}`, { name: "Away" })
    assert.strictEqual((await open(browser, `${gateway.url}/api/sign-in/${id}/begin`)).status, 502)
    const report = await gateway.manage("POST", `/api/issuers/${id}/test`)
    assert.isFalse(report.ok)
    assert.include(report.problems[0], "could not be asked")
  })

  test("is found good by its test, and wrong where its address or scopes are", async (gateway, issuer, id) => {
    assert.deepInclude(await gateway.manage("POST", `/api/issuers/${id}/test`), {
      ok: true,
      problems: [],
      endSession: true
    })
    await gateway.manage("PUT", `/api/issuers/${id}`, { scopes: ["openid", "email", "unheard-of"] })
    assert.include((await gateway.manage("POST", `/api/issuers/${id}/test`)).problems[0], "unheard-of")
    const clientSecret = "another-secret-of-the-client"
    await gateway.manage("PUT", `/api/issuers/${id}`, { issuer: `${issuer.url}/elsewhere`, clientSecret })
    assert.isFalse((await gateway.manage("POST", `/api/issuers/${id}/test`)).ok)
  })

  test("that is not there is no way to sign in", async (gateway, _, id) => {
    for (const path of ["begin", "callback?state=a&code=b"]) {
      assert.strictEqual((await fetch(`${gateway.url}/api/sign-in/none/${path}`)).status, 404)
    }
    await gateway.manage("DELETE", `/api/issuers/${id}`)
    assert.strictEqual((await fetch(`${gateway.url}/api/sign-in/${id}/begin`)).status, 404)
  })

  test("does not get the stored secret at another address, nor is it shown", async (gateway, _, id) => {
    const shown = JSON.stringify(await gateway.manage("GET", `/api/issuers/${id}`))
    assert.notInclude(shown, "a-secret-of-the-client")
    const moved = gateway.manage("PUT", `/api/issuers/${id}`, { issuer: "https://evil.example" })
    const error = await moved.then(
      () => "",
      (failure: unknown) => String(failure)
    )
    assert.include(error, "clientSecret")
  })
})
