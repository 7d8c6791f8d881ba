import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { type Backend, type Opened, TunnelFailed, TunnelNeedsAuth } from "../../../src/net/tunnels/Backend.ts"
import * as Supervisor from "../../../src/net/tunnels/Supervisor.ts"
import { EntranceFailed, TunnelEntrance } from "../../../src/net/tunnels/TunnelEntrance.ts"
import { eventually } from "../../support/eventually.ts"

interface Attempt {
  readonly options: string
  readonly opened: (opened: Opened) => Effect.Effect<void>
  readonly end: (failure: TunnelFailed | TunnelNeedsAuth) => Effect.Effect<void>
}

/** A backend whose attempts are driven by the test. */
const harness = Effect.gen(function* () {
  const attempts = yield* Queue.unbounded<Attempt>()
  const held = { attempts: 0, entrances: 0 }
  const backend: Backend<string> = {
    name: "quick",
    warning: "a warning",
    run: (options, _, opened) =>
      Effect.gen(function* () {
        yield* Effect.acquireRelease(
          Effect.sync(() => (held.attempts += 1)),
          () => Effect.sync(() => (held.attempts -= 1))
        )
        const over = yield* Deferred.make<never, TunnelFailed | TunnelNeedsAuth>()
        yield* attempts.offer({ options, opened, end: (failure) => Effect.asVoid(Deferred.fail(over, failure)) })
        return yield* Deferred.await(over)
      })
  }
  const entrance = Layer.succeed(TunnelEntrance, {
    open: Effect.acquireRelease(
      Effect.sync(() => {
        held.entrances += 1
        return { host: "127.0.0.1", port: 4000 } as const
      }),
      () => Effect.sync(() => (held.entrances -= 1))
    )
  })
  const supervisor = yield* Supervisor.make(backend, () => undefined).pipe(Effect.provide(entrance))
  const phase = (wanted: string) =>
    Effect.promise(() => eventually(`phase ${wanted}`, supervisor.now, (status) => status.phase === wanted))
  return { attempts, held, supervisor, phase }
})

const failed = (isFinal: boolean) => new TunnelFailed({ reason: "it broke", isFinal })

/** Later than any wait with its jitter. */
const longestWaitMs = Supervisor.restartLimits.mostMs * Supervisor.restartLimits.jitter.max + 1

