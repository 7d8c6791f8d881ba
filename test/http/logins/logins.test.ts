/** Logins at the command line, allowed by people whom a real issuer signs in: what they open, and when they end. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Browser, type TestIssuer } from "../../support/issuer/TestIssuer.ts"
import type { TestGateway } from "../../support/TestGateway.ts"
import { account, register, setUp } from "../signIn/support.ts"
import { asked, loggedIn, Machine, PersonsPage, withToken } from "./support.ts"

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

const signedIn = async (gateway: TestGateway, id: string): Promise<PersonsPage> => {
  const browser = new Browser()
  const { page, status } = await browser.signIn(gateway.url, id)
  assert.strictEqual(status, 200, page)
  return new PersonsPage(gateway.url, browser)
}

const sessionsOf = async (gateway: TestGateway) => (await gateway.manage("GET", "/api/auth/sessions")).sessions

describe("a login by a device code", () => {
  test("is the person's who has seen what asks and allows it, and is listed and ended where sessions are", async (gateway, _, id) => {
    const machine = new Machine(gateway.url)
    const begun = await machine.begin("device", "Ada's laptop")
    assert.strictEqual(begun.status, 200, JSON.stringify(begun.body))
    assert.deepInclude((await machine.ask()).body, { status: "pending", intervalMs: 5_000 })
    assert.deepInclude((await machine.ask()).body, { status: "slow_down", intervalMs: 10_000 })
    const page = await signedIn(gateway, id)
    const seen = await page.look(machine.code.toLowerCase().replace("-", " "))
    assert.strictEqual(seen.status, 200, JSON.stringify(seen.body))
    assert.deepInclude(seen.body, { way: "device", machine: "Ada's laptop", address: "127.0.0.1" })
    const again = new Machine(gateway.url)
    await again.begin("device", "Ada's laptop")
    await page.look(again.code)
    assert.deepStrictEqual(await page.answer(again.code), { status: 200, body: { redirect: null } })
    const { body } = await again.ask()
    assert.strictEqual(body.status, "logged_in", JSON.stringify(body))
    assert.match(body.login.token, /^gws_\w{49}$/)
    assert.deepInclude(body.login.person, { name: "Ada", role: "member" })
    // The credential is given once.
    assert.strictEqual((await again.ask()).body.status, "expired")

    const me = await withToken(gateway.url, body.login.token, "/api/me")
    assert.strictEqual(me.status, 200, me.text)
    assert.strictEqual(me.body.principal.type, "session")
    assert.deepInclude(me.body.credential, { type: "bearer", expiresAt: body.login.expiresAt })
    assert.deepInclude(me.body.person, { name: "Ada", role: "member" })
    const listed = (await sessionsOf(gateway)).find(({ via }: { via: string }) => via === "commandLine")
    assert.deepInclude(listed, { userAgent: "Ada's laptop", userId: body.login.person.id })
    await gateway.manage("DELETE", `/api/auth/sessions/${listed.id}`)
    assert.strictEqual((await withToken(gateway.url, body.login.token, "/api/me")).status, 401)
  })

  test("opens what the person's role opens, and no model", async (gateway, _, id) => {
    const page = await signedIn(gateway, id)
    const token = await loggedIn(gateway.url, page)
    const { users } = await gateway.manage("GET", "/api/users")
    const own = await gateway.manage("POST", "/api/keys", { name: "own", userId: users[0].id })
    const other = await gateway.manage("POST", "/api/keys", { name: "other" })
    const statusOf = async (path: string, init?: RequestInit) =>
      (await withToken(gateway.url, token, path, init)).status
    const keys = await withToken(gateway.url, token, "/api/keys")
    assert.deepStrictEqual(
      keys.body.keys.map((key: { id: string }) => key.id),
      [own.key.id]
    )
    assert.strictEqual(await statusOf(`/api/keys/${other.key.id}`), 404)
    assert.strictEqual(await statusOf("/api/providers"), 403)
    for (const path of [
      "/api/usage/logs",
      "/api/usage/budget",
      "/api/usage/series",
      "/api/teams",
      "/api/bills?month=2026-01"
    ]) {
      assert.strictEqual(await statusOf(path), 200, path)
    }
    // No browser adds the credential, so that no other token proves who asks.
    assert.strictEqual(await statusOf(`/api/keys/${own.key.id}/rotate`, { method: "POST", body: "{}" }), 200)
    assert.strictEqual(await statusOf("/api/keys", { method: "POST", body: '{"name":"more"}' }), 403)
    const models = await withToken(gateway.url, token, "/v1/models")
    assert.strictEqual(models.status, 403)
    assert.include(models.text, "login_asks_no_models")
    assert.strictEqual(await statusOf("/v1/models", { headers: { "x-gateway-as-key": own.key.id } }), 403)
    await gateway.manage("PUT", `/api/users/${users[0].id}`, { role: "admin" })
    assert.strictEqual(await statusOf("/api/providers"), 200)
    assert.strictEqual(await statusOf("/api/db-backups", { method: "POST", body: "{}" }), 403)
  })

  test("ends when the person is suspended or removed, the issuer is switched off, and at logout", async (gateway, _, id) => {
    const page = await signedIn(gateway, id)
    const token = await loggedIn(gateway.url, page)
    const statusOf = async (of: string) => (await withToken(gateway.url, of, "/api/me")).status
    const [ada] = (await gateway.manage("GET", "/api/users")).users
    assert.strictEqual(await statusOf(token), 200)
    await gateway.manage("PUT", `/api/users/${ada.id}`, { state: "suspended" })
    assert.strictEqual(await statusOf(token), 401)
    await gateway.manage("PUT", `/api/users/${ada.id}`, { state: "active" })
    assert.strictEqual(await statusOf(token), 401)
    const second = await loggedIn(gateway.url, await signedIn(gateway, id))
    assert.strictEqual(await statusOf(second), 200)
    assert.strictEqual((await withToken(gateway.url, second, "/api/auth/logout", { method: "POST" })).status, 204)
    assert.strictEqual(await statusOf(second), 401)
    const third = await loggedIn(gateway.url, await signedIn(gateway, id))
    await gateway.manage("PUT", `/api/issuers/${id}`, { enabled: false })
    assert.strictEqual(await statusOf(third), 401)
  })

  test("is not given when the person went after allowing it", async (gateway, _, id) => {
    const page = await signedIn(gateway, id)
    const machine = new Machine(gateway.url)
    await machine.begin("device")
    await page.allow(machine.code)
    const [ada] = (await gateway.manage("GET", "/api/users")).users
    await gateway.manage("PUT", `/api/users/${ada.id}`, { state: "suspended" })
    assert.strictEqual((await machine.ask()).body.status, "denied")
  })

  test("is told when it is denied, and is gone then", async (gateway, _, id) => {
    const page = await signedIn(gateway, id)
    const machine = new Machine(gateway.url)
    await machine.begin("device")
    await page.look(machine.code)
    assert.strictEqual((await page.answer(machine.code, false)).status, 200)
    assert.strictEqual((await machine.ask()).body.status, "denied")
    assert.strictEqual((await machine.ask()).body.status, "expired")
    assert.strictEqual((await page.answer(machine.code)).status, 404)
  })
})

describe("a login by the browser", () => {
  test("is given for the code that the browser brings back and the verifier, once", async (gateway, _, id) => {
    const page = await signedIn(gateway, id)
    const machine = new Machine(gateway.url)
    await machine.begin("browser")
    const { body } = await page.allow(machine.code)
    const back = new URL(body.redirect)
    assert.strictEqual(back.origin, "http://127.0.0.1:49152")
    assert.strictEqual(back.searchParams.get("state"), machine.state)
    const code = back.searchParams.get("code")
    assert.strictEqual((await machine.ask()).body.status, "pending")
    assert.strictEqual((await machine.ask(code)).body.status, "logged_in")
    assert.strictEqual((await machine.ask(code)).body.status, "expired")
  })

  test("is over with another code or another verifier", async (gateway, _, id) => {
    const page = await signedIn(gateway, id)
    for (const wrong of ["code", "verifier"]) {
      const machine = new Machine(gateway.url)
      await machine.begin("browser")
      const code = new URL((await page.allow(machine.code)).body.redirect).searchParams.get("code") ?? ""
      const given = wrong === "code" ? machine.ask("another") : machine.ask(code, "v".repeat(43))
      assert.strictEqual((await given).body.status, "mismatch")
      assert.strictEqual((await machine.ask(code)).body.status, "expired")
    }
  })

  test("goes back with a refusal when it is denied", async (gateway, _, id) => {
    const page = await signedIn(gateway, id)
    const machine = new Machine(gateway.url)
    await machine.begin("browser")
    await page.look(machine.code)
    const { body } = await page.answer(machine.code, false)
    assert.strictEqual(new URL(body.redirect).searchParams.get("error"), "access_denied")
  })
})

describe("who may not", () => {
  test("the administrator, a key and a login allow no login", async (gateway, _, id) => {
    const page = await signedIn(gateway, id)
    const token = await loggedIn(gateway.url, page)
    const machine = new Machine(gateway.url)
    await machine.begin("device")
    const by = (headers: Readonly<Record<string, string>>) =>
      asked(gateway.url, "/api/logins/look", { code: machine.code }, headers)
    const login = await by({ authorization: `Bearer ${token}` })
    assert.deepStrictEqual([login.status, login.body.error.code], [403, "person_required"])
    assert.strictEqual((await by({})).status, 401)
    const { secret } = await gateway.manage("POST", "/api/keys", { name: "manages", scopes: ["manage"] })
    assert.strictEqual((await by({ authorization: `Bearer ${secret}` })).status, 401)
  })

  test("a page without the token of its session, and one of another site", async (gateway, _, id) => {
    const page = await signedIn(gateway, id)
    const machine = new Machine(gateway.url)
    await machine.begin("device")
    await page.look(machine.code)
    const wrong = await page.post("/api/logins/answer", { code: machine.code, allow: true }, { "x-csrf-token": "" })
    assert.strictEqual(wrong.status, 403)
    const foreign = { origin: "https://evil.example", "sec-fetch-site": "cross-site" }
    assert.strictEqual(
      (await page.post("/api/logins/answer", { code: machine.code, allow: true }, foreign)).status,
      403
    )
    assert.strictEqual((await machine.ask()).body.status, "pending")
  })

  test("an answer without a look, and one of another session than that which looked", async (gateway, issuer, id) => {
    const page = await signedIn(gateway, id)
    const machine = new Machine(gateway.url)
    await machine.begin("device")
    assert.strictEqual((await page.answer(machine.code)).status, 404)
    await issuer.say(account("eve"))
    const eve = await signedIn(gateway, id)
    await eve.look(machine.code)
    assert.strictEqual((await page.answer(machine.code)).status, 404)
    assert.strictEqual((await eve.answer(machine.code)).status, 200)
    assert.strictEqual((await machine.ask()).body.login.person.name, "eve")
  })

  test("guesses of codes are slowed down for the person, whatever else the person does", async (gateway, _, id) => {
    const page = await signedIn(gateway, id)
    const statuses: Array<number> = []
    for (let n = 0; n < 10; n += 1) statuses.push((await page.look("BCDF-GHJK")).status)
    assert.deepStrictEqual(statuses, [...Array.from({ length: 8 }, () => 404), 429, 429])
  })

  test("questions for what is not there are slowed down", async (gateway) => {
    const machine = new Machine(gateway.url)
    machine.secret = "nothing"
    const statuses: Array<number> = []
    for (let n = 0; n < 10; n += 1) statuses.push((await machine.ask()).status)
    assert.deepStrictEqual(statuses, [...Array.from({ length: 8 }, () => 200), 429, 429])
  })

  test("no more logins wait than a hundred of an address", async (gateway) => {
    let status = 0
    for (let n = 0; n < 101; n += 1) ({ status } = await new Machine(gateway.url).begin("device"))
    assert.strictEqual(status, 429)
  })

  test("nobody where no directory signs people in", async (gateway, _, id) => {
    await gateway.manage("DELETE", `/api/issuers/${id}`)
    const { body, status } = await new Machine(gateway.url).begin("device")
    assert.strictEqual(status, 409)
    assert.include(body.error.message, "gateway issuers add")
  })

  test("input that is none is refused with its name", async (gateway) => {
    const back = { port: 49_152, challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", state: "s".repeat(22) }
    const cases: ReadonlyArray<readonly [object, string]> = [
      [{ way: "browser", machine: "laptop" }, "back"],
      [{ way: "device", machine: "laptop", back }, "back"],
      [{ way: "device", machine: "a\u001b[2J" }, "machine"],
      [{ way: "device", machine: "a".repeat(101) }, "machine"],
      [{ way: "browser", machine: "laptop", back: { ...back, port: 80 } }, "back.port"],
      [{ way: "browser", machine: "laptop", back: { ...back, challenge: "plain" } }, "back.challenge"],
      [{ way: "browser", machine: "laptop", back: { ...back, state: "short" } }, "back.state"],
      [{ way: "device", machine: "laptop", redirect: "https://evil.example" }, "redirect"]
    ]
    for (const [body, field] of cases) {
      const answer = await asked(gateway.url, "/api/logins", body)
      assert.strictEqual(answer.status, 400, JSON.stringify(body))
      assert.include(JSON.stringify(answer.body.error.details), field)
    }
  })
})
