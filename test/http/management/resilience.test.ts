/** The states of providers, connections and models over real HTTP: shown as they are now, reset by the operator. */
import { assert, layer } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { defaultResilience } from "../../../src/subjects/resilience/entity.ts"
import { Breakers } from "../../../src/plane/resilience/breaker/Breakers.ts"
import type { Penalty } from "../../../src/plane/resilience/cooldown/Cooldown.ts"
import { ConcurrencyGate } from "../../../src/plane/resilience/ConcurrencyGate.ts"
import { Cooldowns } from "../../../src/plane/resilience/cooldown/Cooldowns.ts"
import { Lockouts } from "../../../src/plane/resilience/lockout/Lockouts.ts"
import { ConnectionRepo } from "../../../src/subjects/connections/repo.ts"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import { layerOf, TestApp } from "./TestApp.ts"

const hourMs = 3_600_000

const send = (method: string, path: string, body?: unknown) =>
  Effect.flatMap(TestApp, (app) => app.admin(path, { method, ...(body === undefined ? {} : { body }) }))
const get = (path: string) => send("GET", path)
const patch = (body: unknown) => send("PATCH", "/api/resilience", body)

const connect = Effect.fnUntraced(function* (provider: string, more: Readonly<Record<string, unknown>> = {}) {
  const answer = yield* send("POST", "/api/providers", { provider, apiKey: "sk-0123456789-key", ...more })
  assert.strictEqual(answer.status, 201, answer.text)
  return String(answer.at("connection.id"))
})

const drop = (id: string) =>
  Effect.map(send("DELETE", `/api/providers/${id}`), ({ status }) => assert.strictEqual(status, 204))

/** A failure of a connection `agoMs` ago. */
const fail = Effect.fnUntraced(function* (id: string, penalty: Penalty, agoMs = 0) {
  const nowMs = (yield* Clock.currentTimeMillis) - agoMs
  const failure = { penalty, startedMs: nowMs, message: "the upstream's words", type: "rate_limit", code: "429" }
  ;(yield* Cooldowns).fail(id, defaultResilience.connectionCooldown.apikey, nowMs, failure)
})

const banned: Penalty = { _tag: "Terminal", status: "banned" }
const forMs = (ms: number): Penalty => ({ _tag: "For", ms })

const lock = Effect.fnUntraced(function* (provider: string, connectionId: string, model: string, hintMs: number) {
  const failure = { status: 429, reason: "rate_limit", hintMs }
  ;(yield* Lockouts).fail({ provider, connectionId, model }, yield* Clock.currentTimeMillis, failure)
})

/** Fails until the breaker of an API-key provider is open. */
const trip = Effect.fnUntraced(function* (id: string) {
  const breakers = yield* Breakers
  const nowMs = yield* Clock.currentTimeMillis
  const { failureThreshold } = defaultResilience.providerBreaker.apikey
  for (let count = 0; count < failureThreshold; count += 1)
    breakers.report({ id, class: "apikey" }, nowMs, "trip", false)
})

