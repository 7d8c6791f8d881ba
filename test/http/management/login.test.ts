/** The admin password over HTTP: its change, the locks of those who guess, and the state of a session. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { perAddress } from "../../../src/subjects/auth/LoginThrottle.ts"
import { adminPassword, layerOf, logIn, TestApp } from "./TestApp.ts"

const next = "another good password"

const tryLogin = (password: string) =>
  Effect.flatMap(TestApp, (app) => app.call("/api/auth/login", { method: "POST", body: { password } }))

layer(layerOf())("the admin password", (it) => {
  it.effect("is changed by a session that knows it, and ends the other sessions", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const one = yield* logIn
      const other = yield* logIn
      const change = (headers: Readonly<Record<string, string>>, currentPassword: string) =>
        app.call("/api/auth/password", { method: "POST", headers, body: { currentPassword, password: next } })
      assert.strictEqual((yield* change({}, adminPassword)).status, 401)
      assert.strictEqual((yield* change(one.cookie, adminPassword)).status, 403)
      const wrong = yield* change({ ...one.cookie, ...one.csrf }, "a guess")
      assert.deepStrictEqual([wrong.status, wrong.at("error.param")], [401, "currentPassword"])
      assert.strictEqual((yield* change({ ...one.cookie, ...one.csrf }, adminPassword)).status, 204)

      const stateOf = (headers: Readonly<Record<string, string>>) => app.call("/api/auth/session", { headers })
      const mine = yield* stateOf(one.cookie)
      assert.strictEqual(mine.at("authenticated"), true)
      assert.strictEqual(mine.at("csrfToken"), one.csrf["x-csrf-token"])
      assert.strictEqual((yield* stateOf(other.cookie)).status, 401)
      const foreign = yield* stateOf({ ...one.cookie, origin: "https://elsewhere.example" })
      assert.deepStrictEqual([foreign.at("authenticated"), foreign.at("csrfToken")], [false, null])

      assert.strictEqual((yield* tryLogin(adminPassword)).status, 401)
      assert.strictEqual((yield* tryLogin(next)).status, 200)
      const audit = yield* app.admin("/api/compliance/audit-log?action=auth.changePassword")
      assert.deepStrictEqual(
        (JSON.parse(audit.text) as ReadonlyArray<{ readonly status: string }>).map(({ status }) => status),
        ["success", "failure", "failure", "failure"]
      )
      assert.notInclude(audit.text, next)
    })
  )

  it.effect("lists who guessed too often, and frees one or all", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const lockOut = Effect.gen(function* () {
        for (let n = 0; n < perAddress.burst; n += 1) yield* tryLogin("a guess")
        assert.strictEqual((yield* tryLogin(next)).status, 429)
      })
      const locked = Effect.map(app.admin("/api/policies"), ({ text }) => JSON.parse(text).lockedIdentifiers)
      assert.deepStrictEqual(yield* locked, [])
      yield* lockOut
      const [identifier] = yield* locked
      assert.match(String(identifier), /127\.0\.0\.1|::1/)

      const act = (body: unknown) => app.admin("/api/policies", { method: "POST", body })
      assert.strictEqual((yield* act({ action: "lock", identifier })).status, 400)
      const unlocked = yield* act({ action: "unlock", identifier })
      assert.deepStrictEqual(JSON.parse(unlocked.text), { success: true, action: "unlocked", identifier })
      assert.deepStrictEqual(yield* locked, [])
      assert.strictEqual((yield* tryLogin(next)).status, 200)

      yield* lockOut
      const cleared = yield* app.admin("/api/policies", { method: "DELETE" })
      assert.strictEqual(cleared.at("cleared"), 1)
      assert.strictEqual((yield* tryLogin(next)).status, 200)
      assert.strictEqual((yield* app.call("/api/policies")).status, 401)
    })
  )
})
