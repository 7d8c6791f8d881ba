/** System messages between turns on their way to a messages upstream. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const answer = Fake.json({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "Yes." }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 9, output_tokens: 2 }
})

const beta = { "anthropic-beta": "prompt-caching-scope-2026-01-05,mid-conversation-system-2026-04-07" }

/** Spacing and an unknown member show whether these are the client's own bytes. */
const requestFor = (model: string): string =>
  `{ "model":"up/${model}", "max_tokens":50, "made_up": {"kept": true},
  "messages":[{"role":"user","content":"a"},{"role":"system","content":"Be exact."},{"role":"assistant","content":"b"},{"role":"user","content":"c"}] }`

describe("a thinking budget above the output limit, from a messages client to a messages upstream", () => {
  const request = { model: "up/m", max_tokens: 8000, messages: [{ role: "user", content: "a" }] }
  const body = { ...request, thinking: { type: "enabled", budget_tokens: 32_000 } }
  const cases = [
    { headers: {}, budget: 6400 },
    { headers: { "anthropic-beta": "interleaved-thinking-2025-05-14" }, budget: 32_000 }
  ]
  for (const { budget, headers } of cases) {
    it.scopedLive(`is sent as ${budget} with ${Object.keys(headers).length} betas`, () =>
      Effect.gen(function* () {
        const gateway = yield* TestGateway.start()
        const upstream = yield* Fake.start
        yield* Effect.promise(async () => {
          await gateway.connect("up", upstream, "messages")
          upstream.enqueue(answer)
          const response = await gateway.post("/v1/messages", body, headers)
          assert.strictEqual(response.status, 200, await response.text())
          const { thinking } = JSON.parse((await upstream.received(1)).body) as { thinking: { budget_tokens: number } }
          assert.strictEqual(thinking.budget_tokens, budget)
        })
      })
    )
  }
})

describe("a system message between turns, from a messages client to a messages upstream", () => {
  const cases = [
    { model: "m", headers: beta, kept: true, why: "its client asks for the beta" },
    { model: "claude-opus-4-8", headers: {}, kept: true, why: "the model takes it" },
    { model: "claude-sonnet-4-5", headers: beta, kept: false, why: "the model refuses it" },
    { model: "m", headers: {}, kept: false, why: "support is unknown" }
  ]
  for (const { headers, kept, model, why } of cases) {
    it.scopedLive(`${kept ? "passes byte for byte" : "keeps its place as marked words of the user"}: ${why}`, () =>
      Effect.gen(function* () {
        const gateway = yield* TestGateway.start()
        const upstream = yield* Fake.start
        yield* Effect.promise(async () => {
          await gateway.connect("up", upstream, "messages")
          upstream.enqueue(answer)
          const body = requestFor(model)
          const response = await fetch(`${gateway.url}/v1/messages`, {
            method: "POST",
            headers: { "content-type": "application/json", ...headers },
            body
          })
          assert.strictEqual(response.status, 200, await response.text())
          const sent = (await upstream.received(1)).body
          if (kept) {
            assert.strictEqual(sent, body.replace(`up/${model}`, model))
            assert.isNull(response.headers.get("x-gateway-mapped"))
            return
          }
          const { messages, system } = JSON.parse(sent) as { messages: ReadonlyArray<object>; system?: unknown }
          assert.isUndefined(system)
          assert.deepEqual(messages[0], {
            role: "user",
            content: [
              { type: "text", text: "a" },
              { type: "text", text: "<system-reminder>\nBe exact.\n</system-reminder>" }
            ]
          })
          assert.lengthOf(messages, 3)
          assert.strictEqual(response.headers.get("x-gateway-mapped"), "messages.role")
        })
      })
    )
  }
})
