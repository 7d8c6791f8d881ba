import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type { GuardedAnswer, GuardedFetch } from "../../../../src/net/egress/GuardedFetch.ts"
import { make as timers } from "../../../../src/platform/Timers.ts"
import { mostUnderWay } from "../../../../src/agents/plugins/sandbox/OpenPlugin.ts"
import { eventually } from "../../../support/eventually.ts"
import { callOf, openSandbox, pluginOf } from "../../../support/Sandboxes.ts"
import { eventOf } from "../../../../src/agents/plugins/hooks/Listener.ts"

const answer: GuardedAnswer = {
  status: 200,
  headers: { get: () => null, startingWith: () => [], [Symbol.iterator]: () => [].values() },
  body: Buffer.from("{}"),
  url: "http://example.com/",
  isRedirected: false
}

/** Answers when the gate is open. */
const gated = Effect.map(Deferred.make<void>(), (gate) => {
  const fetch: typeof GuardedFetch.Service = { send: () => Effect.as(Deferred.await(gate), answer) }
  return { fetch, open: Deferred.succeed(gate, undefined) }
})

const waits = pluginOf(
  'onRequest: async () => { await fetch("http://example.com/"); return modifyBody({ done: true }) }'
)

const handles = (): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

describe("calls of a sandbox", () => {
  it.scopedLive("wait for their turn, and fail at once where too many do", () =>
    Effect.gen(function* () {
      const { fetch, open } = yield* gated
      const { plugin, sandbox } = yield* openSandbox(waits, {
        permissions: ["network"],
        fetch,
        limits: { timeoutMs: 10_000 }
      })
      const fibers = yield* Effect.forEach(Array.from({ length: mostUnderWay + 64 }), () =>
        Effect.fork(sandbox.call(callOf({})))
      )
      yield* Effect.promise(() =>
        eventually(
          "all to be there",
          plugin.counts,
          ({ underWay, waiting }) => underWay === mostUnderWay && waiting === 64
        )
      )
      const refused = yield* sandbox.call(callOf({}))
      assert.match(refused._tag === "Failed" ? refused.reason : "", /64 calls wait/)
      // One that is not wanted any longer gives its place to another.
      const last = fibers.at(-1)
      if (last !== undefined) yield* Fiber.interrupt(last)
      assert.strictEqual(plugin.counts().waiting, 63)
      yield* open
      for (const fiber of fibers.slice(0, -1)) assert.strictEqual((yield* Fiber.join(fiber))._tag, "Changed")
      assert.deepStrictEqual(plugin.counts(), { threads: 1, waiting: 0, underWay: 0 })
    })
  )

  it.scopedLive("that are too late end the thread with all that is under way; the next one starts another", () =>
    Effect.gen(function* () {
      const { lines, sandbox } = yield* openSandbox(
        pluginOf(
          `onRequest: async (context, { wait }) => {
            calls += 1
            console.log(calls)
            if (wait) await new Promise((done) => setTimeout(done, 60_000))
            return modifyBody({ calls })
          }`,
          "let calls = 0"
        ),
        { limits: { timeoutMs: 400 } }
      )
      const late = yield* Effect.all(
        Array.from({ length: 4 }, () => sandbox.call(callOf({}, "onRequest", { wait: true }))),
        { concurrency: "unbounded" }
      )
      for (const outcome of late) assert.match(outcome._tag === "Failed" ? outcome.reason : "", /longer than 400 ms/)
      yield* Effect.promise(async () => {
        // A busy machine may need more than one time to start a thread.
        await eventually(
          "the next call",
          () => Effect.runPromise(sandbox.call(callOf({}, "onRequest", { wait: false }))),
          ({ _tag }) => _tag === "Changed"
        )
      })
      assert.strictEqual(lines.at(-1)?.message, "1", "its memory is new")
    })
  )

  it.scopedLive("end all, each once, while the thread is killed under 200 of them", () =>
    Effect.gen(function* () {
      const { plugin, sandbox } = yield* openSandbox(
        pluginOf(
          `onRequest: async (context, { at }) => {
            if (at === 7) { const keep = []; for (;;) keep.push("x".repeat(1_000_000)) }
            await new Promise((done) => setTimeout(done, 1))
            return modifyBody({ at })
          }`
        ),
        { limits: { timeoutMs: 5_000 } }
      )
      const outcomes = yield* Effect.forEach(
        Array.from({ length: 200 }, (_, at) => at),
        (at) => sandbox.call(callOf({}, "onRequest", { at })),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(outcomes.length, 200)
      const [failed, changed] = ["Failed", "Changed"].map((tag) => outcomes.filter(({ _tag }) => _tag === tag).length)
      assert.strictEqual((failed ?? 0) + (changed ?? 0), 200)
      assert.strictEqual(outcomes[7]?._tag, "Failed")
      assert.isAtLeast(changed ?? 0, 40, "those that waited are served by the next thread")
      yield* Effect.promise(() => eventually("the old thread's end", plugin.counts, ({ threads }) => threads === 1))
    })
  )

  it.live(
    "leave nothing behind: no thread, timer, listener or call",
    () =>
      Effect.gen(function* () {
        const before = {
          timers: timers.live(),
          handles: handles(),
          listeners: process.eventNames().map((name) => process.listenerCount(name))
        }
        const scope = yield* Scope.make()
        const { plugin, sandbox } = yield* Scope.extend(
          openSandbox(
            pluginOf(
              `onRequest: async (context, { at }) => {
                if (at % 100 === 0) await new Promise((done) => setTimeout(done, 1))
                if (at % 10 === 0) throw new Error("no")
                return { ...modifyBody({ ...context.body, at }), ...addMetadata({ at }) }
              },
              onStreamEnd: () => {}`
            ),
            { limits: { timeoutMs: 10_000 } }
          ),
          scope
        )
        const count = Number(process.env["SANDBOX_CALLS"] ?? 10_000)
        let failed = 0
        for (let at = 0; at < count; at += 50) {
          const outcomes = yield* Effect.forEach(
            Array.from({ length: 50 }, (_, index) => at + index),
            (each) => sandbox.call(callOf({ model: "m" }, "onRequest", { at: each })),
            { concurrency: "unbounded" }
          )
          failed += outcomes.filter(({ _tag }) => _tag === "Failed").length
        }
        assert.strictEqual(failed, count / 10)
        assert.strictEqual(
          yield* sandbox.notify(Array.from({ length: 500 }, () => eventOf(callOf(null, "onStreamEnd")))),
          0
        )
        assert.deepStrictEqual(plugin.counts(), { threads: 1, waiting: 0, underWay: 0 })
        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(plugin.counts(), { threads: 0, waiting: 0, underWay: 0 })
        const after = yield* sandbox.call(callOf({}))
        assert.match(after._tag === "Failed" ? after.reason : "", /not active/)
        assert.strictEqual(timers.live(), before.timers)
        assert.deepStrictEqual(
          process.eventNames().map((name) => process.listenerCount(name)),
          before.listeners
        )
        const { MessagePort: ports = 0 } = handles()
        assert.isAtMost(ports, before.handles["MessagePort"] ?? 0)
      }),
    120_000
  )
})
