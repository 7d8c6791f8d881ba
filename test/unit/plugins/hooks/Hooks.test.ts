import { operatorsOwn } from "../../../../src/contract/domain/ContentPermission.ts"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import * as AppConfig from "../../../../src/platform/AppConfig.ts"
import { batchCalls, mostWaiting } from "../../../../src/agents/plugins/hooks/EventLine.ts"
import { HookRun } from "../../../../src/agents/plugins/hooks/HookRun.ts"
import { mostFailures } from "../../../../src/agents/plugins/hooks/ActiveListeners.ts"
import { gatheringMs, Hooks, layer, mostObserving } from "../../../../src/agents/plugins/hooks/Hooks.ts"
import type { HookOutcome } from "../../../../src/agents/plugins/hooks/Listener.ts"
import { blocked, changedTo, failed, listener, textOf, unchanged } from "../../../support/HookListeners.ts"

const newRun = (headers: Record<string, string> = {}): HookRun =>
  new HookRun({
    requestId: "r1",
    receivedMs: 5,
    wire: "chat",
    endpoint: "chat",
    headers,
    apiKeyId: "k1",
    permission: operatorsOwn
  })

const body = Buffer.from('{"a":1}')
const onRequest = { onRequest: {} }

const scenario = (name: string, run: (hooks: typeof Hooks.Service) => Effect.Effect<void>): void => {
  it.scoped(name, () =>
    Effect.flatMap(Hooks, run).pipe(
      Effect.provide(layer),
      Effect.provide(AppConfig.layerOf({ maxBodyBytes: 1_000, dataDir: "/nowhere" }))
    )
  )
}

const passed = (value: Uint8Array) => ({ _tag: "Passed", body: value }) as const

describe("listeners", () => {
  scenario("are booleans for those who do not listen, in one object", (hooks) =>
    Effect.sync(() => {
      const { listens } = hooks
      assert.isFalse(listens.any)
      hooks.set([listener("a", { hooks: { onError: {}, onResponse: { stream: "buffer" } } })])
      assert.strictEqual(hooks.listens, listens)
      assert.deepInclude(listens, {
        any: true,
        onError: true,
        onResponse: true,
        onRequest: false,
        bufferedStreams: true
      })
      hooks.set([])
      assert.isFalse(Object.values(listens).some((value) => value))
    })
  )

  scenario("see the context of the request, without its credentials", (hooks) =>
    Effect.gen(function* () {
      const headers = {
        authorization: "Bearer x",
        cookie: "a=b",
        "x-api-key": "k",
        "x-odd": "Basic abc",
        "idempotency-key": "1",
        "x-team": "blue",
        __proto__: "x"
      }
      const one = listener("a", { hooks: onRequest })
      hooks.set([one])
      const run = newRun(headers)
      run.model = "up/m"
      yield* hooks.request(run, body)
      const { context } = one.calls[0] ?? assert.fail("not called")
      assert.deepStrictEqual({ ...context.headers }, { "idempotency-key": "1", "x-team": "blue" })
      assert.deepInclude(context, { requestId: "r1", model: "up/m", provider: "", hook: "onRequest", apiKeyId: "k1" })
    })
  )
})

