/** Keys that programs register: who may use them for what, how many there may be, and what is told of them. Over real sockets and restarts. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Program from "../../support/Program.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const path = "/api/v1/registered-keys"
const messages = [{ role: "user", content: "Hi" }]

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
  readonly body: any
}

const asker =
  (url: string, key = TestGateway.adminKey) =>
  async (method: string, at: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> => {
    const response = await fetch(url + at, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: text === "" ? null : JSON.parse(text) }
  }

/** Two providers, of which the first has two accounts. */
const setUp = Effect.gen(function* () {
  const dataDir = yield* temporaryFolder
  const environment = new Map([["ALLOW_MULTI_CONNECTIONS_PER_COMPAT_NODE", "true"]])
  const gateway = yield* TestGateway.start({ dataDir, environment })
  const [one, two] = [yield* Fake.start, yield* Fake.start]
  for (const upstream of [one, two]) upstream.always(Fake.json(Fake.chatCompletion({ text: "served" })))
  const ids = yield* Effect.promise(async () => {
    const first = await gateway.connect("one", one, "chat", { priority: 1 })
    const other = await gateway.connect("two", two, "chat")
    const { connection } = await gateway.manage("POST", "/api/providers", {
      provider: "one",
      name: "second",
      apiKey: "upstream-key-of-the-second",
      models: ["m"],
      priority: 2
    })
    return { one: first.id, second: String(connection.id), two: other.id }
  })
  const ask = asker(gateway.url)
  const chat = (secret: string, model: string) =>
    gateway.post("/v1/chat/completions", { model, messages }, { authorization: `Bearer ${secret}` })
  return { gateway, one, two, ids, ask, chat, dataDir }
})

