/** What an operator's tests cost stands in the usage log, over real sockets. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Gateway from "../../support/TestGateway.ts"

const usage = { in: 20, out: 100 }

const setUp = Effect.gen(function* () {
  const upstream = yield* Fake.start
  upstream.always(Fake.json(Fake.chatCompletion({ usage })))
  const gateway = yield* Gateway.start()
  const connection = yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
  yield* Effect.promise(() => gateway.manage("PATCH", "/api/pricing", { up: { m: { input: 1, output: 10 } } }))
  const rows = async () => (await gateway.manage("GET", "/api/usage/logs?limit=50")).logs
  return { upstream, gateway, connection, rows }
})

describe("an operator's test", () => {
  it.scopedLive("of a connection has a row with its cost", () =>
    Effect.gen(function* () {
      const { connection, gateway, rows, upstream } = yield* setUp
      yield* Effect.promise(async () => {
        const before = (await rows()).length
        const found = await gateway.manage("POST", `/api/providers/${connection.id}/test`)
        assert.isTrue(found.ok)
        assert.notProperty(found, "answered")
        const [row, ...others] = await rows()
        assert.lengthOf(others, before)
        assert.deepInclude(row, {
          principal: "operator",
          apiKeyId: null,
          provider: "up",
          connectionId: connection.id,
          model: "m",
          requestedModel: "up/m",
          outcome: "completed",
          status: 200,
          usageSource: "upstream",
          priced: true,
          costUsd: 0.00102
        })
        // One that was refused has cost nothing.
        upstream.always(Fake.json({ error: { message: "no" } }, { status: 401 }))
        assert.isFalse((await gateway.manage("POST", `/api/providers/${connection.id}/test`)).ok)
        assert.lengthOf(await rows(), before + 1)
        // One without usage is estimated.
        upstream.always((response, request) => {
          const { usage: _usage, ...rest } = Fake.chatCompletion({ usage }) as Record<string, unknown>
          return Fake.json(rest)(response, request)
        })
        await gateway.manage("POST", `/api/providers/${connection.id}/test`)
        const [estimated] = await rows()
        assert.strictEqual(estimated.usageSource, "estimated")
        assert.isAbove(estimated.costUsd, 0)
      })
    })
  )

  it.scopedLive("through the gateway is the operator's, a key's and a stranger's are not", () =>
    Effect.gen(function* () {
      const { gateway, rows } = yield* setUp
      yield* Effect.promise(async () => {
        const { secret } = await gateway.manage("POST", "/api/keys", { name: "k" })
        for (const [bearer, principal] of [
          [Gateway.adminKey, "operator"],
          [secret, "key"],
          [null, "anonymous"]
        ] as const) {
          const answer = await gateway.post(
            "/v1/chat/completions",
            { model: "up/m", messages: [{ role: "user", content: "Hi" }] },
            bearer === null ? {} : { authorization: `Bearer ${bearer}` }
          )
          await answer.arrayBuffer()
          assert.strictEqual((await rows())[0].principal, principal)
        }
      })
    })
  )
})