describe("Supervisor", () => {
  it.effect("what is built after it ends before its tunnel, also when that was opened later", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { attempts, held, supervisor } = yield* Scope.extend(harness, scope)
      let heldThen = 0
      // As the server that finishes its running requests.
      yield* Scope.addFinalizer(
        scope,
        Effect.sync(() => void (heldThen = held.attempts))
      )
      yield* supervisor.start("a", true)
      yield* attempts.take
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(heldThen, 1)
      assert.deepStrictEqual(held, { attempts: 0, entrances: 0 })
    })
  )

  it.scoped("opens the entrance and the tunnel, and closes both when it is stopped", () =>
    Effect.gen(function* () {
      const { attempts, held, phase, supervisor } = yield* harness
      assert.deepInclude(yield* supervisor.status, { phase: "stopped", warning: "a warning" })
      yield* supervisor.start("a", true)
      const attempt = yield* attempts.take
      assert.deepInclude(supervisor.now(), {
        phase: "starting",
        targetUrl: "http://127.0.0.1:4000",
        allowKeyless: true
      })
      yield* attempt.opened({ publicUrl: "https://a.example" })
      assert.deepInclude(yield* phase("running"), { publicUrl: "https://a.example" })
      assert.deepStrictEqual(held, { attempts: 1, entrances: 1 })
      yield* supervisor.stop
      assert.deepStrictEqual(held, { attempts: 0, entrances: 0 })
      assert.strictEqual(supervisor.now().phase, "stopped")
    })
  )

  it.scoped("tries again after waits that grow, with the entrance left open", () =>
    Effect.gen(function* () {
      const { attempts, held, phase, supervisor } = yield* harness
      yield* supervisor.start("once", false, "later")
      let attempt = yield* attempts.take
      assert.strictEqual(attempt.options, "once")
      for (let count = 1; count <= 12; count += 1) {
        yield* attempt.end(failed(false))
        assert.deepInclude(yield* phase("error"), { lastError: "it broke", restarts: count - 1 })
        assert.deepStrictEqual(held, { attempts: 0, entrances: 1 })
        // No wait is shorter than the first, nor longer than the longest.
        const waitMs = Math.min(Supervisor.restartLimits.firstMs * 2 ** (count - 1), Supervisor.restartLimits.mostMs)
        yield* TestClock.adjust(waitMs * Supervisor.restartLimits.jitter.min - 1)
        assert.strictEqual(yield* attempts.size, 0)
        yield* TestClock.adjust(longestWaitMs)
        attempt = yield* attempts.take
        assert.strictEqual(attempt.options, "later")
        assert.strictEqual(supervisor.now().restarts, count)
      }
    })
  )

  it.scoped("begins with the first wait again after the tunnel was open for a while", () =>
    Effect.gen(function* () {
      const { attempts, phase, supervisor } = yield* harness
      yield* supervisor.start("a", false)
      for (let count = 0; count < 8; count += 1) {
        yield* (yield* attempts.take).end(failed(false))
        yield* phase("error")
        yield* TestClock.adjust(longestWaitMs)
      }
      const attempt = yield* attempts.take
      yield* attempt.opened({ publicUrl: "https://a.example" })
      yield* TestClock.adjust(Supervisor.restartLimits.settledMs)
      yield* attempt.end(failed(false))
      yield* phase("error")
      yield* TestClock.adjust(Supervisor.restartLimits.firstMs * Supervisor.restartLimits.jitter.max + 1)
      yield* attempts.take
    })
  )

  it.scoped("stops at a final failure, and when a person has to act", () =>
    Effect.gen(function* () {
      const { attempts, held, phase, supervisor } = yield* harness
      yield* supervisor.start("a", false)
      yield* (yield* attempts.take).end(failed(true))
      assert.deepInclude(yield* phase("error"), { lastError: "it broke", targetUrl: null })
      yield* TestClock.adjust(10 * longestWaitMs)
      assert.strictEqual(yield* attempts.size, 0)
      assert.deepStrictEqual(held, { attempts: 0, entrances: 0 })
      yield* supervisor.start("a", false)
      yield* (yield* attempts.take).end(new TunnelNeedsAuth({ reason: "Log in:", authUrl: "https://log.in" }))
      assert.deepInclude(yield* phase("needs_auth"), { lastError: "Log in: https://log.in" })
    })
  )

  it.scoped("ends what runs before it starts anew", () =>
    Effect.gen(function* () {
      const { attempts, held, supervisor } = yield* harness
      yield* supervisor.start("a", false)
      yield* attempts.take
      yield* supervisor.start("b", false)
      assert.strictEqual((yield* attempts.take).options, "b")
      assert.deepStrictEqual(held, { attempts: 1, entrances: 1 })
      yield* supervisor.refuse("no keys", false)
      assert.deepStrictEqual(held, { attempts: 0, entrances: 0 })
      assert.deepInclude(supervisor.now(), { phase: "error", lastError: "no keys" })
    })
  )

  it.effect("ends everything with its scope", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { attempts, held, supervisor } = yield* Scope.extend(harness, scope)
      yield* supervisor.start("a", false)
      yield* attempts.take
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(held, { attempts: 0, entrances: 0 })
    })
  )

  it.scoped("says why the entrance cannot be opened, and goes on after a bug of a backend", () =>
    Effect.gen(function* () {
      const broken: Backend<string> = { name: "ssh", warning: null, run: () => Effect.die(new Error("bug")) }
      const shut = yield* Supervisor.make(broken, () => undefined).pipe(
        Effect.provideService(TunnelEntrance, { open: new EntranceFailed({ message: "no port" }) })
      )
      yield* shut.start("a", false)
      yield* Effect.promise(() => eventually("the error", shut.now, (status) => status.lastError === "no port"))
      const open = yield* Supervisor.make(broken, () => undefined).pipe(
        Effect.provideService(TunnelEntrance, { open: Effect.succeed({ host: "127.0.0.1" as const, port: 1 }) })
      )
      yield* open.start("a", false)
      yield* Effect.promise(() => eventually("the error", open.now, (status) => status.phase === "error"))
      assert.notInclude(open.now().lastError ?? "", "bug")
    })
  )
})
