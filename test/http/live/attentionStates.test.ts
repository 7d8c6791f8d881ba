/**
 * What needs a person, in states that the gateway has really come into: each kind of `GET /api/attention`, with its time where it has one, and each
 * thing to do about it done as it is given.
 */
import { assert, describe, it } from "@effect/vitest"
import Database from "better-sqlite3"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { password, signIn } from "../../support/AdminSession.ts"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { make as makeTunnels } from "../../support/FakeTunnels.ts"
import { moduleOf } from "../../support/RealPlugins.ts"
import * as TestGateway from "../../support/TestGateway.ts"

interface Action {
  readonly label: string
  readonly method: string
  readonly path: string
  readonly body: unknown
}

interface Item {
  readonly id: string
  readonly kind: string
  readonly severity: string
  readonly subject: { readonly type: string; readonly id: string }
  readonly since: string | null
  readonly changesAt: string | null
  readonly text: string
  readonly actions: ReadonlyArray<Action>
}

const hourMs = 3_600_000
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString()
/** Time of day at which windows of a day begin, so that the present one is half over. */
const halfADayAgo = (): string => inMs(-12 * hourMs).slice(11, 16)

/** The clock of this machine, which can be moved on. */
const movedClock = Effect.map(Effect.clock, (real) => {
  const state = { byMs: 0 }
  const nowMs = (): number => real.unsafeCurrentTimeMillis() + state.byMs
  const clock: Clock.Clock = Object.assign(Object.create(real) as Clock.Clock, {
    unsafeCurrentTimeMillis: nowMs,
    currentTimeMillis: Effect.sync(nowMs)
  })
  return { clock, moveOn: (ms: number) => void (state.byMs += ms) }
})

const setUp = Effect.gen(function* () {
  const { clock, moveOn } = yield* movedClock
  const dataDir = yield* TestGateway.dataFolder
  const tunnels = makeTunnels()
  const gateway = yield* TestGateway.start(
    {
      dataDir,
      adminPassword: Redacted.make(password),
      environment: new Map([
        ["OUTBOUND_SSRF_GUARD_ENABLED", "false"],
        ["REQUIRE_API_KEY", "true"]
      ])
    },
    tunnels
  ).pipe(Effect.withClock(clock))
  const upstream = yield* Fake.start
  upstream.lists(Fake.json(Fake.models(["m"])))
  upstream.always(Fake.json(Fake.chatCompletion({ text: "x", usage: { in: 10, out: 5 } })))
  const items = async (): Promise<ReadonlyArray<Item>> => (await gateway.manage("GET", "/api/attention")).items
  const itemOf = (kind: string, id: string): Promise<Item> =>
    eventually(
      `${kind} of ${id}`,
      async () => (await items()).find((each) => each.kind === kind && each.subject.id === id),
      (found) => found !== undefined
    ) as Promise<Item>
  const ask = async (secret: string, model = "up/m"): Promise<number> => {
    const body = { model, messages: [{ role: "user", content: "Hi" }], max_tokens: 5 }
    const answer = await gateway.post("/v1/chat/completions", body, { authorization: `Bearer ${secret}` })
    await answer.text()
    return answer.status
  }
  const key = async (): Promise<{ readonly id: string; readonly secret: string }> => {
    const { key: made, secret } = await gateway.manage("POST", "/api/keys", { name: "team" })
    return { id: made.id, secret }
  }
  const send = async ({ body, method, path }: Action): Promise<Response> =>
    fetch(gateway.url + path, {
      method,
      headers: {
        authorization: `Bearer ${TestGateway.adminKey}`,
        ...(body === null ? {} : { "content-type": "application/json" })
      },
      ...(body === null ? {} : { body: JSON.stringify(body) })
    })
  /** Does all that is named, as it is given. */
  const doAll = async ({ actions, kind }: Item): Promise<void> => {
    assert.isNotEmpty(actions)
    for (const action of actions) {
      const answer = await send(action)
      const text = await answer.text()
      assert.include([200, 201, 202, 204], answer.status, `${kind}: ${action.method} ${action.path}: ${text}`)
    }
  }
  const gone = (id: string): Promise<unknown> =>
    eventually(`the end of ${id}`, items, (all) => !all.some((each) => each.id === id))
  return { gateway, upstream, dataDir, tunnels, moveOn, items, itemOf, ask, key, doAll, gone }
})

