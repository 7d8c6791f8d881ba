import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { createServer } from "node:net"
import { once } from "node:events"
import * as ProcessFacts from "../../../src/platform/ProcessFacts.ts"
import { eventually } from "../../support/eventually.ts"

const blockedMs = 200
const nextTurn = () => new Promise((next) => setTimeout(next, 5))

describe("ProcessFacts", () => {
  it.scopedLive("counts the fibers that are not over", () =>
    Effect.gen(function* () {
      const { read } = yield* ProcessFacts.make
      const base = read().fibers
      const go = yield* Deferred.make<void>()
      const fibers = yield* Effect.forEach(Array.from({ length: 7 }), () =>
        Effect.fork(Effect.zipRight(Effect.fork(Effect.never), Deferred.await(go)))
      )
      yield* Effect.yieldNow()
      assert.strictEqual(read().fibers - base, 14)
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.joinAll(fibers)
      assert.strictEqual(read().fibers - base, 0)
    })
  )

  it.scopedLive("counts what keeps the event loop busy", () =>
    Effect.gen(function* () {
      const { read } = yield* ProcessFacts.make
      const servers = (): number => read().activeResources.get("TCPServerWrap") ?? 0
      const base = servers()
      const server = createServer()
      yield* Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening"))
      assert.strictEqual(servers() - base, 1)
      yield* Effect.promise(() => once(server.close(), "close"))
      // Node forgets it a moment later.
      yield* Effect.promise(() => eventually("Node to forget the server", servers, (count) => count <= base))
    })
  )

  it.scopedLive("tells how late the event loop was", () =>
    Effect.gen(function* () {
      const { read } = yield* ProcessFacts.make
      const block = async (): Promise<number> => {
        const until = performance.now() + blockedMs
        while (performance.now() < until);
        await nextTurn()
        return read().eventLoopDelayMs ?? 0
      }
      // The time up to the first tick after a reading is not measured: block again until it is.
      yield* Effect.promise(() => eventually("a measured delay", block, (delayMs) => delayMs >= blockedMs / 2))
    })
  )
})
