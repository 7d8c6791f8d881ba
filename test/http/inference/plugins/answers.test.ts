/** What plugins may do to an answer: change a whole one, hold a stream back and change it, or only see it. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import { eventuallyFound } from "../../../support/eventually.ts"
import * as Fake from "../../../support/FakeUpstream.ts"
import { changedTo, failed, listener, textOf } from "../../../support/HookListeners.ts"
import type { HookCall, HookUse } from "../../../../src/agents/plugins/hooks/Listener.ts"
import * as Ws from "../../ws/support.ts"
import { answering, asking, endOf, idOf, scenario, setUp, wires } from "./room.ts"

const usageOf: Readonly<Record<WireName, string>> = {
  chat: "usage",
  messages: "usage",
  responses: "usage",
  gemini: "usageMetadata",
  ollama: "eval_count"
}

/** Other words, and a lie about what they took. */
const rewriting = (wire: WireName) => (call: HookCall) => {
  const answer = JSON.parse(textOf(call).replaceAll("Hello there", "Howdy"))
  return Effect.succeed(changedTo({ ...answer, [usageOf[wire]]: wire === "ollama" ? 1_000_000 : { lie: 1_000_000 } }))
}

const buffer: Partial<HookUse> = { stream: "buffer" }

/** Without what differs between two answers: ids, times. */
const textIn = (text: string): string =>
  text
    .replaceAll(/"(?:id|created|\w+_at|\w*_duration)":(?:"[^"]*"|\d+)/g, '"":0')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "")

describe("a whole answer", () => {
  for (const wire of wires) {
    scenario(`${wire}: is changed before it is sent`, async ({ decision, gateway, hooks, upstream }) => {
      upstream.always(answering)
      const { body, path } = asking[wire](false)
      const original = JSON.parse(await (await gateway.post(path, body)).text())
      hooks.set([listener("filter", { hooks: { onResponse: {} }, call: rewriting(wire) })])
      const response = await gateway.post(path, body)
      const text = await response.text()
      assert.strictEqual(response.status, 200, text)
      assert.include(text, "Howdy")
      assert.notInclude(text, "Hello there")
      assert.deepStrictEqual(JSON.parse(text)[usageOf[wire]], original[usageOf[wire]])
      assert.strictEqual(response.headers.get("x-gateway-plugins"), "filter")
      assert.strictEqual(response.headers.get("content-length"), String(Buffer.byteLength(text)))
      const row = await gateway.usageRow(idOf(response))
      assert.deepInclude(row.tokens, { in: 11, out: 4 })
      assert.deepInclude((await decision(response)).plugins[0], { hook: "onResponse", action: "modified" })
    })

    scenario(
      `${wire}: is sent as it is where the change cannot be read`,
      async ({ decision, gateway, hooks, upstream }) => {
        upstream.always(answering)
        const { body, path } = asking[wire](false)
        for (const changed of ["no json", "[]", { hello: 1 }]) {
          hooks.set([listener("odd", { hooks: { onResponse: {} }, call: () => Effect.succeed(changedTo(changed)) })])
          const response = await gateway.post(path, body)
          assert.include(await response.text(), "Hello there")
          assert.isNull(response.headers.get("x-gateway-plugins"))
          assert.deepInclude((await decision(response)).plugins[0], { action: "failed" })
        }
      }
    )
  }

  scenario("passes all of those that change it, each after the other", async ({ gateway, hooks, upstream }) => {
    upstream.always(answering)
    const replacing = (from: string, to: string) => (call: HookCall) =>
      Effect.succeed(changedTo(textOf(call).replaceAll(from, to)))
    hooks.set([
      listener("second", { hooks: { onResponse: { priority: 2 } }, call: replacing("one", "two") }),
      listener("first", { hooks: { onResponse: { priority: 1 } }, call: replacing("Hello there", "one") })
    ])
    const { body, path } = asking.chat(false)
    const response = await gateway.post(path, body)
    assert.include(await response.text(), '"two"')
    assert.strictEqual(response.headers.get("x-gateway-plugins"), "first,second")
  })

  scenario("is not sent where a plugin without which none may pass fails", async ({ gateway, hooks, upstream }) => {
    upstream.always(answering)
    await gateway.manage("PATCH", "/api/pricing", { up: { m: { input: 10, output: 10 } } })
    hooks.set([
      listener("guard", { hooks: { onResponse: buffer }, failClosed: true, call: () => Effect.succeed(failed) })
    ])
    for (const stream of [false, true]) {
      const { body, path } = asking.chat(stream)
      const response = await gateway.post(path, body)
      const text = await response.text()
      assert.strictEqual(response.status, 503, text)
      assert.notInclude(text, "Hello")
      assert.include(text, "plugin_failed")
      const row = await gateway.usageRow(idOf(response))
      assert.deepInclude(row, { outcome: "failed", status: 503 })
      // The provider did its work.
      assert.isAbove(row.costUsd, 0)
    }
  })

  scenario("from the cache is seen and changed each time", async ({ gateway, hooks, upstream }) => {
    upstream.always(answering)
    await gateway.manage("PATCH", "/api/settings", { cache: { enabled: true, anyTemperature: true } })
    const filter = listener("filter", { hooks: { onResponse: buffer }, call: rewriting("chat") })
    const { body, path } = asking.chat(false)
    await (await gateway.post(path, body)).text()
    hooks.set([filter])
    for (const stream of [false, true]) {
      const again = await gateway.post(path, { ...body, stream })
      assert.strictEqual(again.headers.get("x-gateway-cache"), "HIT")
      assert.include(await again.text(), "Howdy")
    }
    hooks.set([])
    assert.include(await (await gateway.post(path, body)).text(), "Hello there")
    assert.strictEqual(upstream.requests.length, 1)
    assert.strictEqual(filter.calls.length, 2)
  })

  scenario("of other endpoints is changed, too", async ({ gateway, hooks, upstream }) => {
    const data = [{ object: "embedding", index: 0, embedding: [1, 2] }]
    upstream.always(Fake.json({ object: "list", model: "m", data, usage: { prompt_tokens: 2, total_tokens: 2 } }))
    hooks.set([
      listener("scaler", {
        hooks: { onResponse: {} },
        call: (call) => Effect.succeed(changedTo({ ...JSON.parse(textOf(call)), note: "scaled" }))
      })
    ])
    const response = await gateway.post("/v1/embeddings", { model: "up/m", input: "Hi" })
    assert.deepInclude(JSON.parse(await response.text()), { note: "scaled", data })
  })
})

describe("a stream that is held back", () => {
  for (const wire of wires) {
    scenario(`${wire}: is sent changed`, async ({ gateway, hooks, upstream }) => {
      upstream.always(answering)
      const filter = listener("filter", { hooks: { onResponse: buffer }, call: rewriting(wire) })
      hooks.set([filter])
      const { body, path } = asking[wire](true)
      const response = await gateway.post(path, body)
      const text = await response.text()
      assert.strictEqual(response.status, 200, text)
      assert.include(text, "Howdy")
      assert.notInclude(text, "Hello")
      assert.notInclude(text, "1000000")
      assert.include(text, endOf[wire])
      assert.strictEqual(response.headers.get("x-gateway-plugins"), "filter")
      assert.deepInclude(filter.calls[0]?.payload, { streamed: true })
      const row = await gateway.usageRow(idOf(response))
      assert.deepInclude(row, { outcome: "completed", streamed: true })
    })

    scenario(`${wire}: is the same where nothing is changed`, async ({ gateway, hooks, upstream }) => {
      upstream.always(answering)
      const { body, path } = asking[wire](true)
      const plain = await (await gateway.post(path, body)).text()
      hooks.set([listener("reader", { hooks: { onResponse: buffer } })])
      const held = await (await gateway.post(path, body)).text()
      assert.strictEqual(textIn(held), textIn(plain))
      assert.include(held, endOf[wire])
    })
  }

  it.scopedLive("sends nothing before its end", () =>
    Effect.gen(function* () {
      const { gateway, hooks, upstream } = yield* setUp
      const latch = Fake.makeLatch()
      const [first = "", ...rest] = Fake.chatStream(["Hello", " there"])
      upstream.always(Fake.sse([first, rest[0] ?? "", latch, ...rest.slice(1)]))
      const began = yield* Deferred.make<void>()
      hooks.set([
        listener("filter", {
          hooks: { onResponse: buffer, onStreamStart: {} },
          call: rewriting("chat"),
          notify: () => Effect.as(Deferred.succeed(began, undefined), 0)
        })
      ])
      const { body, path } = asking.chat(true)
      let hasHead = false
      const asked = gateway.post(path, body).then((response) => {
        hasHead = true
        return response.text()
      })
      yield* Deferred.await(began)
      assert.isFalse(hasHead)
      latch.open()
      assert.include(yield* Effect.promise(() => asked), "Howdy")
    })
  )

  scenario("ends as it broke", async ({ gateway, hooks, upstream }) => {
    upstream.always(Fake.sse(Fake.chatStream(["Hello", " there"]).slice(0, 2)))
    const filter = listener("filter", { hooks: { onResponse: buffer }, call: rewriting("chat") })
    hooks.set([filter])
    const { body, path } = asking.chat(true)
    const text = await (await gateway.post(path, body)).text()
    assert.include(text, '"error"')
    assert.notInclude(text, "[DONE]")
    assert.strictEqual(filter.calls.length, 0)
  })

  it.scopedLive("over a WebSocket", () =>
    Effect.gen(function* () {
      const { gateway, hooks, upstream } = yield* setUp
      upstream.always(answering)
      hooks.set([listener("filter", { hooks: { onResponse: buffer }, call: rewriting("responses") })])
      const client = yield* Ws.open(gateway)
      client.send({ type: "response.create", model: "up/m", input: "Hi" })
      const frames = yield* Effect.promise(() => client.turn())
      assert.strictEqual(frames.at(-1)?.type, "response.completed")
      assert.include(JSON.stringify(frames), "Howdy")
      assert.notInclude(JSON.stringify(frames), "Hello")
    })
  )
})

describe("a stream that is only observed", () => {
  scenario(
    "is not changed by what comes of it, and is called for behind it",
    async ({ decision, gateway, hooks, idle, upstream }) => {
      upstream.always(answering)
      const observer = listener("observer", { hooks: { onResponse: {} }, failClosed: true, call: rewriting("chat") })
      hooks.set([observer])
      const { body, path } = asking.chat(true)
      const response = await gateway.post(path, body)
      const text = await response.text()
      assert.include(text, "Hello")
      assert.notInclude(text, "Howdy")
      await idle()
      assert.include(textOf(observer.calls[0] ?? assert.fail("not called")), "Hello there")
      assert.deepInclude((await decision(response)).plugins[0], { hook: "onResponse", action: "none" })
    }
  )
})

describe("a client that leaves while a plugin reads its answer", () => {
  it.scopedLive("ends the call, and the row has what it cost", () =>
    Effect.gen(function* () {
      const { gateway, hooks, upstream } = yield* setUp
      upstream.always(answering)
      const begun = yield* Deferred.make<void>()
      const interrupted = yield* Deferred.make<void>()
      hooks.set([
        listener("slow", {
          hooks: { onResponse: {} },
          call: () =>
            Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never).pipe(
              Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
            )
        })
      ])
      const leaving = new AbortController()
      const { body, path } = asking.chat(false)
      const asked = gateway.post(path, body, {}, leaving.signal).catch(() => null)
      yield* Deferred.await(begun)
      leaving.abort()
      yield* Effect.promise(() => asked)
      yield* Deferred.await(interrupted)
      const row = yield* Effect.promise(() =>
        eventuallyFound(
          "the row of the request",
          async () => (await gateway.manage("GET", "/api/usage/logs?limit=1")).logs[0]
        )
      )
      assert.deepInclude(row, { outcome: "aborted", status: 499 })
      assert.deepInclude(row.tokens, { in: 11, out: 4 })
    })
  )
})
