/** Keys, sessions, passwords and logins as services, over SQLite in memory and a test clock. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/TestClock"
import * as AdminPassword from "../../../src/subjects/auth/AdminPassword.ts"
import * as ApiKeys from "../../../src/subjects/auth/ApiKeys.ts"
import * as Login from "../../../src/subjects/auth/Login.ts"
import { hashPassword, verifyPassword } from "../../../src/subjects/auth/Passwords.ts"
import * as Sessions from "../../../src/subjects/auth/sessions/Sessions.ts"
import { type ApiKeySettings, unrestricted } from "../../../src/subjects/keys/entity.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import * as IdGen from "../../../src/platform/IdGen.ts"
import { ApiKeyRepo } from "../../../src/subjects/keys/repo.ts"
import { SessionRepo } from "../../../src/subjects/auth/repo.ts"
import * as Repos from "../../../src/store/Repos.generated.ts"
import * as Secrets from "../../../src/store/secrets/Secrets.ts"
import * as Sql from "../../../src/store/Sql.ts"

const password = Redacted.make("a good password")

const store = Repos.layer.pipe(Layer.provide(Secrets.layerTest), Layer.provide(Sql.layerMemory))

const services = (config: Partial<AppConfig.AppConfigShape> = {}) =>
  Login.layer.pipe(
    Layer.provideMerge(AdminPassword.layer),
    Layer.provideMerge(Layer.mergeAll(ApiKeys.layer, Sessions.layer)),
    Layer.provideMerge(store),
    Layer.provide(IdGen.layerCounting("id")),
    Layer.provide(AppConfig.layerOf({ dataDir: "/nonexistent", ...config }))
  )

const settings: ApiKeySettings = { ...unrestricted, name: "a key" }

describe("ApiKeys", () => {
  it.scoped("knows a key from creation to removal", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys.ApiKeys
      const { key, secret } = yield* keys.create(settings)
      const raw = Redacted.value(secret)
      assert.deepStrictEqual(keys.identify(raw), { _tag: "Key", key })
      assert.strictEqual(keys.identify(null), "missing")
      assert.strictEqual(keys.identify(`${raw}x`), "wrong")
      const renamed = yield* keys.update(key.id, { name: "renamed" })
      assert.strictEqual(renamed?.name, "renamed")
      assert.deepStrictEqual(keys.identify(raw), { _tag: "Key", key: { ...key, name: "renamed" } })
      assert.isTrue(yield* keys.remove(key.id))
      assert.strictEqual(keys.identify(raw), "wrong")
      assert.isFalse(yield* keys.remove(key.id))
      assert.isNull(yield* keys.update(key.id, {}))
    }).pipe(Effect.provide(services()))
  )

  it.scoped("does not bring a removed key back when it is changed at the same time", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys.ApiKeys
      const { key, secret } = yield* keys.create(settings)
      yield* Effect.all([keys.remove(key.id), keys.update(key.id, { name: "late" })], { concurrency: 2 })
      assert.strictEqual(keys.identify(Redacted.value(secret)), "wrong")
      assert.deepStrictEqual(keys.list(), [])
    }).pipe(Effect.provide(services()))
  )

  it.scoped("keeps no secret", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys.ApiKeys
      const repo = yield* ApiKeyRepo
      const { secret } = yield* keys.create(settings)
      assert.notInclude(JSON.stringify(yield* repo.list), Redacted.value(secret))
    }).pipe(Effect.provide(services()))
  )

  it.scoped("knows the admin key of the configuration", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys.ApiKeys
      assert.deepStrictEqual(keys.identify("the admin key"), { _tag: "AdminKey" })
      assert.strictEqual(keys.identify("another"), "wrong")
      assert.isTrue(keys.canManage(0))
    }).pipe(Effect.provide(services({ adminKey: Redacted.make("the admin key") })))
  )

  it.scoped("can manage only while an active key with the scope is there", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys.ApiKeys
      assert.isFalse(keys.canManage(0))
      yield* keys.create(settings)
      assert.isFalse(keys.canManage(0))
      const { key } = yield* keys.create({ ...settings, scopes: ["manage"], expiresAtMs: 10 })
      assert.isTrue(keys.canManage(9))
      assert.isFalse(keys.canManage(10))
      yield* keys.update(key.id, { expiresAtMs: null, isActive: false })
      assert.isFalse(keys.canManage(0))
    }).pipe(Effect.provide(services()))
  )

  it.scoped("writes the last use at most every five minutes", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys.ApiKeys
      const repo = yield* ApiKeyRepo
      const minute = 60_000
      const lastUsed = Effect.map(repo.list, ([row]) => row?.lastUsedAtMs)
      const { key } = yield* keys.create(settings)
      keys.used(key, 10 * minute)
      keys.used(key, 12 * minute)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* lastUsed, 10 * minute)
      keys.used(key, 14 * minute)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* lastUsed, 10 * minute)
      keys.used(key, 15 * minute)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* lastUsed, 15 * minute)
    }).pipe(Effect.provide(services()))
  )

  it.scoped("lets a replaced secret work until its overlap ends, and ends all with an overlap of nothing", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys.ApiKeys
      const { key, secret } = yield* keys.create(settings)
      const rotated = (overlapMs: number) =>
        Effect.flatMap(keys.rotate(key.id, overlapMs), (made) =>
          made === null || made === "full" ? Effect.die(made) : Effect.succeed(Redacted.value(made.secret))
        )
      const idOf = (raw: string) => {
        const found = keys.identify(raw)
        return typeof found === "object" && found._tag === "Key" ? found.key.id : found
      }
      const first = Redacted.value(secret)
      const second = yield* rotated(10_000)
      assert.deepStrictEqual([idOf(first), idOf(second)], [key.id, key.id])
      // What is changed of the key holds for its old secret, too.
      yield* keys.update(key.id, { isActive: false })
      const old = keys.identify(first)
      assert.isFalse(typeof old === "object" && old._tag === "Key" && old.key.isActive)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([idOf(first), idOf(second)], ["wrong", key.id])
      const third = yield* rotated(60_000)
      const fourth = yield* rotated(1_000)
      yield* TestClock.adjust("1 seconds")
      assert.deepStrictEqual([second, third, fourth].map(idOf), ["wrong", "wrong", key.id])
      const fifth = yield* rotated(1_000)
      const sixth = yield* rotated(0)
      assert.deepStrictEqual([fourth, fifth, sixth].map(idOf), ["wrong", "wrong", key.id])
      assert.isNull(yield* keys.rotate("another", 0))
    }).pipe(Effect.provide(services()))
  )

  it.scoped("keeps a bounded number of replaced secrets, and forgets them with the key", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys.ApiKeys
      const repo = yield* ApiKeyRepo
      const { key, secret } = yield* keys.create(settings)
      for (let count = 0; count < ApiKeys.maxOldSecrets; count += 1) yield* keys.rotate(key.id, 60_000)
      assert.strictEqual(yield* keys.rotate(key.id, 60_000), "full")
      assert.strictEqual((yield* repo.get(key.id))?.oldSecrets.length, ApiKeys.maxOldSecrets)
      assert.isTrue(yield* keys.remove(key.id))
      assert.strictEqual(keys.identify(Redacted.value(secret)), "wrong")
    }).pipe(Effect.provide(services()))
  )
})

const origin = { via: "password", address: "127.0.0.1", userAgent: "Browser/1" } as const

describe("Sessions", () => {
  const hour = 3_600_000
  it.scoped("end twelve hours after the last use", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const { cookie } = yield* sessions.open(origin)
      const value = Redacted.value(cookie)
      assert.isNotNull(sessions.find(value, 11 * hour))
      assert.isNotNull(sessions.find(value, 22 * hour))
      assert.isNotNull(sessions.find(value, 34 * hour - 1))
      assert.isNull(sessions.find(value, 46 * hour - 1))
    }).pipe(Effect.provide(services()))
  )

  it.scoped("are not used by a socket that looks whether its session holds", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const value = Redacted.value((yield* sessions.open(origin)).cookie)
      for (let passed = hour; passed < 12 * hour; passed += hour) assert.isNotNull(sessions.look(value, passed))
      assert.isNotNull(sessions.look(value, 12 * hour - 1))
      assert.isNull(sessions.look(value, 12 * hour))
      assert.isNull(sessions.find(value, 12 * hour))
    }).pipe(Effect.provide(services()))
  )

  it.scoped("end a week after the login, however much used", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const { cookie } = yield* sessions.open(origin)
      for (let half = 1; half <= 14; half++) {
        assert.isNotNull(sessions.find(Redacted.value(cookie), half * 11.9 * hour))
      }
      assert.isNotNull(sessions.find(Redacted.value(cookie), 7 * 24 * hour - 1))
      assert.isNull(sessions.find(Redacted.value(cookie), 7 * 24 * hour))
    }).pipe(Effect.provide(services()))
  )

  it.scoped("are stored without the cookie, and forgotten when dead", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const repo = yield* SessionRepo
      const { cookie } = yield* sessions.open(origin)
      const rows = yield* repo.list
      assert.strictEqual(rows.length, 1)
      assert.notInclude(JSON.stringify(rows), Redacted.value(cookie))
      yield* TestClock.adjust("13 hours")
      assert.strictEqual((yield* repo.list).length, 0)
    }).pipe(Effect.provide(Sessions.layer.pipe(Layer.provideMerge(store))))
  )

  it.scoped("are listed with where they began, the one used last first, as long as they are valid", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      yield* sessions.open(origin)
      yield* TestClock.adjust("1 hour")
      yield* sessions.open({ via: "code", address: "::1", userAgent: "x".repeat(1_000) })
      const shown = (nowMs: number) =>
        sessions.list(nowMs).map(({ address, userAgent, via }) => [via, address, userAgent])
      assert.deepStrictEqual(shown(hour), [
        ["code", "::1", "x".repeat(256)],
        ["password", "127.0.0.1", "Browser/1"]
      ])
      assert.lengthOf(shown(12.5 * hour), 1)
      assert.lengthOf(shown(14 * hour), 0)
    }).pipe(Effect.provide(services()))
  )
})

describe("Passwords", () => {
  it.live("hashes with argon2id and verifies", () =>
    Effect.gen(function* () {
      const hash = yield* hashPassword(password)
      assert.match(hash, /^\$argon2id\$/)
      assert.isTrue(yield* verifyPassword(password, hash))
      assert.isFalse(yield* verifyPassword(Redacted.make("another"), hash))
      assert.isFalse(yield* verifyPassword(password, "nonsense"))
    })
  )

  it.live("verifies what the fallback wrote", () =>
    Effect.gen(function* () {
      // scrypt("a good password", salt of 16 zero bytes, N=2^4, r=8, p=1), worked out with node:crypto.
      const { scryptSync } = yield* Effect.promise(() => import("node:crypto"))
      const key = scryptSync("a good password", Buffer.alloc(16), 32, { N: 16, r: 8, p: 1 }).toString("base64url")
      const stored = `$scrypt$ln=4,r=8,p=1$${Buffer.alloc(16).toString("base64url")}$${key}`
      assert.isTrue(yield* verifyPassword(password, stored))
      assert.isFalse(yield* verifyPassword(Redacted.make("another"), stored))
    })
  )
})

describe("Login", () => {
  const attempt = (text: string, formerCookie: string | null = null) =>
    Effect.flatMap(Login.Login, (login) =>
      login.logIn({ password: Redacted.make(text), address: "127.0.0.1", userAgent: "Browser/1", formerCookie })
    )
  const configured = services({ adminPassword: password })

  it.scoped("fails without any password", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Effect.flip(attempt("anything")))._tag, "NoAdminPassword")
    }).pipe(Effect.provide(services()))
  )

  it.scoped("tells a wrong password, and throttles guessing", () =>
    Effect.gen(function* () {
      for (let i = 0; i < 8; i++) assert.strictEqual((yield* Effect.flip(attempt("wrong")))._tag, "WrongPassword")
      const refused = yield* Effect.flip(attempt(Redacted.value(password)))
      assert.strictEqual(refused._tag, "TooManyLogins")
      yield* TestClock.adjust("30 seconds")
      yield* attempt(Redacted.value(password))
    }).pipe(Effect.provide(configured))
  )

  it.scoped("ends the former session of the same browser, and all when the password changes", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const admin = yield* AdminPassword.AdminPassword
      const first = Redacted.value((yield* attempt(Redacted.value(password))).cookie)
      const second = Redacted.value((yield* attempt(Redacted.value(password), first)).cookie)
      assert.isNull(sessions.find(first, 0))
      assert.isNotNull(sessions.find(second, 0))
      yield* admin.set(Redacted.make("a new password"))
      assert.isNull(sessions.find(second, 0))
      assert.isFalse(yield* admin.verify(password))
      assert.isTrue(yield* admin.verify(Redacted.make("a new password")))
    }).pipe(Effect.provide(configured))
  )
})