layer(layerOf(), { excludeTestServices: true })("settings", (it) => {
  it.effect("are whole, and any part may be changed", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(JSON.parse((yield* get("/api/resilience")).text), defaultResilience)
      const changed = yield* patch({
        providerBreaker: { local: { resetTimeoutMs: 500 } },
        connectionCooldown: { apikey: { baseCooldownMs: 100 } }
      })
      assert.strictEqual(changed.status, 200, changed.text)
      assert.deepStrictEqual(JSON.parse(changed.text), {
        ...defaultResilience,
        providerBreaker: {
          ...defaultResilience.providerBreaker,
          local: { ...defaultResilience.providerBreaker.local, resetTimeoutMs: 500 }
        },
        connectionCooldown: {
          ...defaultResilience.connectionCooldown,
          apikey: { ...defaultResilience.connectionCooldown.apikey, baseCooldownMs: 100 }
        }
      })
      assert.strictEqual((yield* get("/api/resilience")).text, changed.text)
      const limits = JSON.parse((yield* get("/api/rate-limit")).text)
      assert.strictEqual(limits.connectionCooldown.apikey.baseCooldownMs, 100)
      assert.deepStrictEqual(limits.requestQueue, defaultResilience.requestQueue)
      assert.notProperty(limits, "timeouts")
    })
  )

  it.effect("name every field that is wrong, and change nothing then", () =>
    Effect.gen(function* () {
      const before = (yield* get("/api/resilience")).text
      for (const [body, fields] of [
        [{ timeouts: { idleMs: 49, totalMs: "long" } }, ["timeouts.idleMs", "timeouts.totalMs"]],
        [{ providerBreaker: { oauth: { resetTimeoutMs: 499 } } }, ["providerBreaker.oauth.resetTimeoutMs"]],
        [{ modelLockout: { errorCodes: [429, 200] } }, ["modelLockout.errorCodes.1"]],
        [{ requestQueue: true }, ["requestQueue"]],
        [
          { retry: { maxRetries: 2 }, providerBreaker: { local: { degradationThreshold: 3, failureThreshold: 2 } } },
          ["providerBreaker.local.degradationThreshold"]
        ],
        [{ modelLockout: { baseCooldownMs: 9_000_000 } }, ["modelLockout.maxCooldownMs"]]
      ] as const) {
        const refused = yield* patch(body)
        assert.strictEqual(refused.status, 400, JSON.stringify(body))
        assert.strictEqual(refused.at("error.param"), fields[0], refused.text)
        const { details } = JSON.parse(refused.text).error
        assert.sameMembers(
          details.map(({ field }: { field: string }) => field),
          [...fields]
        )
      }
      for (const [body, message] of [
        [{ timeouts: 5 }, "timeouts: must be an object"],
        [{ providerBreaker: { apikey: [] } }, "providerBreaker.apikey: must be an object"],
        [{ customBannedSignals: "frozen" }, "customBannedSignals: must be an array"],
        [{ modelLockout: { errorCodes: 429 } }, "modelLockout.errorCodes: must be an array"]
      ] as const) {
        assert.strictEqual((yield* patch(body)).at("error.message"), `Invalid request: ${message}`)
      }
      for (const body of [[], "text", undefined]) assert.strictEqual((yield* patch(body)).status, 400)
      assert.strictEqual((yield* get("/api/resilience")).text, before)
    })
  )
})

layer(layerOf(), { excludeTestServices: true })("breakers", (it) => {
  it.effect("are listed for every connected provider, and reset", () =>
    Effect.gen(function* () {
      const id = yield* connect("openai")
      yield* connect("groq")
      const atRest = { state: "CLOSED", failures: 0, openedAt: null, retryAfterMs: null, class: "apikey" }
      const calm = JSON.parse((yield* get("/api/resilience/breakers")).text)
      assert.deepStrictEqual(calm.breakers, [
        { provider: "groq", ...atRest },
        { provider: "openai", ...atRest }
      ])

      const beforeMs = yield* Clock.currentTimeMillis
      yield* trip("openai")
      const open = yield* get("/api/resilience/breakers")
      assert.deepInclude(open.at("breakers.1"), { provider: "openai", state: "OPEN", failures: 12 })
      assert.isAtLeast(Date.parse(String(open.at("breakers.1.openedAt"))), beforeMs)
      const retryAfterMs = Number(open.at("breakers.1.retryAfterMs"))
      assert.isTrue(retryAfterMs > 0 && retryAfterMs <= 30_000, String(retryAfterMs))
      assert.strictEqual(open.at("breakers.0.state"), "CLOSED")

      const health = yield* get("/api/monitoring/health")
      assert.strictEqual(health.at("status"), "degraded")
      assert.deepStrictEqual(health.at("breakers"), { closed: 1, degraded: 0, open: 1, halfOpen: 0 })

      const unknown = yield* send("POST", "/api/resilience/reset", { provider: "nobody" })
      assert.deepStrictEqual([unknown.status, unknown.at("error.param")], [400, "provider"])
      const other = yield* send("POST", "/api/resilience/reset", { provider: "groq" })
      assert.deepStrictEqual(JSON.parse(other.text), { ok: true, reset: 0 })
      const mistyped = yield* send("POST", "/api/resilience/reset", { provder: "groq" })
      assert.strictEqual(mistyped.status, 400)
      assert.include(mistyped.text, "provder")
      const all = yield* send("POST", "/api/resilience/reset")
      assert.deepStrictEqual(JSON.parse(all.text), { ok: true, reset: 1 })
      assert.deepStrictEqual(JSON.parse((yield* get("/api/resilience/breakers")).text), calm)
      assert.strictEqual((yield* get("/api/monitoring/health")).at("status"), "ok")

      yield* trip("openai")
      yield* drop(id)
      // The provider is no longer used, but its breaker is still listed and can be reset.
      assert.strictEqual((yield* get("/api/resilience/breakers")).at("breakers.1.state"), "OPEN")
      assert.strictEqual((yield* get("/api/monitoring/health")).at("status"), "ok")
      assert.strictEqual((yield* send("POST", "/api/resilience/reset", { provider: "openai" })).at("reset"), 1)
    })
  )

  it.effect("of a node go with it", () =>
    Effect.gen(function* () {
      const node = { name: "n", prefix: "lab", type: "openai-compatible", baseUrl: "http://127.0.0.1:9/v1" }
      const created = yield* send("POST", "/api/provider-nodes", node)
      yield* connect("lab")
      yield* trip("lab")
      yield* send("DELETE", `/api/provider-nodes/${created.at("node.id")}`)
      assert.strictEqual((yield* Breakers).list(0, () => "apikey").length, 0)
    })
  )
})

