/** A captured request as a preset, in the whole service; and that nothing of the playground is there before it is used. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { LazyPlayground } from "../../../src/agents/playground/LazyPlayground.ts"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import { eventuallyFound } from "../../support/eventually.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const inspector = "/api/tools/traffic-inspector"

describe("the playground", () => {
  it.scopedLive("makes a preset of a captured request of each wire, which can be kept as it is", () =>
    Effect.gen(function* () {
      const upstream = yield* FakeUpstream.start
      upstream.always(FakeUpstream.json(FakeUpstream.chatCompletion({ text: "fine" })))
      const { built, gateway } = yield* TestGateway.startBuilt()
      const door = Context.get(built, LazyPlayground)
      yield* Effect.promise(async () => {
        const { manage, post } = gateway
        await gateway.connect("up", upstream, "chat")
        await manage("POST", `${inspector}/capture-modes/gateway`, { enabled: true })
        const hi = [{ role: "user", content: "Hi" }]
        const asked: ReadonlyArray<readonly [string, object]> = [
          [
            "/v1/chat/completions",
            { model: "up/m", messages: [{ role: "system", content: "S" }, ...hi], temperature: 0.5 }
          ],
          ["/v1/messages", { model: "up/m", system: "S", messages: hi, temperature: 0.5, max_tokens: 9 }],
          ["/v1/responses", { model: "up/m", instructions: "S", input: "Hi", temperature: 0.5 }],
          [
            "/v1beta/models/up/m:generateContent",
            {
              systemInstruction: { parts: [{ text: "S" }] },
              contents: [{ role: "user", parts: [{ text: "Hi" }] }],
              generationConfig: { temperature: 0.5 }
            }
          ],
          [
            "/api/chat",
            {
              model: "up/m",
              messages: [{ role: "system", content: "S" }, ...hi],
              options: { temperature: 0.5 },
              stream: false
            }
          ]
        ]
        for (const [path, body] of asked) {
          const response = await post(path, body)
          assert.strictEqual(response.status, 200, `${path}: ${await response.text()}`)
        }
        const records: ReadonlyArray<{ id: string; path: string }> = await eventuallyFound("five records", async () => {
          const { requests } = await manage("GET", `${inspector}/requests`)
          return requests?.length === asked.length ? requests : undefined
        })
        // All of this ran without it.
        assert.isNull(door.current())
        for (const { id, path } of records) {
          const preset = await manage("GET", `${inspector}/requests/${id}/preset`)
          assert.deepInclude(preset, { endpoint: "chat", model: "up/m", system: "S" }, path)
          assert.strictEqual(JSON.parse(preset.params_json).temperature, 0.5, path)
          const kept = await manage("POST", "/api/playground/presets", preset)
          assert.deepInclude(kept.preset, preset)
        }
        assert.isNotNull(door.current())
        const unknown = await fetch(`${gateway.url}${inspector}/requests/none/preset`, {
          headers: { authorization: `Bearer ${TestGateway.adminKey}` }
        })
        assert.strictEqual(unknown.status, 404)
        const elsewhere = await fetch(`${gateway.url}${inspector}/requests/none/preset`, {
          headers: { authorization: `Bearer ${TestGateway.adminKey}`, "x-forwarded-for": "203.0.113.1" }
        })
        assert.strictEqual(elsewhere.status, 403)
      })
    })
  )
})
