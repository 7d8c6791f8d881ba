/** Every event of a request on every wire, streamed and whole, and each payload against its published schema. */
import { assert, describe } from "@effect/vitest"
import type { RequestHook } from "../../../../src/subjects/plugins/entity.ts"
import * as Fake from "../../../support/FakeUpstream.ts"
import { allHooks, listener, problemOf, type TestListener } from "../../../support/HookListeners.ts"
import { answering, asking, endOf, idOf, scenario, wires } from "./room.ts"

const hooksOf = ({ calls }: TestListener): ReadonlyArray<RequestHook> => calls.map(({ context }) => context.hook)

const assertPublished = ({ calls }: TestListener): void => {
  for (const call of calls) assert.isNull(problemOf(call))
}

describe("the events of a request", () => {
  for (const wire of wires) {
    for (const stream of [false, true]) {
      const name = `${wire}, ${stream ? "streamed" : "whole"}`

      scenario(`${name}: those of an answer`, async ({ gateway, hooks, idle, upstream }) => {
        upstream.always(answering)
        await gateway.combo("both", "up/m")
        const all = listener("all", { hooks: allHooks })
        hooks.set([all])
        const { body, path } = asking[wire](stream, "both")
        const response = await gateway.post(path, body, { authorization: "Bearer secret", "x-team": "blue" })
        const text = await response.text()
        assert.strictEqual(response.status, 200, text)
        if (stream) assert.include(text, endOf[wire])
        await idle()
        assertPublished(all)
        const expected: ReadonlyArray<RequestHook> = stream
          ? ["onComboResolve", "onModelSelect", "onRequest", "onResponse", "onStreamEnd", "onStreamStart"]
          : ["onComboResolve", "onModelSelect", "onRequest", "onResponse"]
        assert.deepStrictEqual(hooksOf(all).toSorted(), expected)
        for (const { context } of all.calls) {
          assert.deepInclude(context, { requestId: idOf(response), wire, stream, endpoint: "chat", model: "both" })
          assert.strictEqual(context.headers["x-team"], "blue")
          assert.notProperty(context.headers, "authorization")
        }
        const [answer] = all.of("onResponse")
        assert.isDefined(answer)
        assert.include(Buffer.from(answer.body ?? []).toString(), "Hello there")
        assert.deepInclude(answer.payload, { status: 200, streamed: stream, provider: "up", model: "m" })
        const row = await gateway.usageRow(idOf(response))
        assert.deepStrictEqual(answer.payload["tokens"], row.tokens)
        assert.isNull(response.headers.get("x-gateway-plugins"))
      })

      scenario(`${name}: those of a failure`, async ({ gateway, hooks, idle, upstream }) => {
        upstream.always(
          Fake.json({ error: { message: "slow down" } }, { status: 429, headers: { "retry-after": "7" } })
        )
        const all = listener("all", { hooks: allHooks })
        hooks.set([all])
        const { body, path } = asking[wire](stream)
        const response = await gateway.post(path, body)
        await response.text()
        await idle()
        assertPublished(all)
        assert.includeMembers(
          [...hooksOf(all)],
          ["onRequest", "onModelSelect", "onProviderError", "onRateLimit", "onError"]
        )
        assert.notIncludeMembers([...hooksOf(all)], ["onResponse", "onStreamStart", "onStreamEnd"])
        const failures = all.of("onProviderError").map(({ payload }) => payload)
        assert.deepInclude(failures[0], { provider: "up", model: "m", status: 429, attempt: 1 })
        assert.strictEqual(failures.at(-1)?.["willRetry"], false)
        assert.deepInclude(all.of("onRateLimit")[0]?.payload, { provider: "up", retryAfterMs: 7_000 })
        assert.strictEqual(all.of("onError").length, 1)
      })
    }
  }

  scenario("an unknown model, and a used-up quota of the provider", async ({ gateway, hooks, idle, upstream }) => {
    const all = listener("all", { hooks: allHooks })
    hooks.set([all])
    await gateway.post("/v1/chat/completions", { model: "nothing/x", messages: [{ role: "user", content: "Hi" }] })
    await idle()
    assert.deepStrictEqual(hooksOf(all), ["onRequest", "onError"])
    assert.deepInclude(all.of("onError")[0]?.payload, { status: 404, code: "model_not_found", attempts: [] })
    upstream.always(
      Fake.json({ error: { message: "You exceeded your current quota", code: "insufficient_quota" } }, { status: 429 })
    )
    const { body, path } = asking.chat(false)
    await gateway.post(path, body)
    await idle()
    assertPublished(all)
    assert.deepInclude(all.of("onQuotaExhaust")[0]?.payload, { provider: "up", reason: "credits_exhausted" })
  })

  scenario(
    "a stream that breaks is told of as started, failed and ended",
    async ({ gateway, hooks, idle, upstream }) => {
      const pieces = Fake.chatStream(["Hello", " there"])
      upstream.always(Fake.sse(pieces.slice(0, 2)))
      const all = listener("all", { hooks: allHooks })
      hooks.set([all])
      const { body, path } = asking.chat(true)
      await (await gateway.post(path, body)).text()
      await idle()
      assertPublished(all)
      assert.includeMembers([...hooksOf(all)], ["onStreamStart", "onProviderError", "onError", "onStreamEnd"])
      assert.deepInclude(all.of("onStreamEnd")[0]?.payload, { outcome: "failed" })
      assert.notInclude(hooksOf(all), "onResponse")
    }
  )

  scenario("embeddings have them, too", async ({ gateway, hooks, idle, upstream }) => {
    const data = [{ object: "embedding", index: 0, embedding: [1, 2] }]
    upstream.always(Fake.json({ object: "list", model: "m", data, usage: { prompt_tokens: 2, total_tokens: 2 } }))
    const all = listener("all", { hooks: allHooks })
    hooks.set([all])
    const response = await gateway.post("/v1/embeddings", { model: "up/m", input: "Hi" })
    assert.strictEqual(response.status, 200, await response.text())
    await idle()
    assertPublished(all)
    assert.deepStrictEqual(hooksOf(all).toSorted(), ["onModelSelect", "onRequest", "onResponse"])
    for (const { context } of all.calls) assert.strictEqual(context.endpoint, "embeddings")
  })
})