layer(layerOf(), { excludeTestServices: true })("model cooldowns", (it) => {
  const path = "/api/resilience/model-cooldowns"
  const clear = (body?: unknown) => send("DELETE", path, body)

  it.effect("are listed, the longest first, and cleared one by one or all", () =>
    Effect.gen(function* () {
      const work = yield* connect("openai", { name: "work" })
      const home = yield* connect("openai", { name: "home" })
      yield* lock("openai", work, "gpt-4.1", hourMs)
      assert.deepStrictEqual(
        JSON.parse((yield* get(path)).text),
        { items: [], nextCursor: null, total: 0 },
        "lockouts are off at first"
      )

      yield* patch({ modelLockout: { enabled: true } })
      yield* lock("openai", work, "gpt-4.1", hourMs)
      yield* lock("openai", home, "gpt-4.1", 2 * hourMs)
      yield* lock("openai", work, "o3", 3 * hourMs)
      const { items } = JSON.parse((yield* get(path)).text)
      assert.deepStrictEqual(
        items.map(({ connection, model }: { connection: string; model: string }) => [connection, model]),
        [
          ["work", "o3"],
          ["home", "gpt-4.1"],
          ["work", "gpt-4.1"]
        ]
      )
      const [first] = items
      assert.deepInclude(first, { provider: "openai", connectionId: work, reason: "rate_limit", failureCount: 1 })
      assert.strictEqual(Date.parse(first.expiresAt), first.until)
      assert.strictEqual(first.until - Date.parse(first.lockedAt), 3 * hourMs)
      assert.isTrue(first.remainingMs > 2 * hourMs && first.remainingMs <= 3 * hourMs)
      assert.lengthOf(JSON.parse((yield* get("/api/rate-limits")).text).lockouts, 3)

      const byName = yield* clear({ provider: "openai", model: "gpt-4.1", connection: "home" })
      assert.deepStrictEqual(JSON.parse(byName.text), { ok: true, removed: 1 })
      assert.strictEqual((yield* clear({ provider: "openai", model: "gpt-4.1", connection: work })).at("removed"), 1)
      assert.strictEqual((yield* clear({ provider: "openai", model: "gpt-4.1" })).at("removed"), 0)
      yield* lock("openai", home, "o3", hourMs)
      assert.strictEqual((yield* clear({ provider: "openai", model: "o3" })).at("removed"), 2)
      yield* lock("openai", home, "o3", hourMs)
      yield* lock("openai", work, "o4", hourMs)
      assert.deepStrictEqual(JSON.parse((yield* clear({ all: true })).text), { ok: true, clearedAll: 2 })
      assert.deepStrictEqual(JSON.parse((yield* get(path)).text), { items: [], nextCursor: null, total: 0 })

      yield* lock("openai", work, "o4", hourMs)
      yield* drop(work)
      assert.deepStrictEqual(
        JSON.parse((yield* get(path)).text),
        { items: [], nextCursor: null, total: 0 },
        "they go with their connection"
      )
    })
  )

  it.effect("are cleared by a body that says what", () =>
    Effect.gen(function* () {
      for (const [body, param] of [
        [{}, "provider"],
        [{ all: false }, "provider"],
        [{ provider: "openai" }, "model"],
        [{ model: "o3" }, "provider"],
        [{ all: true, provider: "openai" }, "all"],
        [{ all: "yes" }, "all"],
        [{ provider: 7, model: "o3" }, "provider"]
      ] as const) {
        const refused = yield* clear(body)
        assert.deepStrictEqual([refused.status, refused.at("error.param")], [400, param], refused.text)
      }
      assert.strictEqual((yield* clear()).status, 400)
      const nobody = yield* clear({ provider: "openai", model: "o3", connection: "nobody" })
      assert.deepStrictEqual([nobody.status, nobody.at("error.param")], [404, "connection"])
    })
  )
})

