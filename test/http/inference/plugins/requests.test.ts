/** What plugins may do to a request: change it, block it, fail at it. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { Hooks } from "../../../../src/agents/plugins/hooks/Hooks.ts"
import { eventually } from "../../../support/eventually.ts"
import { allHooks, blocked, changedTo, failed, listener, textOf } from "../../../support/HookListeners.ts"
import * as Fake from "../../../support/FakeUpstream.ts"
import * as TestGateway from "../../../support/TestGateway.ts"
import * as Ws from "../../ws/support.ts"
import { answering, asking, endOf, idOf, scenario, setUp, wires } from "./room.ts"

const adding = (word: string) => (call: Parameters<typeof textOf>[0]) =>
  Effect.succeed(changedTo({ ...JSON.parse(textOf(call)), marks: [...(JSON.parse(textOf(call)).marks ?? []), word] }))

describe("a plugin that changes a request", () => {
  scenario(
    "comes in its turn, and sees what the one before has left",
    async ({ decision, gateway, hooks, upstream }) => {
      upstream.always(answering)
      const names = ["last", "b-equal", "a-equal", "first"]
      const priorities = [200, 100, 100, 1]
      hooks.set(
        names.map((name, at) =>
          listener(name, { hooks: { onRequest: { priority: priorities[at] ?? 0 } }, call: adding(name) })
        )
      )
      const { body, path } = asking.chat(false)
      const response = await gateway.post(path, body)
      assert.strictEqual(response.status, 200)
      const marks = ["first", "a-equal", "b-equal", "last"]
      assert.deepStrictEqual(JSON.parse(upstream.requests[0]?.body ?? "").marks, marks)
      assert.strictEqual(response.headers.get("x-gateway-plugins"), marks.join(","))
      const { plugins } = await decision(response)
      assert.deepStrictEqual(
        plugins,
        marks.map((name) => ({ name, hook: "onRequest", action: "modified", ms: 1 }))
      )
    }
  )

  for (const wire of wires) {
    scenario(
      `${wire}: may choose another model, also where the path names it`,
      async ({ gateway, hooks, upstream }) => {
        upstream.always(answering)
        hooks.set([
          listener("router", {
            hooks: { onRequest: {} },
            call: (call) => Effect.succeed(changedTo({ ...JSON.parse(textOf(call)), model: "up/m" }))
          })
        ])
        const { body, path } = asking[wire](true, "nothing/at-all")
        const response = await gateway.post(path, body)
        const text = await response.text()
        assert.strictEqual(response.status, 200, text)
        assert.include(text, endOf[wire])
        assert.strictEqual(response.headers.get("x-gateway-plugins"), "router")
        const row = await gateway.usageRow(idOf(response))
        assert.deepInclude(row, { provider: "up", outcome: "completed" })
      }
    )
  }

  scenario("does not get past the rights of the key", async ({ gateway, hooks, upstream }) => {
    upstream.always(answering)
    const { secret } = await gateway.manage("POST", "/api/keys", { name: "one", allowedModels: ["up/m"] })
    hooks.set([
      listener("router", {
        hooks: { onRequest: {} },
        call: (call) => Effect.succeed(changedTo({ ...JSON.parse(textOf(call)), model: "up/other", models: ["x"] }))
      })
    ])
    const { body, path } = asking.chat(false)
    const response = await gateway.post(path, body, { authorization: `Bearer ${secret}` })
    assert.strictEqual(response.status, 403, await response.text())
    assert.strictEqual(upstream.requests.length, 0)
  })

  scenario("cannot make it a request that is wrong, or sent in another way", async ({ gateway, hooks, upstream }) => {
    const { body, path } = asking.chat(false)
    for (const changed of [{ model: "up/m", messages: "none" }, { ...body, stream: true }, "[1]", "no json"]) {
      hooks.set([listener("odd", { hooks: { onRequest: {} }, call: () => Effect.succeed(changedTo(changed)) })])
      const response = await gateway.post(path, body)
      assert.strictEqual(response.status, 400, await response.text())
      assert.strictEqual(response.headers.get("x-gateway-plugins"), "odd")
    }
    assert.strictEqual(upstream.requests.length, 0)
  })

  scenario("leaves the identity of a request to the client", async ({ gateway, hooks, upstream }) => {
    upstream.always(answering)
    let count = 0
    hooks.set([
      listener("counter", {
        hooks: { onRequest: {} },
        call: (call) => Effect.succeed(changedTo({ ...JSON.parse(textOf(call)), seed: (count += 1) }))
      })
    ])
    const { body, path } = asking.chat(false)
    const ask = () => gateway.post(path, body, { "idempotency-key": "a" })
    const first = await ask()
    const second = await ask()
    assert.strictEqual(await second.text(), await first.text())
    assert.strictEqual(second.headers.get("x-gateway-idempotent"), "true")
    assert.strictEqual(upstream.requests.length, 1)
    assert.strictEqual(count, 2)
  })

  scenario(
    "may add metadata, which the next ones see and the record keeps",
    async ({ decision, gateway, hooks, upstream }) => {
      upstream.always(answering)
      const first = listener("first", {
        hooks: { onRequest: { priority: 1 } },
        call: () => Effect.succeed({ _tag: "Unchanged", metadata: { team: "blue" }, ms: 1 })
      })
      const second = listener("second", { hooks: { onRequest: {}, onResponse: {} } })
      hooks.set([first, second])
      const { body, path } = asking.chat(false)
      const response = await gateway.post(path, body)
      for (const { context } of second.calls) assert.deepStrictEqual(context.metadata, { team: "blue" })
      const record = await decision(response)
      assert.deepStrictEqual(record.metadata, { team: "blue" })
      assert.deepStrictEqual(
        record.plugins.map(({ action, hook, name }: Record<string, string>) => [name, hook, action]),
        [
          ["first", "onRequest", "none"],
          ["second", "onRequest", "none"],
          ["second", "onResponse", "none"]
        ]
      )
      assert.isNull(response.headers.get("x-gateway-plugins"))
    }
  )
})

describe("a plugin that blocks a request", () => {
  for (const wire of wires) {
    for (const stream of [false, true]) {
      const name = `${wire}, ${stream ? "streamed" : "whole"}`

      scenario(`${name}: says so in the client's wire`, async ({ decision, gateway, hooks, idle, upstream }) => {
        const { onRequest: _, ...others } = allHooks
        const watcher = listener("watcher", { hooks: others })
        hooks.set([watcher, listener("guard", { hooks: { onRequest: {} }, call: () => Effect.succeed(blocked()) })])
        const { body, path } = asking[wire](stream)
        const response = await gateway.post(path, body)
        const text = await response.text()
        assert.strictEqual(response.status, 403, text)
        assert.include(text, "guard")
        assert.strictEqual(response.headers.get("x-gateway-plugins"), "guard")
        const row = await gateway.usageRow(idOf(response))
        assert.deepInclude(row, { outcome: "failed", status: 403, costUsd: 0, attempts: 0, requestedModel: "up/m" })
        const { plugins } = await decision(response)
        assert.deepStrictEqual(plugins, [{ name: "guard", hook: "onRequest", action: "blocked", ms: 1 }])
        await idle()
        assert.deepStrictEqual(
          watcher.calls.map(({ context }) => context.hook),
          ["onError"]
        )
        assert.deepInclude(watcher.calls[0]?.payload, { status: 403, code: "plugin_blocked" })
        assert.strictEqual(upstream.requests.length, 0)
      })

      scenario(`${name}: may answer in its place`, async ({ gateway, hooks, upstream }) => {
        upstream.always(answering)
        const plain = asking[wire](false)
        const answer = JSON.parse(
          (await (await gateway.post(plain.path, plain.body)).text()).replaceAll("Hello there", "From a plugin")
        )
        hooks.set([
          listener("canned", { hooks: { onRequest: {} }, call: () => Effect.succeed(blocked({ body: answer })) })
        ])
        const { body, path } = asking[wire](stream)
        const response = await gateway.post(path, body)
        const text = await response.text()
        assert.strictEqual(response.status, 200, text)
        assert.include(text, "From a plugin")
        if (stream) assert.include(text, endOf[wire])
        else assert.deepStrictEqual(JSON.parse(text), answer)
        assert.deepInclude(await gateway.usageRow(idOf(response)), { outcome: "completed", status: 200, costUsd: 0 })
        assert.strictEqual(upstream.requests.length, 1)
      })
    }
  }

  scenario("chooses status, error and harmless headers", async ({ gateway, hooks }) => {
    const headers = {
      "Retry-After": "9",
      "Set-Cookie": "a=b",
      "X-Gateway-Version": "0",
      "Content-Length": "1",
      "x-a\n": "1"
    }
    const answer = { status: 429, error: { message: "Too many of them.", code: "team_limit" }, headers }
    hooks.set([listener("limiter", { hooks: { onRequest: {} }, call: () => Effect.succeed(blocked(answer)) })])
    const { body, path } = asking.chat(false)
    const response = await gateway.post(path, body)
    assert.strictEqual(response.status, 429)
    const { error } = JSON.parse(await response.text())
    assert.deepInclude(error, { message: "Too many of them.", code: "team_limit", type: "rate_limit_error" })
    assert.strictEqual(response.headers.get("retry-after"), "9")
    assert.isNull(response.headers.get("set-cookie"))
    assert.notStrictEqual(response.headers.get("x-gateway-version"), "0")
  })

  scenario("never makes a success of what is no answer", async ({ gateway, hooks }) => {
    const { body, path } = asking.chat(false)
    for (const answer of [
      { body: { hello: 1 } },
      { status: 200 },
      { status: 302, body: { hello: 1 } },
      { status: 7 }
    ]) {
      hooks.set([listener("odd", { hooks: { onRequest: {} }, call: () => Effect.succeed(blocked(answer)) })])
      const response = await gateway.post(path, body)
      assert.strictEqual(response.status, 403, await response.text())
    }
    hooks.set([
      listener("odd", {
        hooks: { onRequest: {} },
        call: () => Effect.succeed(blocked({ status: 418, body: { odd: true } }))
      })
    ])
    const response = await gateway.post(path, body)
    assert.strictEqual(response.status, 418)
    assert.strictEqual(await response.text(), '{"odd":true}')
    assert.deepInclude(await gateway.usageRow(idOf(response)), { outcome: "failed", status: 418 })
  })
})

describe("a plugin that fails", () => {
  scenario("is skipped, unless no request may pass without it", async ({ decision, gateway, hooks, upstream }) => {
    upstream.always(answering)
    const { body, path } = asking.messages(false)
    const call = () => Effect.succeed(failed)
    hooks.set([listener("open", { hooks: { onRequest: {} }, call })])
    const passed = await gateway.post(path, body)
    assert.strictEqual(passed.status, 200)
    assert.isNull(passed.headers.get("x-gateway-plugins"))
    assert.deepInclude((await decision(passed)).plugins[0], { name: "open", action: "failed" })
    hooks.set([listener("closed", { hooks: { onRequest: {} }, call, failClosed: true })])
    const refused = await gateway.post(path, body)
    assert.strictEqual(refused.status, 503)
    assert.include(await refused.text(), "closed")
    assert.deepInclude(await gateway.usageRow(idOf(refused)), { outcome: "failed", status: 503, costUsd: 0 })
    assert.strictEqual(upstream.requests.length, 1)
  })

  scenario("is called no more after five failures in a row; a guard keeps refusing", async ({ gateway, hooks }) => {
    const told: Array<string> = []
    hooks.onFailing(({ failures, plugin }) => told.push(`${plugin} ${failures}`))
    const guard = listener("guard", { hooks: { onRequest: {} }, failClosed: true, call: () => Effect.die("no") })
    hooks.set([guard])
    const { body, path } = asking.chat(false)
    for (let count = 0; count < 7; count += 1) assert.strictEqual((await gateway.post(path, body)).status, 503)
    assert.deepStrictEqual(told, ["guard 5"])
    assert.strictEqual(guard.calls.length, 5)
    assert.deepInclude(hooks.statsOf("guard"), { calls: 5, failed: 5 })
  })
})

describe("a client that leaves while a plugin is asked", () => {
  it.scopedLive("ends the call, and leaves a row", () =>
    Effect.gen(function* () {
      const { gateway, hooks, upstream } = yield* setUp
      const begun = yield* Deferred.make<void>()
      const interrupted = yield* Deferred.make<void>()
      hooks.set([
        listener("slow", {
          hooks: { onRequest: {} },
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
        eventually(
          "the row of the request",
          async () => (await gateway.manage("GET", "/api/usage/logs?limit=1")).logs[0],
          (found) => found !== undefined
        )
      )
      assert.deepInclude(row, { outcome: "aborted", status: 499, requestedModel: "up/m" })
      assert.strictEqual(upstream.requests.length, 0)
    })
  )
})

describe("other ways in", () => {
  it.scopedLive("a WebSocket: each turn is asked about", () =>
    Effect.gen(function* () {
      const { gateway, hooks, idle, upstream } = yield* setUp
      upstream.always(answering)
      const all = listener("all", { hooks: allHooks })
      hooks.set([all])
      const client = yield* Ws.open(gateway)
      client.send({ type: "response.create", model: "up/m", input: "Hi" })
      const frames = yield* Effect.promise(() => client.turn())
      assert.strictEqual(frames.at(-1)?.type, "response.completed")
      yield* Effect.promise(idle)
      assert.includeMembers(
        all.calls.map(({ context }) => context.hook),
        ["onRequest", "onModelSelect", "onStreamStart", "onStreamEnd", "onResponse"]
      )
      hooks.set([listener("guard", { hooks: { onRequest: {} }, call: () => Effect.succeed(blocked()) })])
      client.send({ type: "response.create", model: "up/m", input: "Hi" })
      const refused = yield* Effect.promise(() => client.turn())
      assert.strictEqual(refused.at(-1)?.type, "error")
      assert.include(JSON.stringify(refused.at(-1)), "plugin_blocked")
    })
  )

  scenario("a count of tokens is asked about as well", async ({ gateway, hooks }) => {
    hooks.set([listener("guard", { hooks: { onRequest: {} }, call: () => Effect.succeed(blocked()) })])
    const { body } = asking.messages(false)
    const response = await gateway.post("/v1/messages/count_tokens", body)
    assert.strictEqual(response.status, 403)
    assert.include(await response.text(), "guard")
  })

  it.scopedLive("a request of an unknown key is told of to no plugin", () =>
    Effect.gen(function* () {
      const { built, gateway } = yield* TestGateway.startBuilt({ environment: new Map([["REQUIRE_API_KEY", "true"]]) })
      const hooks = Context.get(built, Hooks)
      const all = listener("all", { hooks: allHooks })
      hooks.set([all])
      const { body, path } = asking.chat(false)
      const response = yield* Effect.promise(() => gateway.post(path, body, { "x-api-key": "gw_wrong" }))
      assert.strictEqual(response.status, 401)
      yield* hooks.idle
      assert.deepStrictEqual(all.calls, [])
    })
  )
})

describe("what is asked for the sake of another request", () => {
  scenario("is told of by its calls only", async ({ gateway, hooks, idle, upstream }) => {
    await gateway.manage("PATCH", "/api/settings", {
      cache: { enabled: true, anyTemperature: true, semantic: { enabled: true, model: "up/e" } }
    })
    upstream.always((response, request) =>
      request.url.endsWith("/embeddings")
        ? Fake.json({ error: { message: "down" } }, { status: 503 })(response, request)
        : answering(response, request)
    )
    const all = listener("all", { hooks: allHooks })
    hooks.set([all])
    const { body, path } = asking.chat(false)
    const response = await gateway.post(path, body)
    assert.strictEqual(response.status, 200, await response.text())
    await idle()
    assert.isTrue(upstream.requests.some(({ url }) => url.endsWith("/embeddings")))
    const aside = all.calls.filter(({ context }) => context.requestId !== idOf(response))
    assert.deepStrictEqual([...new Set(aside.map(({ context }) => context.hook))], ["onProviderError"])
    assert.deepStrictEqual([...new Set(aside.map(({ context }) => context.endpoint))], ["embeddings"])
  })

  scenario("panels of a fusion: one request for plugins", async ({ gateway, hooks, idle, upstream }) => {
    await gateway.manage("POST", "/api/combos", {
      name: "panel",
      strategy: "fusion",
      targets: [{ model: "up/m" }, { model: "up/n" }],
      config: { fusion: { judgeModel: "up/m" } }
    })
    upstream.always(answering)
    const all = listener("all", { hooks: allHooks })
    hooks.set([all])
    const { body, path } = asking.chat(false, "panel")
    const response = await gateway.post(path, body)
    assert.strictEqual(response.status, 200, await response.text())
    await idle()
    assert.isAbove(upstream.requests.length, 1)
    assert.deepStrictEqual(all.calls.map(({ context }) => context.hook).toSorted(), [
      "onComboResolve",
      "onModelSelect",
      "onRequest",
      "onResponse"
    ])
  })
})