describe("a chain of calls", () => {
  scenario("gives the same bytes where nobody changes them", (hooks) =>
    Effect.gen(function* () {
      hooks.set([listener("a", { hooks: onRequest })])
      const verdict = yield* hooks.request(newRun(), body)
      assert(verdict._tag === "Passed")
      assert.strictEqual(verdict.body, body)
    })
  )

  scenario("ends at the first block", (hooks) =>
    Effect.gen(function* () {
      const last = listener("c", { hooks: onRequest })
      hooks.set([
        last,
        listener("b", { hooks: onRequest, call: () => Effect.succeed(blocked()) }),
        listener("a", { hooks: onRequest, call: () => Effect.succeed(changedTo({ b: 2 })) })
      ])
      const run = newRun()
      const verdict = yield* hooks.request(run, body)
      assert.deepInclude(verdict, { _tag: "Blocked", plugin: "b" })
      assert.deepStrictEqual(
        run.calls.map(({ action, name }) => `${name} ${action}`),
        ["a modified", "b blocked"]
      )
      assert.deepStrictEqual(run.touched, ["a", "b"])
      assert.deepStrictEqual(last.calls, [])
    })
  )

  scenario("skips what fails, dies or gives too much", (hooks) =>
    Effect.gen(function* () {
      const outcomes: ReadonlyArray<() => Effect.Effect<HookOutcome>> = [
        () => Effect.succeed(failed),
        () => Effect.die("a bug"),
        () => Effect.succeed(changedTo("x".repeat(1_001))),
        () => Effect.succeed({ ...unchanged, metadata: { long: "x".repeat(100_000) } })
      ]
      hooks.set(outcomes.map((call, at) => listener(`p${at}`, { hooks: onRequest, call })))
      const run = newRun()
      assert.deepStrictEqual(yield* hooks.request(run, body), passed(body))
      assert.deepStrictEqual(
        run.calls.map(({ action }) => action),
        ["failed", "failed", "failed", "failed"]
      )
      assert.deepStrictEqual(run.metadata, {})
      assert.deepStrictEqual(run.touched, [])
    })
  )

  scenario("refuses where one fails without which none may pass", (hooks) =>
    Effect.gen(function* () {
      const last = listener("b", { hooks: onRequest })
      hooks.set([listener("a", { hooks: onRequest, failClosed: true, call: () => Effect.succeed(failed) }), last])
      assert.deepStrictEqual(yield* hooks.request(newRun(), body), { _tag: "Refused", plugin: "a" })
      assert.deepStrictEqual(last.calls, [])
    })
  )

  scenario("goes on with those it began with, and the next one with those set meanwhile", (hooks) =>
    Effect.gen(function* () {
      const reached = yield* Deferred.make<void>()
      const goOn = yield* Deferred.make<void>()
      const slow = listener("a", {
        hooks: onRequest,
        call: () =>
          Deferred.succeed(reached, undefined).pipe(Effect.zipRight(Deferred.await(goOn)), Effect.as(unchanged))
      })
      const old = listener("b", { hooks: onRequest })
      const added = listener("c", { hooks: onRequest })
      hooks.set([slow, old])
      const run = newRun()
      const fiber = yield* Effect.fork(hooks.request(run, body))
      yield* Deferred.await(reached)
      hooks.set([added])
      yield* Deferred.succeed(goOn, undefined)
      yield* Fiber.join(fiber)
      assert.strictEqual(old.calls.length, 1)
      assert.strictEqual(added.calls.length, 0)
      yield* hooks.request(run, body)
      assert.strictEqual(added.calls.length, 1)
    })
  )

  scenario("is interrupted with its call", (hooks) =>
    Effect.gen(function* () {
      const reached = yield* Deferred.make<void>()
      let isInterrupted = false
      hooks.set([
        listener("a", {
          hooks: onRequest,
          call: () =>
            Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never).pipe(
              Effect.onInterrupt(() => Effect.sync(() => void (isInterrupted = true)))
            )
        })
      ])
      const fiber = yield* Effect.fork(hooks.request(newRun(), body))
      yield* Deferred.await(reached)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(isInterrupted)
      assert.strictEqual(hooks.statsOf("a").calls, 0)
    })
  )
})

describe("failures in a row", () => {
  scenario("stop a plugin once, and a success between them begins anew", (hooks) =>
    Effect.gen(function* () {
      let outcome: HookOutcome = failed
      const one = listener("a", { hooks: onRequest, call: () => Effect.succeed(outcome) })
      const told: Array<string> = []
      hooks.onFailing(({ failures, plugin, reason }) => told.push(`${plugin} ${failures} ${reason}`))
      hooks.set([one])
      const ask = hooks.request(newRun(), body)
      for (let count = 1; count < mostFailures; count += 1) yield* ask
      outcome = unchanged
      yield* ask
      outcome = failed
      for (let count = 0; count < mostFailures + 3; count += 1) yield* ask
      assert.deepStrictEqual(told, [`a ${mostFailures} it threw`])
      assert.strictEqual(one.calls.length, 2 * mostFailures)
      hooks.set([listener("a", { hooks: onRequest })])
      yield* ask
      assert.strictEqual(hooks.statsOf("a").calls, 2 * mostFailures + 1)
    })
  )

  scenario("of events count as well", (hooks) =>
    Effect.gen(function* () {
      const told: Array<string> = []
      hooks.onFailing(({ plugin }) => told.push(plugin))
      hooks.set([listener("a", { hooks: { onError: {} }, notify: (calls) => Effect.succeed(calls.length) })])
      for (let count = 0; count < mostFailures; count += 1) hooks.emit(newRun(), "onError", {})
      yield* TestClock.adjust(gatheringMs)
      yield* hooks.idle
      assert.deepStrictEqual(told, ["a"])
      assert.deepInclude(hooks.statsOf("a"), { calls: mostFailures, failed: mostFailures })
    })
  )

  scenario("of one that was replaced meanwhile are not those of its successor", (hooks) =>
    Effect.gen(function* () {
      const told: Array<string> = []
      hooks.onFailing(({ plugin }) => told.push(plugin))
      const begun = yield* Deferred.make<void>()
      const goOn = yield* Deferred.make<void>()
      hooks.set([
        listener("a", {
          hooks: { onError: {} },
          notify: (calls) =>
            Deferred.succeed(begun, undefined).pipe(Effect.zipRight(Deferred.await(goOn)), Effect.as(calls.length))
        })
      ])
      for (let count = 0; count < mostFailures; count += 1) hooks.emit(newRun(), "onError", {})
      yield* TestClock.adjust(gatheringMs)
      yield* Deferred.await(begun)
      hooks.set([listener("a", { hooks: onRequest })])
      yield* Deferred.succeed(goOn, undefined)
      yield* hooks.idle
      assert.deepStrictEqual(told, [])
    })
  )
})