describe("registered keys", () => {
  it.scopedLive("are shown once, listed masked, found at both spellings, and are API keys", () =>
    Effect.gen(function* () {
      const { ask, ids } = yield* setUp
      yield* Effect.promise(async () => {
        const made = await ask("POST", path, {
          name: "ci",
          provider: "one",
          accountId: ids.one,
          expiresAt: "2035-01-01T00:00:00Z",
          dailyBudget: 50,
          hourlyBudget: 5
        })
        assert.strictEqual(made.status, 201, made.text)
        const { key, keyId, keyPrefix, createdAt, warning, ...rest } = made.body
        assert.match(key, /^gwr_[0-9A-Za-z]{49}$/)
        assert.isTrue(key.startsWith(keyPrefix))
        assert.isString(warning)
        assert.isFalse(Number.isNaN(Date.parse(createdAt)))
        const shown = {
          name: "ci",
          provider: "one",
          accountId: ids.one,
          expiresAt: "2035-01-01T00:00:00.000Z",
          dailyBudget: 50,
          hourlyBudget: 5
        }
        assert.deepStrictEqual(rest, shown)
        for (const spelling of [path, "/v1/registered-keys"]) {
          const listed = await ask("GET", `${spelling}?provider=one`)
          assert.strictEqual(listed.status, 200, listed.text)
          assert.notInclude(listed.text, key)
          assert.deepInclude(listed.body.keys[0], { ...shown, keyId, keyPrefix, isActive: true, revokedAt: null })
          assert.lengthOf((await ask("GET", `${spelling}?provider=two`)).body.keys, 0)
          const one = await ask("GET", `${spelling}/${keyId}`)
          assert.deepInclude(one.body, { id: keyId, ...shown })
          assert.notInclude(one.text, key)
        }
        const apiKey = (await ask("GET", `/api/keys/${keyId}`)).body.key
        assert.deepInclude(apiKey, {
          allowedProviders: ["one"],
          allowedConnections: [ids.one],
          maxRequestsPerDay: 50,
          rateLimits: [{ limit: 5, window: 3600 }],
          prefix: keyPrefix
        })
        const person = await ask("POST", "/api/keys", { name: "a person's" })
        assert.strictEqual((await ask("GET", `${path}/${person.body.key.id}`)).status, 404)
        assert.strictEqual((await ask("POST", `${path}/${person.body.key.id}/revoke`)).status, 404)
        assert.strictEqual((await ask("DELETE", `${path}/${person.body.key.id}`)).status, 404)
        const rotated = await ask("POST", `/api/keys/${keyId}/rotate`)
        assert.match(rotated.body.secret, /^gwr_[0-9A-Za-z]{49}$/)
      })
    })
  )

  it.scopedLive("serve their provider and account only, within combos and auto too", () =>
    Effect.gen(function* () {
      const { ask, chat, gateway, ids, one, two } = yield* setUp
      yield* Effect.promise(async () => {
        await gateway.combo("mix", "two/m", "one/m")
        const ofProvider = (await ask("POST", path, { name: "p", provider: "one" })).body.key
        const ofAccount = (await ask("POST", path, { name: "a", provider: "one", accountId: ids.second })).body.key
        for (const secret of [ofProvider, ofAccount]) {
          for (const model of ["one/m", "mix", "auto", "auto/fast"]) {
            const answer = await chat(secret, model)
            assert.strictEqual(answer.status, 200, `${model}: ${await answer.text()}`)
            assert.strictEqual(answer.headers.get("x-gateway-provider"), "one", model)
          }
          const refused = await chat(secret, "two/m")
          assert.strictEqual(refused.status, 403)
          assert.strictEqual(((await refused.json()) as { error: { code: string } }).error.code, "key_connection")
        }
        assert.lengthOf(two.requests, 0)
        const used = one.requests.slice(-4).map(({ headers }) => headers.authorization)
        assert.deepStrictEqual([...new Set(used)], ["Bearer upstream-key-of-the-second"])
        // The list of models is the key's, and management is closed to it.
        const models = await asker(gateway.url, ofProvider)("GET", "/v1/models")
        assert.notInclude(models.text, '"two/m"')
        assert.strictEqual((await asker(gateway.url, ofProvider)("GET", path)).status, 403)
        assert.strictEqual((await asker(gateway.url, ofProvider)("GET", "/v1/quotas/check?provider=one")).status, 403)
      })
    })
  )

  it.scopedLive("no more are issued than may, however many ask at once", () =>
    Effect.gen(function* () {
      const { ask, ids } = yield* setUp
      yield* Effect.promise(async () => {
        const counts = async (limits: object, at: string, body: object) => {
          await ask("PUT", at, { maxActiveKeys: null, dailyIssueLimit: null, hourlyIssueLimit: null, ...limits })
          const answers = await Promise.all(
            Array.from({ length: 20 }, (_, n) => ask("POST", path, { name: `k${n}`, ...body }))
          )
          return answers
        }
        const ofProvider = await counts({ maxActiveKeys: 5 }, "/api/v1/providers/one/limits", { provider: "one" })
        assert.strictEqual(ofProvider.filter(({ status }) => status === 201).length, 5)
        const refused = ofProvider.filter(({ status }) => status === 429)
        assert.strictEqual(refused.length, 15)
        for (const { body, headers, text } of refused) {
          assert.strictEqual(body.errorCode, "MAX_ACTIVE_KEYS_EXCEEDED", text)
          assert.strictEqual(body.error.code, "MAX_ACTIVE_KEYS_EXCEEDED")
          assert.isNull(headers.get("retry-after"))
        }
        // Those of another provider are not counted with them.
        const ofAccount = await counts({ hourlyIssueLimit: 3 }, `/v1/accounts/${ids.two}/limits`, {
          provider: "two",
          accountId: ids.two
        })
        assert.strictEqual(ofAccount.filter(({ status }) => status === 201).length, 3)
        const last = ofAccount.find(({ status }) => status === 429)
        assert.strictEqual(last?.body.errorCode, "ACCOUNT_QUOTA_EXCEEDED")
        const retryAfter = Number(last?.headers.get("retry-after"))
        assert.isAbove(retryAfter, 3_500)
        assert.isAtMost(retryAfter, 3_600)
        assert.strictEqual((await ask("POST", path, { name: "other", provider: "two" })).status, 201)
        const standing = (await ask("GET", `/api/v1/accounts/${ids.two}/limits`)).body
        assert.deepInclude(standing, { accountId: ids.two, hourlyIssueLimit: 3, activeKeys: 3, hourlyIssued: 3 })
      })
    })
  )

  it.scopedLive("count as issued when they are deleted, and as active until they are revoked, over a restart", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const limits = "/api/v1/providers/openai/limits"
      const before = yield* Effect.scoped(
        Effect.gen(function* () {
          const { url } = yield* TestGateway.start({ dataDir })
          const ask = asker(url)
          return yield* Effect.promise(async () => {
            await ask("PUT", limits, { dailyIssueLimit: 3, maxActiveKeys: 2 })
            const first = await ask("POST", path, { name: "1", provider: "openai", idempotencyKey: "once" })
            const second = await ask("POST", path, { name: "2", provider: "openai" })
            assert.strictEqual((await ask("POST", path, { name: "3", provider: "openai" })).status, 429)
            assert.strictEqual((await ask("DELETE", `${path}/${second.body.keyId}`)).status, 204)
            return first.body
          })
        })
      )
      const { url } = yield* TestGateway.start({ dataDir })
      const ask = asker(url)
      yield* Effect.promise(async () => {
        assert.deepInclude((await ask("GET", limits)).body, { activeKeys: 1, dailyIssued: 2, dailyIssueLimit: 3 })
        const again = await ask("POST", path, { name: "1", provider: "openai", idempotencyKey: "once" })
        assert.strictEqual(again.status, 409, again.text)
        assert.deepInclude(again.body, { errorCode: "IDEMPOTENCY_CONFLICT", keyId: before.keyId })
        assert.strictEqual((await ask("POST", path, { name: "3", provider: "openai" })).status, 201)
        const reached = await ask("POST", path, { name: "4", provider: "openai" })
        assert.strictEqual(reached.body.errorCode, "MAX_ACTIVE_KEYS_EXCEEDED")
        await ask("POST", `${path}/${before.keyId}/revoke`)
        const daily = await ask("POST", path, { name: "4", provider: "openai" })
        assert.strictEqual(daily.body.errorCode, "PROVIDER_QUOTA_EXCEEDED", daily.text)
        assert.isAbove(Number(daily.headers.get("retry-after")), 86_000)
        // What was revoked still holds its idempotency key; what is deleted gives it back.
        assert.strictEqual((await ask("DELETE", limits)).status, 204)
        const held = await ask("POST", path, { name: "1", provider: "openai", idempotencyKey: "once" })
        assert.strictEqual(held.status, 409)
        await ask("DELETE", `/api/keys/${before.keyId}`)
        const free = await ask("POST", path, { name: "1", provider: "openai", idempotencyKey: "once" })
        assert.strictEqual(free.status, 201, free.text)
      })
    })
  )

  it.scopedLive("of many registrations with one idempotency key one succeeds", () =>
    Effect.gen(function* () {
      const { ask } = yield* setUp
      yield* Effect.promise(async () => {
        const answers = await Promise.all(
          Array.from({ length: 10 }, () => ask("POST", path, { name: "k", provider: "one", idempotencyKey: "x" }))
        )
        const made = answers.filter(({ status }) => status === 201)
        assert.lengthOf(made, 1)
        const others = answers.filter(({ status }) => status !== 201)
        for (const { body, status } of others) {
          assert.strictEqual(status, 409)
          assert.strictEqual(body.keyId, made[0]?.body.keyId)
        }
      })
    })
  )

  it.scopedLive("end at once and for good when they are revoked, and when they expire", () =>
    Effect.gen(function* () {
      const { ask, chat, one } = yield* setUp
      yield* Effect.promise(async () => {
        const { key, keyId } = (await ask("POST", path, { name: "k", provider: "one" })).body
        assert.strictEqual((await chat(key, "one/m")).status, 200)
        const revoked = await ask("POST", `${path}/${keyId}/revoke`)
        assert.strictEqual(revoked.status, 200, revoked.text)
        assert.isFalse(revoked.body.isActive)
        assert.isString(revoked.body.revokedAt)
        const asked = one.requests.length
        assert.strictEqual((await chat(key, "one/m")).status, 401)
        const again = await ask("POST", `/v1/registered-keys/${keyId}/revoke`)
        assert.deepStrictEqual(again.body, revoked.body)
        const back = await ask("PATCH", `/api/keys/${keyId}`, { isActive: true })
        assert.deepStrictEqual([back.status, back.body.error.code], [409, "key_revoked"])
        const short = await ask("POST", path, {
          name: "short",
          provider: "one",
          expiresAt: new Date(Date.now() + 60_000).toISOString()
        })
        assert.strictEqual((await chat(short.body.key, "one/m")).status, 200)
        await ask("PATCH", `/api/keys/${short.body.keyId}`, { expiresAt: "2020-01-01T00:00:00Z" })
        assert.strictEqual((await chat(short.body.key, "one/m")).status, 401)
        assert.isFalse((await ask("GET", `${path}/${short.body.keyId}`)).body.isActive)
        assert.strictEqual((await ask("DELETE", `${path}/${keyId}`)).status, 204)
        assert.strictEqual((await chat(key, "one/m")).status, 401)
        assert.strictEqual(one.requests.length, asked + 1)
        const past = await ask("POST", path, { name: "p", provider: "one", expiresAt: "2020-01-01T00:00:00Z" })
        assert.deepStrictEqual([past.status, past.body.error.param], [400, "expiresAt"])
      })
    })
  )

  it.scopedLive("are held to their requests per hour and per day", () =>
    Effect.gen(function* () {
      const { ask, chat } = yield* setUp
      yield* Effect.promise(async () => {
        for (const budget of [{ hourlyBudget: 2 }, { dailyBudget: 2 }]) {
          const { key } = (await ask("POST", path, { name: "k", provider: "one", ...budget })).body
          const statuses = [await chat(key, "one/m"), await chat(key, "one/m"), await chat(key, "one/m")]
          assert.deepStrictEqual(
            statuses.map(({ status }) => status),
            [200, 200, 429]
          )
          assert.isNotNull(statuses[2]?.headers.get("retry-after"))
        }
      })
    })
  )

  it.scopedLive("are refused with the field that is wrong", () =>
    Effect.gen(function* () {
      const { ask, ids } = yield* setUp
      yield* Effect.promise(async () => {
        for (const [field, body] of [
          ["provider", { name: "k" }],
          ["provider", { name: "k", provider: "nobody" }],
          ["accountId", { name: "k", provider: "one", accountId: ids.two }],
          ["accountId", { name: "k", provider: "one", accountId: "none" }],
          ["name", { provider: "one" }],
          ["dailyBudget", { name: "k", provider: "one", dailyBudget: 0 }],
          ["hourlyBudget", { name: "k", provider: "one", hourlyBudget: 1.5 }],
          ["idempotencyKey", { name: "k", provider: "one", idempotencyKey: "" }],
          ["scopes", { name: "k", provider: "one", scopes: ["manage"] }]
        ] as const) {
          const answer = await ask("POST", path, body)
          assert.strictEqual(answer.status, 400, `${field} ${answer.text}`)
          assert.strictEqual(answer.body.error.param, field, answer.text)
        }
        assert.lengthOf((await ask("GET", path)).body.keys, 0)
        for (const at of ["/api/v1/providers/nobody/limits", "/api/v1/accounts/none/limits"]) {
          assert.strictEqual((await ask("GET", at)).status, 404)
          assert.strictEqual((await ask("PUT", at, { maxActiveKeys: 1 })).status, 404)
          assert.strictEqual((await ask("DELETE", at)).status, 404)
        }
        const negative = await ask("PUT", "/api/v1/providers/one/limits", { maxActiveKeys: -1 })
        assert.deepStrictEqual([negative.status, negative.body.error.param], [400, "maxActiveKeys"])
        // A page of another site is refused before its body is read.
        const foreign = await ask("POST", path, { name: "k", provider: "one" }, { origin: "https://evil.example" })
        assert.strictEqual(foreign.status, 403)
      })
    })
  )

  it.scopedLive("leave one row in the audit log for each change, and their secret nowhere", () =>
    Effect.gen(function* () {
      const program = yield* Program.start({ GATEWAY_ADMIN_KEY: TestGateway.adminKey })
      const ask = asker(program.url)
      const idempotencyKey = "idempotency-key-of-the-test-77"
      const secret = yield* Effect.promise(async () => {
        const made = await ask("POST", path, { name: "k", provider: "openai", idempotencyKey })
        const { key, keyId } = made.body
        await ask("POST", path, { name: "k", provider: "openai", idempotencyKey })
        await ask("GET", `/api/v1/editor/${key}/models`)
        await ask("GET", `/nowhere/${key}`)
        await ask("GET", `/v1/models?key=${key}`, undefined, { authorization: "" })
        await ask("PUT", "/api/v1/providers/openai/limits", { maxActiveKeys: 3 })
        await ask("POST", `${path}/${keyId}/revoke`)
        const told = [await ask("GET", path), await ask("GET", "/api/keys"), await ask("GET", `${path}/${keyId}`)]
        type Rows = ReadonlyArray<{ action: string; status: string; target: string | null }>
        const rows = await eventually<Rows>(
          "the rows of the audit log",
          async () => (await ask("GET", "/api/compliance/audit-log?limit=100")).body,
          (all) => all.some(({ action }) => action === "registeredKeys.revoke")
        )
        const of = (action: string) => rows.filter((row) => row.action === action)
        assert.sameDeepMembers(
          of("registeredKeys.register").map(({ status, target }) => [status, target]),
          [
            ["success", keyId],
            ["failure", null]
          ]
        )
        for (const action of ["issueLimits.setProvider", "registeredKeys.revoke"]) {
          assert.deepStrictEqual(
            of(action).map(({ status }) => status),
            ["success"]
          )
        }
        told.push(await ask("GET", "/api/compliance/audit-log?limit=100"))
        for (const { text } of told) assert.notInclude(text, key)
        return String(key)
      })
      yield* program.stop
      const files = readdirSync(program.dataDir, { recursive: true, encoding: "utf8" })
        .map((name) => join(program.dataDir, name))
        .filter((name) => statSync(name).isFile())
        .map((name) => readFileSync(name, "latin1"))
      for (const text of [...files, program.stderr(), program.stdout()]) {
        assert.notInclude(text, secret)
        assert.notInclude(text, idempotencyKey)
      }
    })
  )
})

