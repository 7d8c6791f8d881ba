/** What needs a person, by state that real requests have made: an account that is refused, a provider that fails, and both gone again. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

interface Item {
  readonly id: string
  readonly kind: string
  readonly subject: { readonly type: string; readonly id: string }
}

describe("what needs a person", () => {
  it.scopedLive("has the accounts and the breakers of real requests", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const refusing = yield* Fake.start
      const failing = yield* Fake.start
      for (const upstream of [refusing, failing]) upstream.lists(Fake.json(Fake.models(["m"])))
      refusing.always(Fake.json({ error: { message: "This key was revoked." } }, { status: 401 }))
      failing.always(Fake.json({ error: { message: "down" } }, { status: 500 }))
      yield* Effect.promise(async () => {
        const add = async (prefix: string, origin: string): Promise<string> => {
          const node = { name: prefix, prefix, type: "openai-compatible", baseUrl: `${origin}/v1` }
          await gateway.manage("POST", "/api/provider-nodes", node)
          const body = { provider: prefix, apiKey: `key-of-${prefix}-0123456789`, models: ["m"] }
          return (await gateway.manage("POST", "/api/providers", body)).connection.id
        }
        const ask = async (prefix: string): Promise<number> => {
          const body = { model: `${prefix}/m`, messages: [{ role: "user", content: "Hi" }] }
          const answer = await gateway.post("/v1/chat/completions", body)
          await answer.text()
          return answer.status
        }
        const items = async (): Promise<ReadonlyArray<Item>> => (await gateway.manage("GET", "/api/attention")).items
        const refusedId = await add("refused", refusing.origin)
        const failingId = await add("broken", failing.origin)
        assert.deepStrictEqual(await items(), [])

        await ask("refused")
        const account = (await items()).find(({ subject }) => subject.id === refusedId)
        assert.strictEqual(account?.subject.type, "connection", "the account is refused")

        for (let tries = 0; tries < 60; tries += 1) {
          await ask("broken")
          await gateway.manage("DELETE", "/api/resilience/model-cooldowns", { all: true })
          if ((await items()).some(({ kind }) => kind.startsWith("breaker"))) break
        }
        const found = await items()
        assert.isTrue(
          found.some(({ kind }) => kind.startsWith("breaker")),
          JSON.stringify(found)
        )

        for (const id of [refusedId, failingId]) await gateway.manage("DELETE", `/api/providers/${id}`)
        const left = await items()
        assert.isFalse(left.some(({ subject }) => subject.id === refusedId || subject.id === failingId))
      })
    })
  )
})
