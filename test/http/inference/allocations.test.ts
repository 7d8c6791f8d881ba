/** Allocations of a quota group over HTTP: who is let in, who has used its share, and what is told of it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

type Config = Parameters<typeof TestGateway.start>[0]

const chat = "/v1/chat/completions"
const body = (model: string) => ({ model, messages: [{ role: "user", content: "Hi" }] })
const monthly = (limit: number, unit = "requests") => ({ quotas: [{ window: "monthly", unit, limit }] })

interface Key {
  readonly id: string
  readonly secret: string
}

const sceneOf = (gateway: TestGateway.TestGateway, upstream: Fake.FakeUpstream) => {
  upstream.always(Fake.json(Fake.chatCompletion({ text: "fine" })))
  const key = async (name: string): Promise<Key> => {
    const made = await gateway.manage("POST", "/api/keys", { name })
    return { id: made.key.id, secret: made.secret }
  }
  const ask = async (from: Key | null, model: string, path = chat, more: Record<string, unknown> = {}) => {
    const headers: Record<string, string> = from === null ? {} : { "x-api-key": from.secret }
    const response = await gateway.post(path, { ...body(model), ...more }, headers)
    // oxlint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
    const answer: any = await response.json()
    return { status: response.status, headers: response.headers, answer, error: answer.error }
  }
  const group = async (
    name: string,
    members: ReadonlyArray<string>,
    allocations?: ReadonlyArray<readonly [Key, number]>
  ) =>
    (
      await gateway.manage("POST", "/api/quota/groups", {
        name,
        members: members.map((connectionId) => ({ connectionId, weight: 1 })),
        ...(allocations === undefined
          ? {}
          : { allocations: allocations.map(([{ id }, weight]) => ({ apiKeyId: id, weight })) })
      })
    ).group
  const statuses = async (from: Key, model: string, times: number): Promise<ReadonlyArray<number>> => {
    const seen: Array<number> = []
    for (let time = 0; time < times; time++) seen.push((await ask(from, model)).status)
    return seen
  }
  return { gateway, upstream, key, ask, group, statuses }
}

type Scene = ReturnType<typeof sceneOf>
const scene = (name: string, play: (scene: Scene) => Promise<void>, config: Config = {}) =>
  it.scopedLive(name, () =>
    Effect.gen(function* () {
      const given = sceneOf(yield* TestGateway.start(config), yield* Fake.start)
      yield* Effect.promise(() => play(given))
    })
  )

describe("who may use a quota group", () => {
  scene(
    "without allocations every caller is served, also without a key",
    async ({ ask, gateway, group, key, upstream }) => {
      const { id } = await gateway.connect("up", upstream, "chat")
      assert.isFalse((await group("open", [id])).restricted)
      assert.strictEqual((await ask(null, "qtSd/open/up/m")).status, 200)
      assert.strictEqual((await ask(await key("any"), "qtSd/open/up/m")).status, 200)
    }
  )

  scene(
    "with them only these keys; the others get a 403 in their own wire, and a row",
    async ({ ask, gateway, group, key, upstream }) => {
      const { id } = await gateway.connect("up", upstream, "chat")
      const [mine, other] = [await key("mine"), await key("other")]
      assert.isTrue((await group("team", [id], [[mine, 1]])).restricted)
      const barred = await ask(other, "qtSd/team/up/m")
      assert.strictEqual(barred.status, 403)
      assert.deepInclude(barred.error, { type: "permission_error", code: "QUOTA_NOT_ALLOCATED", param: "model" })
      assert.match(barred.error.message, /no allocation in the quota group 'team'/)
      const keyless = await ask(null, "qtSd/team/up/m")
      assert.deepStrictEqual([keyless.status, keyless.error.code], [403, "QUOTA_NOT_ALLOCATED"])
      assert.match(keyless.error.message, /'team' is only for API keys with an allocation.*\/api\/quota\/groups/)
      const messages = await ask(other, "qtSd/team/up/m", "/v1/messages", { max_tokens: 5 })
      assert.deepStrictEqual(
        [messages.status, messages.answer.type, messages.error.type],
        [403, "error", "permission_error"]
      )
      const gemini = await ask(other, "qtSd/team/up/m", "/v1beta/models/qtSd/team/up/m:generateContent", {
        contents: [{ role: "user", parts: [{ text: "Hi" }] }]
      })
      assert.deepStrictEqual([gemini.status, gemini.error.code, gemini.error.status], [403, 403, "PERMISSION_DENIED"])
      assert.lengthOf(upstream.requests, 0)
      assert.strictEqual((await ask(mine, "qtSd/team/up/m")).status, 200)
      const row = await gateway.usageRow(barred.headers.get("x-gateway-request-id") ?? "")
      assert.deepInclude(row, {
        outcome: "failed",
        status: 403,
        costUsd: 0,
        requestedModel: "qtSd/team/up/m",
        apiKeyId: other.id
      })
      assert.strictEqual((await gateway.usageRow(keyless.headers.get("x-gateway-request-id") ?? "")).status, 403)
    }
  )

  scene(
    "no other spelling of the id gets past it, and no count of tokens",
    async ({ ask, gateway, group, key, upstream }) => {
      const { id } = await gateway.connect("up", upstream, "chat")
      const [mine, other] = [await key("mine"), await key("other")]
      await group("team", [id], [[mine, 1]])
      await gateway.manage("POST", "/api/models/alias", { alias: "ours", model: "qtSd/team/up/m" })
      for (const model of ["ours", "claude-3-gateway-no-thinking/qtSd/team/up/m", "qtSd/team/up/m:latest"]) {
        assert.strictEqual((await ask(other, model)).status, 403, model)
      }
      const count = await ask(other, "qtSd/team/up/m", "/v1/messages/count_tokens")
      assert.deepStrictEqual([count.status, count.error.type], [403, "permission_error"])
      assert.strictEqual((await ask(mine, "qtSd/team/up/m", "/v1/messages/count_tokens")).status, 200)
      assert.strictEqual((await ask(mine, "ours")).status, 200)
    }
  )

  scene(
    "a group whose last allocated key is deleted serves no caller until it is changed",
    async ({ ask, gateway, group, key, upstream }) => {
      const { id } = await gateway.connect("up", upstream, "chat")
      const [mine, other] = [await key("mine"), await key("other")]
      const { id: groupId } = await group("team", [id], [[mine, 1]])
      await gateway.manage("DELETE", `/api/keys/${mine.id}`)
      assert.strictEqual((await ask(other, "qtSd/team/up/m")).status, 403)
      await gateway.manage("PUT", `/api/quota/groups/${groupId}`, { name: "crew" })
      assert.strictEqual((await ask(null, "qtSd/crew/up/m")).status, 403)
      await gateway.manage("PUT", `/api/quota/groups/${groupId}`, { allocations: [] })
      assert.strictEqual((await ask(null, "qtSd/crew/up/m")).status, 200)
    }
  )

  scene("explain says so to callers without a key, and what a key may", async ({ gateway, group, key, upstream }) => {
    const { id } = await gateway.connect("up", upstream, "chat")
    const mine = await key("mine")
    await group("team", [id], [[mine, 1]])
    const explain = async (more: Record<string, unknown> = {}) =>
      (await gateway.manage("POST", "/api/routing/explain", { model: "qtSd/team/up/m", ...more })).decision
    const keyless = await explain()
    assert.deepStrictEqual(keyless.order, [])
    assert.strictEqual(keyless.reason, "refused with 403 QUOTA_NOT_ALLOCATED")
    assert.deepInclude(keyless.candidates[0].excluded, { rule: "allocation", until: null })
    assert.match(keyless.candidates[0].excluded.detail, /'team'/)
    const allowed = await explain({ apiKeyId: mine.id })
    assert.deepStrictEqual([allowed.order, allowed.candidates[0].excluded], [["up/m"], null])
  })
})

describe("shares", () => {
  scene(
    "below half a key borrows; from then on it has its share and the others theirs",
    async ({ ask, gateway, group, key, statuses, upstream }) => {
      const { id } = await gateway.connect("up", upstream, "chat", monthly(10))
      const [small, large] = [await key("small"), await key("large")]
      const { id: groupId } = await group(
        "team",
        [id],
        [
          [small, 1],
          [large, 4]
        ]
      )
      const model = "qtSd/team/up/m"
      // Its share is 2; it borrows up to half of the limit.
      assert.deepStrictEqual(await statuses(small, model, 7), [200, 200, 200, 200, 200, 429, 429])
      const refused = await ask(small, model)
      assert.deepInclude(refused.error, { type: "rate_limit_error", code: "rate_limit_exceeded" })
      assert.match(refused.error.message, /monthly quota \(requests\) of the quota group 'team'/)
      const usage = await gateway.manage("GET", `/api/usage/${id}`)
      const untilResetS = (Date.parse(usage.quotas.monthly.resetAt) - Date.now()) / 1_000
      assert.closeTo(Number(refused.headers.get("retry-after")), untilResetS, 60)
      const row = await gateway.usageRow(refused.headers.get("x-gateway-request-id") ?? "")
      assert.deepInclude(row, { outcome: "failed", status: 429, costUsd: 0, requestedModel: model, apiKeyId: small.id })
      assert.deepStrictEqual(await statuses(large, model, 5), [200, 200, 200, 200, 200])
      assert.lengthOf(upstream.requests, 10)
      const { group: shown } = await gateway.manage("GET", `/api/quota/groups/${groupId}`)
      const place = { provider: "up", window: "monthly", unit: "requests", resetAt: usage.quotas.monthly.resetAt }
      assert.deepStrictEqual(shown.allocations, [
        { apiKeyId: small.id, weight: 1, quotas: [{ ...place, used: 5, limit: 2 }] },
        { apiKeyId: large.id, weight: 4, quotas: [{ ...place, used: 5, limit: 8 }] }
      ])
      assert.deepStrictEqual((await gateway.manage("GET", "/api/quota/groups")).groups, [shown])
      const explained = await gateway.manage("POST", "/api/routing/explain", { model, apiKeyId: small.id })
      assert.deepInclude(explained.decision.candidates[0].excluded, { rule: "allocation" })
      assert.strictEqual(
        Math.round(Date.parse(explained.decision.candidates[0].excluded.until) / 1_000),
        Math.round(Date.parse(usage.quotas.monthly.resetAt) / 1_000)
      )
      // What was shown may be sent back as it is.
      await gateway.manage("PUT", `/api/quota/groups/${groupId}`, shown)
    }
  )

  scene(
    "the limit is that of all members; what goes past the group uses it up, too",
    async ({ ask, gateway, group, key, statuses, upstream }) => {
      const { id: one } = await gateway.connect("up", upstream, "chat", monthly(4))
      const { connection } = await gateway.manage("POST", "/api/providers", {
        provider: "up",
        name: "second",
        apiKey: "another",
        models: ["m"],
        ...monthly(4)
      })
      const [mine, other] = [await key("mine"), await key("other")]
      await group(
        "team",
        [one, connection.id],
        [
          [mine, 1],
          [other, 1]
        ]
      )
      const outsider = await key("outsider")
      await ask(outsider, "up/m")
      await ask(outsider, "up/m")
      await ask(outsider, "up/m")
      // 3 of 8 are gone; the share is 4.
      assert.deepStrictEqual(await statuses(mine, "qtSd/team/up/m", 5), [200, 200, 200, 200, 429])
    },
    { environment: new Map([["ALLOW_MULTI_CONNECTIONS_PER_COMPAT_NODE", "true"]]) }
  )

  scene("tokens and dollars are shared like requests", async ({ gateway, group, key, statuses, upstream }) => {
    upstream.always(Fake.json(Fake.chatCompletion({ text: "fine", usage: { in: 6, out: 4 } })))
    const { id } = await gateway.connect("up", upstream, "chat", monthly(40, "tokens"))
    const [mine, other] = [await key("mine"), await key("other")]
    await group(
      "team",
      [id],
      [
        [mine, 1],
        [other, 3]
      ]
    )
    assert.deepStrictEqual(await statuses(mine, "qtSd/team/up/m", 3), [200, 200, 429])
  })

  scene("many at once are no way around it", async ({ ask, gateway, group, key, upstream }) => {
    const { id } = await gateway.connect("up", upstream, "chat", monthly(10))
    const [mine, other] = [await key("mine"), await key("other")]
    await group(
      "team",
      [id],
      [
        [mine, 1],
        [other, 1]
      ]
    )
    const gate = Fake.makeLatch()
    upstream.always(async (response, request) => {
      await gate.opened
      await Fake.json(Fake.chatCompletion({ text: "fine" }))(response, request)
    })
    const asked = Array.from({ length: 10 }, () => ask(mine, "qtSd/team/up/m"))
    await upstream.received(5)
    gate.open()
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    assert.strictEqual(statuses.filter((status) => status === 200).length, 5)
    assert.strictEqual(statuses.filter((status) => status === 429).length, 5)
  })

  scene("calls that fail use up no share", async ({ ask, gateway, group, key, statuses, upstream }) => {
    const { id } = await gateway.connect("up", upstream, "chat", monthly(4))
    const [mine, other] = [await key("mine"), await key("other")]
    await group(
      "team",
      [id],
      [
        [mine, 1],
        [other, 1]
      ]
    )
    for (let time = 0; time < 4; time++) {
      upstream.enqueue(Fake.json({ error: { message: "no such thing" } }, { status: 400 }))
      assert.strictEqual((await ask(mine, "qtSd/team/up/m")).status, 400)
    }
    assert.deepStrictEqual(await statuses(mine, "qtSd/team/up/m", 3), [200, 200, 429])
  })

  scene(
    "where a member has no known quota nothing is shared out",
    async ({ gateway, group, key, statuses, upstream }) => {
      const { id } = await gateway.connect("up", upstream, "chat")
      const [mine, other] = [await key("mine"), await key("other")]
      const { id: groupId } = await group(
        "team",
        [id],
        [
          [mine, 1],
          [other, 9]
        ]
      )
      assert.deepStrictEqual(await statuses(mine, "qtSd/team/up/m", 4), [200, 200, 200, 200])
      const { group: shown } = await gateway.manage("GET", `/api/quota/groups/${groupId}`)
      assert.deepStrictEqual(shown.allocations[0].quotas, [])
    }
  )

  scene(
    "a percentage that the provider shows is shared out by tokens",
    async ({ ask, gateway, group, key, upstream }) => {
      const reset = String(Math.floor(Date.now() / 1_000) + 3_600)
      const showing = (utilization: string, tokens: number) =>
        Fake.json(Fake.chatCompletion({ text: "fine", usage: { in: tokens, out: 0 } }), {
          headers: {
            "anthropic-ratelimit-unified-status": "allowed",
            "anthropic-ratelimit-unified-5h-utilization": utilization,
            "anthropic-ratelimit-unified-5h-reset": reset
          }
        })
      const { id } = await gateway.connect("up", upstream, "chat")
      const [heavy, light] = [await key("heavy"), await key("light")]
      await group(
        "team",
        [id],
        [
          [heavy, 1],
          [light, 1]
        ]
      )
      const model = "qtSd/team/up/m"
      upstream.enqueue(showing("0", 900), showing("0.45", 99), showing("0.6", 900))
      assert.strictEqual((await ask(heavy, model)).status, 200)
      assert.strictEqual((await ask(light, model)).status, 200)
      assert.strictEqual((await ask(heavy, model)).status, 200)
      const refused = await ask(heavy, model)
      assert.strictEqual(refused.status, 429)
      assert.match(refused.error.message, /5-hour \(5h\) quota \(percent\)/)
      assert.closeTo(Number(refused.headers.get("retry-after")), 3_600, 60)
      upstream.enqueue(showing("0.7", 99))
      assert.strictEqual((await ask(light, model)).status, 200)
    }
  )
})

describe("a combo that names a share", () => {
  scene(
    "goes past it for who may not have it, and says so",
    async ({ ask, gateway, group, key, statuses, upstream }) => {
      const { id } = await gateway.connect("up", upstream, "chat", monthly(4))
      await gateway.connect("spare", upstream, "chat")
      const [mine, other, stranger] = [await key("mine"), await key("other"), await key("stranger")]
      await group(
        "team",
        [id],
        [
          [mine, 1],
          [other, 1]
        ]
      )
      await gateway.combo("both", "qtSd/team/up/m", "spare/m")
      await gateway.combo("only", "qtSd/team/up/m")
      const served = async (from: Key | null) => (await ask(from, "both")).headers.get("x-gateway-provider")
      const past = await ask(stranger, "both")
      assert.deepStrictEqual([past.status, past.headers.get("x-gateway-provider")], [200, "spare"])
      const { decision } = await gateway.manage(
        "GET",
        `/api/routing/decisions/${past.headers.get("x-gateway-request-id")}`
      )
      assert.deepStrictEqual(decision.order, ["spare/m"])
      assert.strictEqual(decision.candidates[0].excluded.rule, "allocation")
      const barred = await ask(stranger, "only")
      assert.deepStrictEqual([barred.status, barred.error.code], [403, "QUOTA_NOT_ALLOCATED"])
      assert.deepStrictEqual([await served(null), await served(mine), await served(mine)], ["spare", "up", "up"])
      // Its share is used up, by whatever name.
      assert.strictEqual(await served(mine), "spare")
      assert.deepStrictEqual(await statuses(mine, "qtSd/team/up/m", 1), [429])
      assert.deepStrictEqual(await statuses(mine, "only", 1), [429])
      assert.strictEqual(await served(other), "up")
    }
  )
})

describe("a restart", () => {
  it.live("does not hand out the same quota again", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const dataDir = mkdtempSync(join(tmpdir(), "gateway-test-"))
        yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dataDir, { recursive: true, force: true })))
        const upstream = yield* Fake.start
        const mine = yield* Effect.scoped(
          Effect.gen(function* () {
            const { gateway, group, key, statuses } = sceneOf(yield* TestGateway.start({ dataDir }), upstream)
            return yield* Effect.promise(async () => {
              const { id } = await gateway.connect("up", upstream, "chat", monthly(4))
              const made = await key("mine")
              await group(
                "team",
                [id],
                [
                  [made, 1],
                  [await key("other"), 1]
                ]
              )
              assert.deepStrictEqual(await statuses(made, "qtSd/team/up/m", 2), [200, 200])
              return made
            })
          })
        )
        const again = sceneOf(yield* TestGateway.start({ dataDir }), upstream)
        yield* Effect.promise(async () => assert.strictEqual((await again.ask(mine, "qtSd/team/up/m")).status, 429))
      })
    )
  )
})
