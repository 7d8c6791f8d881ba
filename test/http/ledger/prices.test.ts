/** What is booked, told and kept of prices, over real sockets. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Gateway from "../../support/TestGateway.ts"

const usage = { in: 20, out: 100 }
/** 20 tokens at 1 and 100 at 10 USD per million. */
const oneUsd = 0.00102

const near = (actual: number, expected: number): void => assert.closeTo(actual, expected, 1e-10)

const setUp = Effect.gen(function* () {
  const upstream = yield* Fake.start
  const gateway = yield* Gateway.start()
  return yield* Effect.promise(async () => {
    await gateway.connect("up", upstream, "chat")
    await gateway.manage("PATCH", "/api/pricing", { up: { m: { input: 1, output: 10 } } })
    const { key, secret } = await gateway.manage("POST", "/api/keys", { name: "limited" })
    const ask = (more: Readonly<Record<string, unknown>> = {}, bearer: string | null = secret) =>
      gateway.post(
        "/v1/chat/completions",
        { model: "up/m", max_tokens: 100, messages: [{ role: "user", content: "Hi" }], ...more },
        bearer === null ? {} : { authorization: `Bearer ${bearer}` }
      )
    const rows = async () => (await gateway.manage("GET", "/api/usage/logs?limit=50")).logs
    return { upstream, gateway, keyId: key.id as string, ask, rows }
  })
})

describe("the price of a request", () => {
  for (const stream of [false, true]) {
    it.scopedLive(
      `is the one it was reserved at, whatever is set while it runs (${stream ? "streamed" : "whole"})`,
      () =>
        Effect.gen(function* () {
          const { ask, gateway, keyId, rows, upstream } = yield* setUp
          yield* Effect.promise(async () => {
            const held = Fake.makeLatch()
            upstream.always(async (response, request) => {
              await held.opened
              await (stream
                ? Fake.sse(Fake.chatStream(["Hello"], { usage }))(response, request)
                : Fake.json(Fake.chatCompletion({ usage }))(response, request))
            })
            await gateway.manage("POST", "/api/usage/budget", { apiKeyId: keyId, dailyLimitUsd: 0.005 })
            const asked = ask({ stream })
            const keyless = ask({ stream }, null)
            await upstream.received(2)
            await gateway.manage("PATCH", "/api/pricing", { up: { m: { input: 100, output: 1_000 } } })
            held.open()
            for (const answer of await Promise.all([asked, keyless])) {
              assert.strictEqual(answer.status, 200)
              await answer.arrayBuffer()
            }
            for (const row of await rows()) near(row.costUsd, oneUsd)
            const { spentUsd } = await gateway.manage("GET", `/api/usage/budget?apiKeyId=${keyId}`)
            near(spentUsd, oneUsd)
            const { entries } = await gateway.manage("GET", `/api/usage/ledger?apiKeyId=${keyId}`)
            assert.deepInclude(entries[0].price, { input: 1, output: 10 })
            near(entries[0].settledUsd, oneUsd)
            // The next one is paid at the new price.
            assert.strictEqual((await ask({ stream })).status, 429)
          })
        }),
      30_000
    )
  }

  it.scopedLive(
    "is fixed for a request of which none was known, too",
    () =>
      Effect.gen(function* () {
        const { ask, gateway, rows, upstream } = yield* setUp
        yield* Effect.promise(async () => {
          const held = Fake.makeLatch()
          upstream.always(async (response, request) => {
            await held.opened
            await Fake.json(Fake.chatCompletion({ usage }))(response, request)
          })
          await gateway.manage("DELETE", "/api/pricing")
          const asked = ask()
          await upstream.received(1)
          await gateway.manage("PATCH", "/api/pricing", { up: { m: { input: 1, output: 10 } } })
          held.open()
          await (await asked).arrayBuffer()
          assert.deepInclude((await rows())[0], {
            costUsd: 0,
            priced: false,
            unpricedParts: ["input", "output"],
            costSource: "computed"
          })
        })
      }),
    30_000
  )

  it.scopedLive(
    "takes tiers, service tiers and searches of an override, and tells what has none",
    () =>
      Effect.gen(function* () {
        const { ask, gateway, rows, upstream } = yield* setUp
        yield* Effect.promise(async () => {
          const price = {
            input: 1,
            output: 10,
            tiers: [{ above: 10, input: 2 }],
            serviceTiers: { flex: { factor: 0.5 } },
            perWebSearch: 0.25
          }
          await gateway.manage("PATCH", "/api/pricing", { up: { m: price } })
          assert.deepInclude((await gateway.manage("GET", "/api/pricing")).up.m, price)
          const answer = (more: Readonly<Record<string, unknown>>, counts: Readonly<Record<string, unknown>> = {}) => {
            const body = { ...Fake.chatCompletion({ usage }), ...more } as { readonly usage: object }
            upstream.always(Fake.json({ ...body, usage: { ...body.usage, ...counts } }))
          }
          answer({ service_tier: "flex" })
          await (await ask()).arrayBuffer()
          const [flex] = await rows()
          near(flex.costUsd, (20 * 2 + 100 * 10) / 2e6)
          assert.deepInclude(flex, { priced: true, unpricedParts: [] })
          assert.deepInclude(flex.costFacts, { serviceTier: "flex" })
          answer(
            { service_tier: "priority" },
            { server_tool_use: { web_search_requests: 2, code_execution_requests: 1 } }
          )
          await (await ask()).arrayBuffer()
          const [told] = await rows()
          near(told.costUsd, (20 * 2 + 100 * 10) / 1e6 + 0.5)
          assert.deepInclude(told, { priced: true, unpricedParts: ["codeExecutions", "serviceTier:priority"] })
        })
      }),
    30_000
  )

  it.scopedLive("refuses a price that cannot be, by the name of its member", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp
      const wrong: ReadonlyArray<readonly [unknown, string]> = [
        [{ tiers: [{ above: -1, input: 1 }] }, "above"],
        [{ tiers: [{ above: 5 }, { above: 5 }] }, "above"],
        [{ tiers: [{ above: 5, inptu: 1 }] }, "inptu"],
        [{ serviceTiers: { flex: { factor: -1 } } }, "factor"],
        [{ serviceTiers: { flex: { factr: 1 } } }, "factr"],
        [{ perWebSearch: -1 }, "perWebSearch"],
        [{ geos: { us: 1.1 } }, "us"]
      ]
      yield* Effect.promise(async () => {
        for (const [more, name] of wrong) {
          const refused = await fetch(`${gateway.url}/api/pricing`, {
            method: "PATCH",
            headers: { authorization: `Bearer ${Gateway.adminKey}`, "content-type": "application/json" },
            body: JSON.stringify({ up: { m: { input: 1, output: 1, ...(more as object) } } })
          })
          assert.strictEqual(refused.status, 400, JSON.stringify(more))
          assert.include(await refused.text(), name)
        }
      })
    })
  )
})