layer(layerOf(), { excludeTestServices: true })("health of connections", (it) => {
  const viewOf = (id: string) => Effect.map(get(`/api/providers/${id}`), (answer) => JSON.parse(answer.text).connection)
  const calm = {
    testStatus: "unknown",
    rateLimitedUntil: null,
    lastError: null,
    lastErrorType: null,
    errorCode: null,
    backoffLevel: 0
  }

  it.effect("is shown as it is now, wherever a connection is shown", () =>
    Effect.gen(function* () {
      const id = yield* connect("openai")
      assert.deepInclude(yield* viewOf(id), calm)
      const beforeMs = yield* Clock.currentTimeMillis
      yield* fail(id, forMs(hourMs))
      const cooling = {
        testStatus: "unavailable",
        lastError: "the upstream's words",
        lastErrorType: "rate_limit",
        errorCode: "429",
        backoffLevel: 1
      }
      const view = yield* viewOf(id)
      assert.deepInclude(view, cooling)
      assert.isAtLeast(Date.parse(view.rateLimitedUntil), beforeMs + hourMs)
      assert.deepInclude((yield* get("/api/providers")).at("connections.0"), cooling)
      const renamed = yield* send("PUT", `/api/providers/${id}`, { name: "renamed" })
      assert.deepInclude(renamed.at("connection"), { ...cooling, name: "renamed" })
      assert.deepInclude(yield* (yield* ConnectionRepo).get(id), { testStatus: "unavailable", backoffLevel: 1 })
      yield* drop(id)
    })
  )

  it.effect("counts a cooldown whose time has passed as over", () =>
    Effect.gen(function* () {
      const id = yield* connect("openai")
      yield* fail(id, forMs(1_000), hourMs)
      assert.deepInclude(yield* viewOf(id), {
        testStatus: "active",
        rateLimitedUntil: null,
        lastError: "the upstream's words",
        backoffLevel: 1
      })
      assert.deepInclude((yield* get("/api/rate-limits")).at("connections.0"), { testStatus: "active", remainingMs: 0 })
      yield* drop(id)
    })
  )

  it.effect("starts anew with new credentials, also from a terminal state, and only with them", () =>
    Effect.gen(function* () {
      const id = yield* connect("openai")
      const change = (body: unknown) =>
        Effect.map(send("PUT", `/api/providers/${id}`, body), (answer) => answer.at("connection"))
      yield* fail(id, banned)
      assert.deepInclude(yield* change({ priority: 3 }), { testStatus: "banned" })
      assert.deepInclude(yield* change({ apiKey: "sk-another-0123456789" }), calm)
      assert.deepInclude(yield* viewOf(id), calm)
      assert.deepInclude(yield* (yield* ConnectionRepo).get(id), { testStatus: "unknown", lastError: null })
      yield* drop(id)
    })
  )

  it.scoped("recovers with a successful test, and a failed one has no effect", () =>
    Effect.gen(function* () {
      const upstream = yield* FakeUpstream.start
      const node = { name: "n", prefix: "lab", type: "openai-compatible", baseUrl: `${upstream.origin}/v1` }
      yield* send("POST", "/api/provider-nodes", node)
      const id = yield* connect("lab", { defaultModel: "m" })
      const test = send("POST", `/api/providers/${id}/test`)

      upstream.enqueue(FakeUpstream.json({ error: { message: "no credits" } }, { status: 402 }))
      assert.strictEqual((yield* test).at("ok"), false)
      assert.deepInclude(yield* viewOf(id), calm)
      yield* fail(id, banned)
      upstream.enqueue(FakeUpstream.json({ error: { message: "down" } }, { status: 500 }))
      assert.strictEqual((yield* test).at("ok"), false)
      assert.deepInclude(yield* viewOf(id), { testStatus: "banned" })

      upstream.enqueue(FakeUpstream.json(FakeUpstream.chatCompletion()))
      assert.strictEqual((yield* test).at("ok"), true)
      assert.deepInclude(yield* viewOf(id), { ...calm, testStatus: "active" })
      assert.deepInclude(yield* (yield* ConnectionRepo).get(id), { testStatus: "active" })
      yield* drop(id)
    })
  )

  it.effect("is cleared by an operator, for one connection or all", () =>
    Effect.gen(function* () {
      const clear = (body?: unknown) => send("DELETE", "/api/resilience/cooldowns", body)
      const first = yield* connect("openai")
      const second = yield* connect("groq")
      yield* connect("mistral")
      yield* fail(first, banned)
      yield* fail(second, forMs(hourMs))
      assert.deepStrictEqual(JSON.parse((yield* clear({ connectionId: first })).text), { ok: true, removed: 1 })
      assert.deepInclude(yield* viewOf(first), calm)
      assert.deepInclude(yield* viewOf(second), { testStatus: "unavailable" })
      assert.strictEqual((yield* clear({ connectionId: first })).at("removed"), 0)
      yield* fail(first, forMs(1_000), hourMs)
      assert.deepStrictEqual(JSON.parse((yield* clear({ all: true })).text), { ok: true, clearedAll: 2 })
      for (const id of [first, second]) assert.deepInclude(yield* viewOf(id), calm)

      assert.strictEqual((yield* clear({ connectionId: "nobody" })).status, 404)
      assert.strictEqual((yield* clear({})).at("error.param"), "connectionId")
      assert.strictEqual((yield* clear({ all: true, connectionId: first })).at("error.param"), "all")
      assert.strictEqual((yield* clear()).status, 400)
    })
  )
})