describe("GET /v1/quotas/check", () => {
  it.scopedLive("says whether a key could be registered and used, and if not why", () =>
    Effect.gen(function* () {
      const { ask, chat, gateway, ids, one } = yield* setUp
      yield* Effect.promise(async () => {
        const check = async (query: string) => {
          const { body, status, text } = await ask("GET", `/v1/quotas/check?${query}`)
          assert.strictEqual(status, 200, text)
          assert.isFalse(Number.isNaN(Date.parse(body.checkedAt)))
          assert.strictEqual(typeof body.reason, body.allowed ? "undefined" : "string")
          return body.allowed ? "allowed" : body.errorCode
        }
        assert.strictEqual(await check("provider=one"), "allowed")
        assert.strictEqual(await check(`provider=one&accountId=${ids.second}`), "allowed")
        assert.strictEqual((await ask("GET", `/api/v1/quotas/check?provider=one`)).body.provider, "one")
        assert.strictEqual(await check("provider=nobody"), "PROVIDER_UNKNOWN")
        assert.strictEqual(await check("provider=groq"), "PROVIDER_NOT_CONNECTED")
        assert.strictEqual(await check(`provider=one&accountId=${ids.two}`), "ACCOUNT_UNKNOWN")
        for (const query of ["", "?provider=", "?provider=one&accountId="]) {
          assert.strictEqual((await ask("GET", `/v1/quotas/check${query}`)).status, 400, query)
        }
        assert.strictEqual((await asker(gateway.url, "wrong")("GET", "/v1/quotas/check?provider=one")).status, 401)

        await gateway.manage("PUT", `/api/providers/${ids.second}`, { isActive: false })
        assert.strictEqual(await check(`provider=one&accountId=${ids.second}`), "ACCOUNT_INACTIVE")
        assert.strictEqual(await check("provider=one"), "allowed")

        one.enqueue(
          Fake.json({ error: { message: "Too many requests" } }, { status: 429, headers: { "retry-after": "60" } })
        )
        await chat(TestGateway.adminKey, "one/m")
        assert.strictEqual(await check(`provider=one&accountId=${ids.one}`), "ACCOUNT_COOLING_DOWN")
        assert.strictEqual(await check("provider=one"), "ACCOUNT_COOLING_DOWN")
        await ask("DELETE", "/api/resilience/cooldowns", { all: true })

        const { key } = (await ask("POST", path, { name: "k", provider: "two" })).body
        await ask("PUT", "/api/v1/providers/two/limits", { maxActiveKeys: 1 })
        assert.strictEqual(await check("provider=two"), "MAX_ACTIVE_KEYS_EXCEEDED")
        await ask("PUT", "/api/v1/providers/two/limits", { maxActiveKeys: null })
        await ask("PUT", `/api/v1/accounts/${ids.two}/limits`, { dailyIssueLimit: 0 })
        assert.strictEqual(await check("provider=two"), "allowed")
        assert.strictEqual(await check(`provider=two&accountId=${ids.two}`), "ACCOUNT_QUOTA_EXCEEDED")
        assert.strictEqual((await asker(gateway.url, key)("GET", "/v1/quotas/check?provider=two")).status, 403)
      })
    })
  )

  it.scopedLive("sees a quota that is used up, and an open breaker", () =>
    Effect.gen(function* () {
      const { ask, chat, gateway, ids, two } = yield* setUp
      yield* Effect.promise(async () => {
        const code = async (query: string) => (await ask("GET", `/v1/quotas/check?${query}`)).body.errorCode
        await gateway.manage("PUT", `/api/providers/${ids.one}`, {
          quotas: [{ window: "daily", unit: "requests", limit: 1 }]
        })
        await chat(TestGateway.adminKey, "one/m")
        assert.strictEqual(await code(`provider=one&accountId=${ids.one}`), "ACCOUNT_QUOTA_EXHAUSTED")
        await gateway.manage("PATCH", "/api/resilience", {
          providerBreaker: {
            apikey: { failureThreshold: 2, degradationThreshold: 1, resetTimeoutMs: 60_000 },
            local: { failureThreshold: 2, degradationThreshold: 1, resetTimeoutMs: 60_000 }
          }
        })
        two.always(Fake.json({ error: { message: "Broken" } }, { status: 503 }))
        for (let n = 0; n < 4; n += 1) await chat(TestGateway.adminKey, "two/m")
        assert.strictEqual(await code("provider=two"), "PROVIDER_CIRCUIT_OPEN")
      })
    })
  )
})
