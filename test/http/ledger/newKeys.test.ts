/** Limits of a key hold from its first request on. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

it.scopedLive("a new key is held to its requests per day", () =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start()
    const upstream = yield* Fake.start
    upstream.always(Fake.json(Fake.chatCompletion()))
    yield* Effect.promise(async () => {
      await gateway.connect("up", upstream, "chat")
      const { secret } = await gateway.manage("POST", "/api/keys", { name: "k", maxRequestsPerDay: 2 })
      const body = { model: "up/m", messages: [{ role: "user", content: "Hi" }] }
      const statuses: Array<number> = []
      for (let n = 0; n < 3; n += 1) {
        const answer = await gateway.post("/v1/chat/completions", body, { authorization: `Bearer ${secret}` })
        statuses.push(answer.status)
      }
      assert.deepStrictEqual(statuses, [200, 200, 429])
      assert.lengthOf(upstream.requests, 2)
    })
  })
)