layer(layerOf(), { excludeTestServices: true })("rate limits", (it) => {
  it.effect("tell of every account, and count them", () =>
    Effect.gen(function* () {
      const gate = yield* ConcurrencyGate
      const busy = yield* connect("openai", { name: "busy", max_concurrent: 1 })
      const cooling = yield* connect("openai", { name: "cooling" })
      const gone = yield* connect("openai", { name: "gone" })
      yield* connect("openai", { name: "off", isActive: false })
      yield* fail(cooling, forMs(hourMs))
      yield* fail(gone, banned)
      const place = gate.enter(busy, 1, 1)

      const { connections, overview } = JSON.parse((yield* get("/api/rate-limits")).text)
      assert.deepStrictEqual(overview, { total: 4, available: 1, cooling: 1, terminal: 1, inactive: 1 })
      const named = new Map<string, Record<string, unknown>>(
        connections.map((account: { name: string }) => [account.name, account])
      )
      assert.deepStrictEqual(named.get("busy"), {
        connectionId: busy,
        provider: "openai",
        name: "busy",
        isActive: true,
        testStatus: "unknown",
        rateLimitedUntil: null,
        remainingMs: 0,
        backoffLevel: 0,
        lastError: null,
        lastErrorType: null,
        errorCode: null,
        maxConcurrent: 1,
        inUse: 1,
        waiting: 0
      })
      const remainingMs = Number(named.get("cooling")?.remainingMs)
      assert.isTrue(remainingMs > 0 && remainingMs <= hourMs)
      assert.deepInclude(named.get("gone"), { testStatus: "banned", remainingMs: null, rateLimitedUntil: null })
      if (place._tag === "Free") place.release()
    })
  )

  it.effect("are part of the health: no account left is a degraded gateway", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* get("/api/monitoring/health")).at("status"), "ok")
      for (const { id } of yield* (yield* ConnectionRepo).list) yield* fail(id, forMs(hourMs))
      const health = yield* get("/api/monitoring/health")
      assert.strictEqual(health.at("status"), "degraded")
      assert.deepStrictEqual(health.at("connections"), { total: 4, available: 0, cooling: 2, terminal: 1, inactive: 1 })
    })
  )
})
