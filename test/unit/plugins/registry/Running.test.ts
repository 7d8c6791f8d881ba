/** Plugins that are stopped while they are asked. Their sandboxes are stand-ins whose calls a latch holds. */
import { operatorsOwn } from "../../../../src/contract/domain/ContentPermission.ts"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import type { PluginManifest } from "../../../../src/subjects/plugins/entity.ts"
import * as AppConfig from "../../../../src/platform/AppConfig.ts"
import { HookRun } from "../../../../src/agents/plugins/hooks/HookRun.ts"
import { Hooks, layer } from "../../../../src/agents/plugins/hooks/Hooks.ts"
import type { HookOutcome } from "../../../../src/agents/plugins/hooks/Listener.ts"
import { readManifest } from "../../../../src/agents/plugins/manifest/Manifest.ts"
import { makeRunning } from "../../../../src/agents/plugins/registry/Running.ts"
import { Sandbox } from "../../../../src/agents/plugins/sandbox/Sandbox.ts"
import { blocked, failed, unchanged } from "../../../support/HookListeners.ts"

const timeoutMs = 2_000

const manifestOf = (name: string, members: object = {}): PluginManifest =>
  readManifest(
    { name, version: "1.0.0", main: "index.js", hooks: { onRequest: true }, failClosed: true, timeoutMs, ...members },
    "1.0.0"
  ).manifest ?? assert.fail("the manifest is wrong")

/** Of one sandbox: its calls begin, wait for `goOn`, and end with `outcome`; all of them fail when it is closed. */
const latched = (outcome: HookOutcome) =>
  Effect.gen(function* () {
    const begun = yield* Deferred.make<void>()
    const goOn = yield* Deferred.make<void>()
    const closed = yield* Deferred.make<void>()
    const calls = { count: 0 }
    const call = Effect.suspend(() => {
      calls.count += 1
      return Deferred.succeed(begun, undefined).pipe(
        Effect.zipRight(
          Effect.raceFirst(Effect.as(Deferred.await(closed), failed), Effect.as(Deferred.await(goOn), outcome))
        )
      )
    })
    return { begun, goOn, closed, calls, call }
  })
type Latched = Effect.Effect.Success<ReturnType<typeof latched>>

const setUp = Effect.gen(function* () {
  const hooks = yield* Hooks
  const lifetime = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(lifetime, Exit.void))
  let next: Latched | null = null
  const sandboxes = Sandbox.of({
    open: () =>
      Effect.acquireRelease(
        Effect.sync(() => next ?? assert.fail("no sandbox is to be opened")),
        ({ closed }) => Deferred.succeed(closed, undefined)
      ).pipe(
        Effect.map(({ call }) => ({
          defined: { name: null, priority: null, enabled: true, hooks: ["onRequest" as const], strategies: [] },
          call: () => call,
          notify: ({ length }) => Effect.as(call, length),
          lifecycle: () => Effect.succeed(null),
          configure: () => Effect.void
        }))
      )
  })
  const strategies = { open: () => Effect.succeed([]), register: () => {}, unregister: () => {}, of: () => [] }
  const running = yield* Scope.extend(
    makeRunning({ hooks, sandboxes, strategies, dataFolder: () => "/nowhere" }),
    lifetime
  )
  /** Starts a plugin whose calls end with `outcome`, once they may. */
  const start = Effect.fnUntraced(function* (manifest: PluginManifest, outcome: HookOutcome) {
    const latch = yield* latched(outcome)
    next = latch
    const toOpen = { manifest, written: {}, files: new Map(), granted: [], config: {}, withStrategies: false }
    const opened = yield* Effect.orDie(running.open(toOpen, () => {}))
    yield* running.start(manifest, opened)
    return latch
  })
  const ask = Effect.suspend(() =>
    hooks.request(
      new HookRun({
        requestId: "r1",
        receivedMs: 5,
        wire: "chat",
        endpoint: "chat",
        headers: {},
        apiKeyId: null,
        permission: operatorsOwn
      }),
      Buffer.from("{}")
    )
  )
  return {
    hooks,
    running,
    start,
    ask,
    stopGateway: Effect.zipRight(running.closeAll, Scope.close(lifetime, Exit.void))
  }
})
type Room = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: Room) => Effect.Effect<void>): void => {
  it.scoped(name, () =>
    Effect.flatMap(setUp, run).pipe(
      Effect.provide(layer),
      Effect.provide(AppConfig.layerOf({ maxBodyBytes: 1_000, dataDir: "/nowhere" }))
    )
  )
}

const isClosed = ({ closed }: Latched) => Deferred.isDone(closed)

