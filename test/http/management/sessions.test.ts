/** Admin sessions over HTTP: by a code of the owner's, as a list, and their end. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/TestClock"
import { execFile } from "node:child_process"
import { codeLivesMs } from "../../../src/subjects/auth/sessions/OneTimeCodes.ts"
import { OwnerToken } from "../../../src/subjects/auth/OwnerToken.ts"
import { adminPassword, type Answer, layerOf, logIn, TestApp } from "./TestApp.ts"

type Headers = Readonly<Record<string, string>>

const call = (method: string, path: string, headers: Headers = {}, body?: unknown) =>
  Effect.flatMap(TestApp, (app) => app.call(path, { method, headers, ...(body === undefined ? {} : { body }) }))

const asOwner = Effect.flatMap(OwnerToken, ({ issue }) =>
  Effect.map(issue, (token) => ({ authorization: `Bearer ${Redacted.value(token)}` }))
)

const newCode = Effect.gen(function* () {
  const answer = yield* call("POST", "/api/auth/codes", yield* asOwner)
  assert.strictEqual(answer.status, 200, answer.text)
  return String(answer.at("code"))
})

const exchange = (code: string, headers: Headers = {}) => call("POST", "/api/auth/codes/exchange", headers, { code })

const sessionOf = (answer: Answer) => ({
  cookie: String(answer.headers["set-cookie"]?.[0] ?? "").split(";")[0] ?? "",
  "x-csrf-token": String(answer.at("csrfToken"))
})

layer(layerOf())("a code of the owner's", (it) => {
  it.effect("opens one session, once", () =>
    Effect.gen(function* () {
      const code = yield* newCode
      const opened = yield* exchange(code)
      assert.strictEqual(opened.status, 200, opened.text)
      assert.match(String(opened.headers["set-cookie"]), /^gateway_session=[\w-]{43};.*HttpOnly/)
      const state = yield* call("GET", "/api/auth/session", sessionOf(opened))
      assert.strictEqual(state.at("authenticated"), true)
      assert.strictEqual((yield* call("GET", "/api/keys", sessionOf(opened))).status, 200)
      const again = yield* exchange(code)
      assert.deepStrictEqual([again.status, again.at("error.code")], [401, "invalid_code"])
      assert.isUndefined(again.headers["set-cookie"])
    })
  )

  it.effect("is made for the owner of the folder alone", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const { cookie, csrf } = yield* logIn
      assert.strictEqual((yield* call("POST", "/api/auth/codes")).status, 401)
      assert.strictEqual((yield* call("POST", "/api/auth/codes", { ...cookie, ...csrf })).status, 403)
      assert.strictEqual((yield* app.admin("/api/auth/codes", { method: "POST" })).at("error.code"), "owner_only")
    })
  )

  it.effect("counts neither from elsewhere nor from another site's page", () =>
    Effect.gen(function* () {
      const code = yield* newCode
      for (const name of ["x-forwarded-for", "via", "cf-ray"]) {
        const answer = yield* exchange(code, { [name]: "203.0.113.7" })
        assert.deepStrictEqual([answer.status, answer.at("error.code")], [403, "loopback_only"], name)
      }
      const foreign = yield* exchange(code, { origin: "https://elsewhere.example", "sec-fetch-site": "cross-site" })
      assert.strictEqual(foreign.status, 403)
      assert.strictEqual((yield* exchange(code)).status, 200)
    })
  )

  it.effect("that is wrong counts as a wrong password does", () =>
    Effect.gen(function* () {
      const answers = yield* Effect.forEach(Array.from({ length: 12 }), () => exchange("guessed"))
      const statuses = answers.map(({ status }) => status)
      assert.include(statuses, 429)
      assert.strictEqual(statuses[0], 401)
      const app = yield* TestApp
      yield* app.admin("/api/policies", { method: "DELETE" })
    })
  )

  it.effect("lives for a minute", () =>
    Effect.gen(function* () {
      assert.strictEqual(codeLivesMs, 60_000)
      const [late, intime] = [yield* newCode, yield* newCode]
      yield* TestClock.adjust(codeLivesMs - 1)
      assert.strictEqual((yield* exchange(intime)).status, 200)
      yield* TestClock.adjust(1)
      const answer = yield* exchange(late)
      assert.deepStrictEqual([answer.status, answer.at("error.code")], [401, "invalid_code"])
    })
  )

  // Only root can start a program as another user.
  it.effect.runIf(process.platform === "linux" && process.getuid?.() === 0)(
    "counts for no other user of the machine, who may have read it in the list of processes",
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestApp
        const code = yield* newCode
        const script = `fetch("${url}/api/auth/codes/exchange", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ code: "${code}" }) }).then(async (a) => process.stdout.write(a.status + await a.text()))`
        const told = yield* Effect.promise(
          () =>
            new Promise<string>((resolve, reject) =>
              execFile(process.execPath, ["-e", script], { uid: 65_534, gid: 65_534, cwd: "/" }, (error, stdout) =>
                error === null ? resolve(stdout) : reject(error)
              )
            )
        )
        assert.match(told, /^403.*other_user/)
        assert.strictEqual((yield* exchange(code)).status, 200)
      })
  )
})

layer(layerOf({ adminPassword: null }))("the first password", (it) => {
  it.effect("is set by a session of the owner's code without one before, and then never without it", () =>
    Effect.gen(function* () {
      const session = sessionOf(yield* exchange(yield* newCode))
      const change = (body: unknown) => call("POST", "/api/auth/password", session, body)
      const short = yield* change({ password: "short" })
      assert.strictEqual(short.status, 400)
      assert.strictEqual((yield* change({ password: adminPassword })).status, 204)
      const second = yield* change({ password: "another good password" })
      assert.deepStrictEqual([second.status, second.at("error.param")], [401, "currentPassword"])
      assert.strictEqual((yield* logIn).answer.status, 200)
    })
  )
})

layer(layerOf())("the list of sessions", (it) => {
  it.effect("says where each began and which one asks, and shows no cookie and no hash", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const first = yield* logIn
      const second = sessionOf(yield* exchange(yield* newCode, { "user-agent": "Browser/2" }))
      const list = yield* call("GET", "/api/auth/sessions", second)
      assert.strictEqual(list.at("total"), 2)
      const shown = JSON.parse(list.text).sessions.map(({ current, userAgent, via }: Record<string, unknown>) => [
        via,
        current,
        userAgent
      ])
      assert.includeDeepMembers(shown, [["code", true, "Browser/2"]])
      assert.notInclude(list.text, first.cookie.cookie.split("=")[1] ?? "none")
      assert.notMatch(list.text, /[0-9a-f]{64}/)
      assert.strictEqual((yield* call("GET", "/api/auth/sessions")).status, 401)

      const other = JSON.parse(list.text).sessions.find((each: { readonly current: boolean }) => !each.current).id
      assert.strictEqual((yield* call("DELETE", `/api/auth/sessions/${other}`, second)).status, 204)
      assert.strictEqual((yield* call("GET", "/api/keys", first.cookie)).status, 401)
      assert.strictEqual((yield* call("DELETE", `/api/auth/sessions/${other}`, second)).status, 404)

      yield* logIn
      const ended = yield* call("DELETE", "/api/auth/sessions", second)
      assert.strictEqual(ended.at("ended"), 1)
      assert.strictEqual((yield* call("GET", "/api/auth/sessions", second)).at("total"), 1)
      assert.strictEqual((yield* app.admin("/api/auth/sessions", { method: "DELETE" })).at("ended"), 1)
      assert.strictEqual((yield* call("GET", "/api/keys", second)).status, 401)
    })
  )
})
