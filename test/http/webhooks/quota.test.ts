/** `quota.exceeded` from the budget of a key to its receivers: one event per threshold and window, also after a restart. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { answering, assertSigned, envelopeOf } from "../../support/Receiver.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { open } from "../ws/support.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-quota-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** The gateway with a listener to the feed that tells of budgets. */
const started = (dataDir: string) =>
  Effect.gen(function* () {
    const environment = new Map([["OUTBOUND_SSRF_GUARD_ENABLED", "false"]])
    const gateway = yield* TestGateway.start({ dataDir, environment })
    const feed = yield* open(gateway, "/api/live", { authorization: `Bearer ${TestGateway.adminKey}` })
    yield* Effect.promise(() => feed.next())
    const told = () => feed.frames.filter(({ event }) => event === "quota.exceeded")
    const ask = async (secret: string): Promise<number> => {
      const body = { model: "up/m", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] }
      const response = await gateway.post("/v1/chat/completions", body, { authorization: `Bearer ${secret}` })
      await response.arrayBuffer()
      return response.status
    }
    return { gateway, feed, told, ask }
  })

it.scopedLive(
  "a budget that is used up is told once in its window, to the webhook and the feed, whoever restarts",
  () =>
    Effect.gen(function* () {
      const dataDir = yield* temporary
      const upstream = yield* Fake.start
      // 1,000 tokens at 10 USD per million: more than the budget, and more than was reserved for 100 of them.
      upstream.always(Fake.json(Fake.chatCompletion({ usage: { in: 20, out: 1_000 } })))
      const receiver = yield* Fake.start
      receiver.always(answering(200))
      // An event that was under way when the gateway stopped comes again, under the same id.
      const eventsOf = (name: string) => {
        const events = receiver.requests.map(envelopeOf).filter(({ event }) => event === name)
        return [...new Map(events.map((event) => [event.id, event])).values()]
      }
      const quotaEvents = () => eventsOf("quota.exceeded")
      const failures = () => eventsOf("request.failed")

      const { hook, key, secret } = yield* Effect.scoped(
        Effect.gen(function* () {
          const { ask, gateway, told } = yield* started(dataDir)
          return yield* Effect.promise(async () => {
            await gateway.connect("up", upstream, "chat")
            await gateway.manage("PATCH", "/api/pricing", { up: { m: { input: 1, output: 10 } } })
            const { key, secret } = await gateway.manage("POST", "/api/keys", { name: "limited" })
            const { webhook } = await gateway.manage("POST", "/api/webhooks", {
              url: `${receiver.origin}/in`,
              events: ["quota.exceeded", "request.failed"]
            })
            await gateway.manage("POST", "/api/usage/budget", { apiKeyId: key.id, monthlyLimitUsd: 0.005 })

            assert.strictEqual(await ask(secret), 200)
            await eventually("the event at the receiver", quotaEvents, (events) => events.length > 0)
            await eventually("the frame of the feed", told, (frames) => frames.length > 0)
            assert.deepStrictEqual([await ask(secret), await ask(secret)], [429, 429])
            // What was refused is told to the same receiver: by then another event of the quota would have come, too.
            await eventually("the refusals at the receiver", failures, (events) => events.length === 2)
            assert.lengthOf(told(), 1)
            return { hook: webhook, key, secret }
          })
        })
      )
      const { ask, told } = yield* started(dataDir)
      yield* Effect.promise(async () => {
        assert.deepStrictEqual([await ask(secret), await ask(secret)], [429, 429])
        await eventually(
          "the refusals after the restart",
          () => failures().map(({ id }) => id),
          (ids) => ids.length === 4
        )
        assert.lengthOf(told(), 0)
        const events = quotaEvents()
        assert.lengthOf(events, 1)
        assert.deepInclude(events[0]?.data, {
          apiKeyId: key.id,
          quota: "budget",
          window: "monthly",
          limit: 0.005,
          threshold: "limit"
        })
        assert.isAtLeast(Number(events[0]?.data["used"]), 0.01)
        const request = receiver.requests.find((one) => envelopeOf(one).event === "quota.exceeded")
        if (request !== undefined) assertSigned(request, hook.secret)
      })
    })
)

it.scopedLive("a limit is told at its warning threshold and at its end, once each per window, whoever restarts", () =>
  Effect.gen(function* () {
    const dataDir = yield* temporary
    const upstream = yield* Fake.start
    // 0.01002 USD and 1,020 tokens each.
    upstream.always(Fake.json(Fake.chatCompletion({ usage: { in: 20, out: 1_000 } })))
    const secret = yield* Effect.scoped(
      Effect.gen(function* () {
        const { ask, gateway, told } = yield* started(dataDir)
        return yield* Effect.promise(async () => {
          await gateway.connect("up", upstream, "chat")
          await gateway.manage("PATCH", "/api/pricing", { up: { m: { input: 1, output: 10 } } })
          const { key, secret } = await gateway.manage("POST", "/api/keys", { name: "limited", maxRequestsPerDay: 3 })
          const budget = { apiKeyId: key.id, monthlyLimitUsd: 0.03, dailyLimitUsd: 5, warningThreshold: 0.5 }
          await gateway.manage("POST", "/api/usage/budget", budget)
          const limit = { apiKeyId: key.id, scopeType: "provider", scopeValue: "up", tokenLimit: 2_500 }
          await gateway.manage("POST", "/api/usage/token-limits", limit)

          assert.strictEqual(await ask(secret), 200)
          assert.lengthOf(told(), 0)
          assert.strictEqual(await ask(secret), 200)
          const warned = await eventually("the warnings", told, (frames) => frames.length === 2)
          assert.deepStrictEqual(
            warned.map(({ data: { quota, threshold, window } }) => [quota, threshold, window]),
            [
              ["budget", "warning", "monthly"],
              ["tokens", "warning", "monthly"]
            ]
          )
          return secret
        })
      })
    )
    const { ask, told } = yield* started(dataDir)
    yield* Effect.promise(async () => {
      assert.strictEqual(await ask(secret), 200)
      await eventually("the ends", told, (frames) => frames.length === 3)
      assert.deepStrictEqual([await ask(secret), await ask(secret)], [429, 429])
      assert.deepStrictEqual(
        told().map(({ data: { quota, reason, threshold } }) => [quota, threshold, reason]),
        [
          ["budget", "limit", "The monthly budget of the key is used up."],
          ["tokens", "limit", "The monthly token limit of the key is used up."],
          ["rate", "limit", "The daily rate limit of the key is used up."]
        ]
      )
    })
  })
)