type Scene = Effect.Effect.Success<typeof setUp>

const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

const isWithin = (time: string | null, fromMs: number, toMs: number): void => {
  assert.match(time ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const ms = Date.parse(time ?? "") - Date.now()
  assert.isTrue(ms > fromMs && ms <= toMs, `${time} is in ${ms / hourMs} h`)
}

describe("what needs a person", () => {
  scene("is a budget that will run out, with the time, and one that has", async (given) => {
    const { ask, doAll, gateway, gone, itemOf, key, upstream } = given
    await gateway.connect("up", upstream, "chat")
    await gateway.manage("PATCH", "/api/pricing", { up: { m: { input: 1_000, output: 1_000 } } })
    const { id, secret } = await key()
    const limitTo = (dailyLimitUsd: number) =>
      gateway.manage("POST", "/api/usage/budget", { apiKeyId: id, dailyLimitUsd, resetTime: halfADayAgo() })
    await limitTo(1_000)
    assert.strictEqual(await ask(secret), 200)
    const { spentUsd } = await gateway.manage("GET", `/api/usage/budget?apiKeyId=${id}`)
    assert.isAbove(spentUsd, 0)
    await limitTo(spentUsd * 1.5)
    const soon = await itemOf("budgetExhausting", id)
    // Two thirds in twelve hours: the rest in six.
    isWithin(soon.changesAt, 5.9 * hourMs, 6.1 * hourMs)
    assert.strictEqual(soon.severity, "warning")
    await limitTo(spentUsd / 2)
    const over = await itemOf("budgetExhausted", id)
    isWithin(over.changesAt, 11.9 * hourMs, 12.1 * hourMs)
    await doAll(over)
    await gone(over.id)
  })

  scene("is a token limit that will run out, with the time, and one that has", async (given) => {
    const { ask, doAll, gateway, gone, itemOf, key, upstream } = given
    await gateway.connect("up", upstream, "chat")
    const { id, secret } = await key()
    const limitTo = async (tokenLimit: number): Promise<string> => {
      const asked = { apiKeyId: id, scopeType: "global", tokenLimit, resetInterval: "daily", resetTime: halfADayAgo() }
      await gateway.manage("POST", "/api/usage/token-limits", asked)
      const { limits } = await gateway.manage("GET", `/api/usage/token-limits?apiKeyId=${id}`)
      return limits[0].id
    }
    await limitTo(1_000)
    assert.strictEqual(await ask(secret), 200)
    const limit = await limitTo(20)
    isWithin((await itemOf("tokenLimitExhausting", limit)).changesAt, 3.9 * hourMs, 4.1 * hourMs)
    await limitTo(10)
    const over = await itemOf("tokenLimitExhausted", limit)
    await doAll(over)
    await gone(over.id)
  })

  scene("is a quota of an account that will run out, with the time, and one that has", async (given) => {
    const { ask, doAll, gateway, itemOf, key, upstream } = given
    const { id } = await gateway.connect("up", upstream, "chat", {
      quotas: [{ window: "daily", unit: "requests", limit: 3, resetAt: inMs(12 * hourMs) }]
    })
    const { secret } = await key()
    for (const _ of [1, 2]) assert.strictEqual(await ask(secret), 200)
    const soon = await itemOf("quotaExhausting", id)
    isWithin(soon.changesAt, 5.9 * hourMs, 6.1 * hourMs)
    const { windows } = await gateway.manage("GET", "/api/quotas")
    assert.strictEqual(
      Math.round(Date.parse(windows[0].exhaustedAt) / 60_000),
      Math.round(Date.parse(soon.changesAt ?? "") / 60_000)
    )
    assert.strictEqual(await ask(secret), 200)
    const over = await itemOf("quotaExhausted", id)
    isWithin(over.changesAt, 11.9 * hourMs, 12.1 * hourMs)
    await doAll(over)
  })

  for (const [provider, path] of [
    ["claude", "authorize"],
    ["gemini", "authorize"]
  ] as const) {
    scene(`is a sign-in at ${provider} that ends and cannot be renewed`, async ({ doAll, gateway, itemOf }) => {
      const oauth = { accessToken: "access-0123456789", clientId: "my-client", expiresAt: inMs(24 * hourMs) }
      const body = { provider, authType: "oauth", name: "work", models: ["m"], oauth }
      const { connection } = await gateway.manage("POST", "/api/providers", body)
      const found = await itemOf("signInExpiring", connection.id)
      isWithin(found.changesAt, 23.9 * hourMs, 24 * hourMs)
      const [again] = found.actions
      assert.deepStrictEqual(
        [again?.path, again?.body],
        [`/api/oauth/${provider}/${path}`, { name: "work", clientId: "my-client" }]
      )
      await doAll(found)
    })
  }

  scene(
    "is a sign-in by a code for another device, and one that nothing is known to sign in again with",
    async (given) => {
      const { gateway, itemOf } = given
      const add = async (provider: string, more: object): Promise<string> => {
        const oauth = { accessToken: "access-0123456789", expiresAt: inMs(24 * hourMs), ...more }
        const body = { provider, authType: "oauth", name: provider, models: ["m"], oauth }
        return (await gateway.manage("POST", "/api/providers", body)).connection.id
      }
      const device = await itemOf("signInExpiring", await add("github", { clientId: "my-client" }))
      assert.strictEqual(device.actions[0]?.path, "/api/oauth/github/device-code")
      const unknown = await itemOf("signInExpiring", await add("codex", {}))
      assert.deepStrictEqual(
        unknown.actions.map(({ label }) => label),
        ["Test it"]
      )
    }
  )

  scene("is a webhook whose deliveries fail, and that is switched off by them", async (given) => {
    const { ask, doAll, gateway, gone, itemOf, key, upstream } = given
    await gateway.connect("up", upstream, "chat")
    const { webhook } = await gateway.manage("POST", "/api/webhooks", {
      url: `${upstream.origin}/nowhere/in`,
      events: ["request.completed"]
    })
    upstream.always((response, request) =>
      request.url.startsWith("/nowhere")
        ? Fake.json({}, { status: 410 })(response, request)
        : Fake.json(Fake.chatCompletion({ text: "x", usage: { in: 10, out: 5 } }))(response, request)
    )
    const { secret } = await key()
    for (let n = 0; n < 10; n += 1) await ask(secret)
    await eventually(
      "the webhook is off",
      () => gateway.manage("GET", `/api/webhooks/${webhook.id}`),
      ({ webhook: { enabled } }) => enabled === 0 || enabled === false
    )
    const found = await itemOf("webhookDisabled", webhook.id)
    assert.strictEqual(found.severity, "error")
    upstream.always(Fake.json(Fake.chatCompletion({ text: "x", usage: { in: 10, out: 5 } })))
    await doAll(found)
    await gone(found.id)
  })

  scene("is a tunnel in error, until it is open again", async ({ doAll, gateway, gone, itemOf, tunnels }) => {
    tunnels.next({ phase: "error", lastError: "the program ended" })
    await gateway.manage("POST", "/api/tunnels/quick", { action: "enable" })
    const found = await itemOf("tunnelFailed", "quick")
    assert.include(found.text, "the program ended.")
    await doAll(found)
    await gone(found.id)
  })

  scene("is a flag that waits for a restart", async ({ gateway, itemOf }) => {
    const key = "ENABLE_CC_COMPATIBLE_PROVIDER"
    const answer = await fetch(`${gateway.url}/api/settings/feature-flags`, {
      method: "PUT",
      headers: { ...(await signIn(gateway)), "content-type": "application/json" },
      body: JSON.stringify({ key, value: "true" })
    })
    assert.strictEqual(answer.status, 200)
    const found = await itemOf("flagWaiting", key)
    // The restart itself is tried with a whole program, in test/faults/tunnels/restart.test.ts.
    assert.deepInclude(found.actions[0], { method: "POST", path: "/api/restart", body: null })
  })

  scene("is a plugin in error", async ({ ask, doAll, gateway, gone, itemOf, key, upstream }) => {
    await gateway.connect("up", upstream, "chat")
    const { secret } = await key()
    const manifest = { name: "broken", version: "1.0.0", main: "index.js", hooks: { onRequest: true } }
    const code = moduleOf("broken", `onRequest: () => { for (;;) {} }`)
    await gateway.manage("POST", "/api/plugins", { manifest, files: { "index.js": code } })
    await gateway.manage("POST", "/api/plugins/broken/activate", {})
    const status = async (): Promise<string> => (await gateway.manage("GET", "/api/plugins/broken")).plugin.status
    for (let n = 0; n < 30 && (await status()) !== "error"; n += 1) await ask(secret)
    const found = await itemOf("pluginFailed", "broken")
    await doAll(found)
    await gone(found.id)
  })

  scene("is a capture that was left on", async ({ doAll, gateway, gone, itemOf }) => {
    await gateway.manage("POST", "/api/tools/traffic-inspector/capture-modes/http-proxy", { action: "start" })
    const found = await itemOf("captureOn", "http-proxy")
    await doAll(found)
    await gone(found.id)
  })

  scene("is a model without a price", async ({ ask, doAll, gateway, itemOf, key, upstream }) => {
    await gateway.connect("up", upstream, "chat")
    const { secret } = await key()
    assert.strictEqual(await ask(secret), 200)
    await eventually(
      "the sums have it",
      () => gateway.manage("GET", "/api/usage/analytics?range=24h"),
      ({ byModel }) => byModel.length > 0
    )
    await doAll(await itemOf("modelUnpriced", "up/m"))
  })

  scene("is a log that cannot be written, until it can", async ({ ask, dataDir, doAll, gone, itemOf, key }) => {
    const { secret } = await key()
    const file = readdirSync(dataDir).find((name) => /\.(?:db|sqlite3?)$/.test(name)) ?? ""
    const outside = new Database(join(dataDir, file))
    outside.exec("CREATE TRIGGER full BEFORE INSERT ON usage_log BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
    await ask(secret, "nobody/m")
    const found = await itemOf("logLosing", "usage")
    await doAll(found)
    outside.exec("DROP TRIGGER full")
    outside.close()
    await gone(found.id)
  })

  scene("is a list of models that could not be read, until it is", async (given) => {
    const { doAll, gateway, gone, itemOf, upstream } = given
    const { id } = await gateway.connect("up", upstream, "chat")
    upstream.lists(Fake.json({ error: { message: "down" } }, { status: 500 }))
    const read = () =>
      fetch(`${gateway.url}/api/providers/${id}/models?refresh=true`, {
        headers: { authorization: `Bearer ${TestGateway.adminKey}` }
      })
    await (await read()).text()
    const found = await itemOf("modelListFailed", id)
    upstream.lists(Fake.json(Fake.models(["m"])))
    await doAll(found)
    await gone(found.id)
  })

  scene("is an account that ended or rests, and an open breaker, until what is named was done", async (given) => {
    const { ask, doAll, gateway, gone, itemOf, key, upstream } = given
    const { id } = await gateway.connect("up", upstream, "chat")
    const { secret } = await key()
    upstream.always(
      Fake.json(
        { error: { message: "slow down", code: "rate_limit_exceeded" } },
        { status: 429, headers: { "retry-after": "600" } }
      )
    )
    await ask(secret)
    const resting = await itemOf("connectionResting", id)
    isWithin(resting.changesAt, 9 * 60_000, 10 * 60_000)
    await doAll(resting)
    await gone(resting.id)

    upstream.always(
      Fake.json({ error: { message: "This key was revoked.", code: "invalid_api_key" } }, { status: 401 })
    )
    await ask(secret)
    await doAll(await itemOf("connectionEnded", id))

    const other = await gateway.connect("low", upstream, "chat")
    assert.isString(other.id)
    upstream.always(Fake.json({ error: { message: "down" } }, { status: 503 }))
    for (let tries = 0; tries < 60; tries += 1) {
      await ask(secret, "low/m")
      await gateway.manage("DELETE", "/api/resilience/model-cooldowns", { all: true })
      const { breakers } = await gateway.manage("GET", "/api/resilience/breakers")
      if (breakers.some(({ state }: { state: string }) => state === "OPEN")) break
    }
    const { breakers } = await gateway.manage("GET", "/api/resilience/breakers")
    const open = breakers.find(({ state }: { state: string }) => state === "OPEN")
    const found = await itemOf("breakerOpen", open.provider)
    await doAll(found)
    await gone(found.id)
  })

  scene(
    "is that no backup was made for too long, until one was",
    async ({ doAll, gateway, gone, itemOf, items, moveOn }) => {
      await gateway.manage("PATCH", "/api/settings", { backup: { autoBackupEnabled: true, frequency: "hourly" } })
      assert.deepStrictEqual(await items(), [])
      moveOn(2 * hourMs + 60_000)
      const found = await itemOf("backupOld", "scheduled")
      await doAll(found)
      await gone(found.id)
    }
  )
})
