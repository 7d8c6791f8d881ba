/** A key that may use some models only: no other word of its request reaches an upstream that would choose another. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

describe("a restricted key", () => {
  it.scopedLive("names one model, once; the rest is left out and told", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const upstream = yield* Fake.start
      upstream.always(Fake.json(Fake.chatCompletion({ text: "served" })))
      yield* Effect.promise(async () => {
        await gateway.connect("up", upstream, "chat")
        const { secret } = await gateway.manage("POST", "/api/keys", { name: "k", allowedModels: ["up/m"] })
        const said = JSON.stringify({
          model: "up/m",
          messages: [{ role: "user", content: "Hi" }],
          temperature: 1
        }).slice(1)
        const more = '{"models":["evil"],"route":"evil","fallbacks":["evil"],"plugins":[{"model":"evil"}],'
        const sent = async (headers: Record<string, string>) => {
          const answer = await gateway.post("/v1/chat/completions", more + said, headers)
          assert.strictEqual(answer.status, 200)
          return answer.headers.get("x-gateway-dropped")
        }
        assert.strictEqual(await sent({ authorization: `Bearer ${secret}` }), "models,route,fallbacks,plugins")
        const [restricted] = upstream.requests.slice(-1)
        assert.notInclude(String(restricted?.body), "evil")
        assert.deepInclude(JSON.parse(String(restricted?.body)), { model: "m", temperature: 1 })
        for (const twice of ['{"model":"evil",', '{"mod\\u0065l":"evil",', '{"Model":"evil",']) {
          const answer = await gateway.post("/v1/chat/completions", twice + said, { authorization: `Bearer ${secret}` })
          assert.strictEqual(answer.status, 400, twice)
        }
        assert.lengthOf(upstream.requests, 1)
        // A key for all models may name any model.
        assert.isNull(await sent({}))
        assert.include(String(upstream.requests.at(-1)?.body), "fallbacks")
      })
    })
  )

  it.scopedLive("may not have the tokens of other models counted either, whatever the body names", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const upstream = yield* Fake.start
      upstream.always(Fake.json({ input_tokens: 7, totalTokens: 7 }))
      yield* Effect.promise(async () => {
        await gateway.connect("up", upstream, "messages")
        await gateway.connect("gem", upstream, "gemini")
        const { secret } = await gateway.manage("POST", "/api/keys", { name: "k", allowedModels: ["up/m"] })
        const authorization = `Bearer ${secret}`
        const messages = [{ role: "user", content: "Hi" }]
        const contents = [{ role: "user", parts: [{ text: "Hi" }] }]
        const asked = upstream.requests.length
        for (const [path, body] of [
          ["/v1/messages/count_tokens", { model: "up/evil", messages }],
          ["/v1/messages/count_tokens", { model: "gem/m", messages }],
          ["/v1beta/models/gem%2Fm:countTokens", { contents }],
          ["/v1beta/models/gem%2Fm:countTokens", { generateContentRequest: { model: "models/up/m", contents } }],
          ["/v1/responses/input_tokens", { model: "up/evil", input: "Hi" }]
        ] as const) {
          const answer = await gateway.post(path, body, { authorization })
          assert.strictEqual(
            answer.status,
            path.startsWith("/v1/messages") ? 400 : 403,
            `${path} ${await answer.text()}`
          )
        }
        assert.strictEqual(upstream.requests.length, asked)
        const counted = await gateway.post("/v1/messages/count_tokens", { model: "up/m", messages }, { authorization })
        assert.strictEqual(counted.status, 200)
      })
    })
  )
})