describe("events", () => {
  scenario("cross in batches, with the body where it is asked for", (hooks) =>
    Effect.gen(function* () {
      const batches: Array<number> = []
      const most = 2 * batchCalls + 50
      const plain = listener("plain", {
        hooks: { onError: {} },
        notify: (calls) => Effect.sync(() => (batches.push(calls.length), 0))
      })
      const full = listener("full", { hooks: { onError: { body: true } } })
      hooks.set([plain, full])
      for (let count = 0; count < most; count += 1) hooks.emit(newRun(), "onError", { count }, () => body)
      yield* TestClock.adjust(gatheringMs)
      assert.deepStrictEqual(batches, [batchCalls, batchCalls])
      yield* TestClock.adjust(gatheringMs)
      yield* hooks.idle
      assert.deepStrictEqual(batches, [batchCalls, batchCalls, 50])
      assert.deepStrictEqual(
        plain.calls.map(({ payload }) => payload["count"]),
        Array.from({ length: most }, (_, at) => at)
      )
      assert.isNull(plain.calls[0]?.body)
      assert.strictEqual(textOf(full.calls[0] ?? assert.fail("not called")), '{"a":1}')
    })
  )

  scenario("that find the line full are dropped and counted", (hooks) =>
    Effect.gen(function* () {
      const one = listener("a", { hooks: { onError: {} } })
      hooks.set([one])
      for (let count = 0; count < mostWaiting + 7; count += 1) hooks.emit(newRun(), "onError", {})
      assert.strictEqual(hooks.statsOf("a").dropped, 7)
      yield* TestClock.adjust(gatheringMs)
      yield* hooks.idle
      assert.strictEqual(one.calls.length, mostWaiting)
    })
  )
})

describe("answers", () => {
  const answer = {
    payload: { status: 200 },
    body,
    provider: "up",
    isReadable: (changed: Uint8Array) => changed.length < 50
  }

  scenario("take the changes that can be read, and no block", (hooks) =>
    Effect.gen(function* () {
      hooks.set([
        listener("a", { hooks: { onResponse: {} }, call: () => Effect.succeed(changedTo({ b: 2 })) }),
        listener("b", { hooks: { onResponse: {} }, call: () => Effect.succeed(changedTo("x".repeat(60))) }),
        listener("c", { hooks: { onResponse: {} }, call: () => Effect.succeed(blocked()) })
      ])
      const run = newRun()
      const verdict = yield* hooks.response(run, answer, false)
      assert(verdict._tag === "Passed")
      assert.strictEqual(Buffer.from(verdict.body ?? []).toString(), '{"b":2}')
      assert.deepStrictEqual(
        run.calls.map(({ action }) => action),
        ["modified", "failed", "failed"]
      )
      assert.deepStrictEqual(run.touched, ["a"])
    })
  )

  scenario("that are streams wait only for those that hold them", (hooks) =>
    Effect.gen(function* () {
      const holds = listener("holds", { hooks: { onResponse: { stream: "buffer" } }, failClosed: true })
      const observes = listener("observes", { hooks: { onResponse: {} }, call: () => Effect.succeed(changedTo({})) })
      hooks.set([holds, observes])
      const run = newRun()
      assert.deepStrictEqual(yield* hooks.response(run, answer, true), passed(body))
      assert.strictEqual(observes.calls.length, 0)
      assert.strictEqual(hooks.guardOf("onResponse", true), "holds")
      assert.isNull(hooks.guardOf("onRequest", false))
      hooks.observe(run, answer)
      yield* hooks.idle
      assert.strictEqual(observes.calls.length, 1)
      assert.strictEqual(holds.calls.length, 1)
      assert.deepStrictEqual(run.touched, [])
    })
  )

  scenario("are observed by so many calls at once, and no more", (hooks) =>
    Effect.gen(function* () {
      const goOn = yield* Deferred.make<void>()
      const one = listener("a", {
        hooks: { onResponse: {} },
        call: () => Effect.as(Deferred.await(goOn), unchanged)
      })
      hooks.set([one])
      for (let count = 0; count < mostObserving + 2; count += 1) hooks.observe(newRun(), answer)
      assert.strictEqual(hooks.statsOf("a").dropped, 2)
      yield* Deferred.succeed(goOn, undefined)
      yield* hooks.idle
      assert.strictEqual(one.calls.length, mostObserving)
    })
  )
})

describe("metadata in the decision record", () => {
  it("are the first members that fit into 4 KB", () => {
    const run = newRun()
    assert.isNull(run.keptMetadata())
    assert.isTrue(run.add({ a: "x".repeat(3_000) }))
    assert.isTrue(run.add({ b: "x".repeat(3_000), c: 1 }))
    assert.deepStrictEqual(Object.keys(run.keptMetadata() ?? {}), ["a"])
    assert.isFalse(run.add({ d: "x".repeat(70_000) }))
    assert.deepStrictEqual(Object.keys(run.metadata), ["a", "b", "c"])
  })
})