describe("a plugin that is stopped while it is asked", () => {
  for (const [kind, outcome, expected] of [
    ["blocks", blocked(), "Blocked"],
    ["lets pass", unchanged, "Passed"]
  ] as const) {
    scenario(`${kind} what it was asked before, and is asked nothing after`, ({ ask, hooks, running, start }) =>
      Effect.gen(function* () {
        const latch = yield* start(manifestOf("guard"), outcome)
        const asked = yield* Effect.fork(ask)
        yield* Deferred.await(latch.begun)
        // It does not wait for the call, so that other changes need not wait either.
        yield* running.stop("guard", null)
        assert.isNull(running.get("guard"))
        assert.isFalse(hooks.listens.onRequest)
        assert.strictEqual((yield* ask)._tag, "Passed")
        assert.isFalse(yield* isClosed(latch), "its sandbox is open while a call is under way")
        yield* Deferred.succeed(latch.goOn, undefined)
        assert.strictEqual((yield* Fiber.join(asked))._tag, expected)
        yield* running.closed("guard")
        assert.isTrue(yield* isClosed(latch))
        assert.strictEqual(latch.calls.count, 1)
      })
    )
  }

  scenario("is closed at once where no call is under way", ({ running, start }) =>
    Effect.gen(function* () {
      const latch = yield* start(manifestOf("guard"), unchanged)
      yield* running.stop("guard", null)
      yield* running.closed("guard")
      assert.isTrue(yield* isClosed(latch))
    })
  )

  scenario("has the time of one call, and not more", ({ ask, running, start }) =>
    Effect.gen(function* () {
      const latch = yield* start(manifestOf("guard"), unchanged)
      const asked = yield* Effect.fork(ask)
      yield* Deferred.await(latch.begun)
      yield* running.stop("guard", null)
      yield* TestClock.adjust(timeoutMs - 1)
      assert.isFalse(yield* isClosed(latch))
      yield* TestClock.adjust(1)
      yield* running.closed("guard")
      assert.isTrue(yield* isClosed(latch))
      assert.strictEqual((yield* Fiber.join(asked))._tag, "Refused", "a guard that was ended has let nothing pass")
    })
  )

  scenario("ends with the gateway, without a wait", ({ ask, running, start, stopGateway }) =>
    Effect.gen(function* () {
      const stopped = yield* start(manifestOf("stopped"), unchanged)
      const asked = yield* Effect.fork(ask)
      yield* Deferred.await(stopped.begun)
      yield* running.stop("stopped", null)
      const active = yield* start(manifestOf("active"), unchanged)
      const other = yield* Effect.fork(ask)
      yield* Deferred.await(active.begun)
      // The clock stands still: whatever waits for time would never end.
      yield* stopGateway
      assert.deepStrictEqual([yield* isClosed(stopped), yield* isClosed(active)], [true, true])
      assert.strictEqual((yield* Fiber.join(asked))._tag, "Refused")
      assert.strictEqual((yield* Fiber.join(other))._tag, "Refused")
    })
  )

  scenario("is closed at once when who waits for that leaves", ({ ask, running, start }) =>
    Effect.gen(function* () {
      const latch = yield* start(manifestOf("guard"), unchanged)
      yield* Effect.fork(ask)
      yield* Deferred.await(latch.begun)
      yield* running.stop("guard", null)
      const waiting = yield* Effect.fork(running.closed("guard"))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(waiting)
      assert.isTrue(yield* isClosed(latch))
    })
  )

  scenario("and again before its sandbox is closed has one thread that ends, not two", ({ ask, running, start }) =>
    Effect.gen(function* () {
      const first = yield* start(manifestOf("guard"), unchanged)
      const asked = yield* Effect.fork(ask)
      yield* Deferred.await(first.begun)
      yield* running.stop("guard", null)
      const second = yield* start(manifestOf("guard"), unchanged)
      const stopping = yield* Effect.fork(running.stop("guard", null))
      yield* Effect.yieldNow()
      assert.isNull(running.get("guard"))
      assert.isNull(yield* Effect.map(Fiber.poll(stopping), Option.getOrNull))
      yield* Deferred.succeed(first.goOn, undefined)
      yield* Fiber.join(stopping)
      yield* running.closed("guard")
      assert.deepStrictEqual([yield* isClosed(first), yield* isClosed(second)], [true, true])
      assert.strictEqual((yield* Fiber.join(asked))._tag, "Passed")
    })
  )
})

describe("a request whose hooks have begun with another plugin", () => {
  /** `first` is asked, `second` is next. */
  const between = ({ ask, start }: Room) =>
    Effect.gen(function* () {
      const first = yield* start(manifestOf("first", { failClosed: false }), unchanged)
      const second = yield* start(manifestOf("second"), blocked())
      yield* Deferred.succeed(second.goOn, undefined)
      const asked = yield* Effect.fork(ask)
      yield* Deferred.await(first.begun)
      return { second, verdict: Effect.zipRight(Deferred.succeed(first.goOn, undefined), Fiber.join(asked)) }
    })

  scenario("passes a guard that was deactivated before its turn", (room) =>
    Effect.gen(function* () {
      const { second, verdict } = yield* between(room)
      yield* room.running.stop("second", null)
      assert.strictEqual((yield* verdict)._tag, "Passed")
      assert.strictEqual(second.calls.count, 0)
    })
  )

  scenario("is refused by a guard that has failed before its turn", (room) =>
    Effect.gen(function* () {
      const { verdict } = yield* between(room)
      yield* room.running.stop("second", { manifest: manifestOf("second"), reason: "it failed" })
      assert.deepStrictEqual(yield* verdict, { _tag: "Refused", plugin: "second" })
    })
  )

  scenario("is judged by the one that came in its place", (room) =>
    Effect.gen(function* () {
      const { second, verdict } = yield* between(room)
      const newer = yield* room.start(manifestOf("second"), blocked({ status: 418 }))
      yield* Deferred.succeed(newer.goOn, undefined)
      assert.deepInclude(yield* verdict, { _tag: "Blocked", plugin: "second" })
      assert.deepStrictEqual([second.calls.count, newer.calls.count], [0, 1])
    })
  )

  scenario("is not let past a guard by a gateway that stops", (room) =>
    Effect.gen(function* () {
      const { verdict } = yield* between(room)
      yield* room.stopGateway
      assert.deepStrictEqual(yield* verdict, { _tag: "Refused", plugin: "second" })
    })
  )
})
