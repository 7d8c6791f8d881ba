/** Claims of gateways on a real database: one works at a time, the next one goes on, and what the first has lost it does no more. */
import { assert, describe, it } from "@effect/vitest"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as NodeClaims from "../../../src/plane/workers/NodeClaims.ts"
import { open } from "../../../src/store/postgres/Database.ts"
import { emptySchema } from "../../support/postgres/Schemas.ts"
import { noPostgres, postgresUrl } from "../../support/postgres/Server.ts"

const url = await postgresUrl()

const times = { ttlMs: 600, everyMs: 20 }

/** A database, and gateways on it that each count how they work. */
const world = Effect.gen(function* () {
  const sql = yield* open(yield* emptySchema(url ?? ""))
  const working = new Map<string, number>()
  const fences: Array<number> = []
  let atOnce = 0
  let most = 0
  const start = (name: string) =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const begun = yield* Deferred.make<void>()
      const claims = yield* NodeClaims.make(name, `folder-of-${name}`, times).pipe(
        Effect.provideService(SqlClient.SqlClient, sql),
        Scope.extend(scope)
      )
      const work = (fence: number) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            working.set(name, (working.get(name) ?? 0) + 1)
            fences.push(fence)
            most = Math.max(most, (atOnce += 1))
            Deferred.unsafeDone(begun, Effect.void)
          }),
          () => Effect.never,
          () => Effect.sync(() => (atOnce -= 1))
        )
      const fiber = yield* Effect.forkIn(claims.whileHeld("usage-sums", work), scope)
      return { begun: Deferred.await(begun), claims, fiber, end: Scope.close(scope, Exit.void) }
    })
  return { sql, start, working, fences, most: () => most }
})

describe.skipIf(url === null)(`claims of gateways${url === null ? noPostgres : ""}`, () => {
  it.scopedLive("are one gateway's, and the next one's when it ends", () =>
    Effect.gen(function* () {
      const { fences, most, start, working } = yield* world
      const one = yield* start("one")
      yield* one.begun
      const two = yield* start("two")
      assert.isTrue(one.claims.holds("usage-sums"))
      assert.isFalse(two.claims.holds("usage-sums"))
      // What is about a process or its folder is each one's own.
      assert.isTrue(two.claims.holds("plugins"))
      yield* one.end
      yield* two.begun
      yield* two.end
      assert.deepStrictEqual(
        [...working],
        [
          ["one", 1],
          ["two", 1]
        ]
      )
      assert.deepStrictEqual(fences, [1, 2])
      assert.strictEqual(most(), 1)
    })
  )

  it.scopedLive("are lost by one that was not heard of, which then stops its work", () =>
    Effect.gen(function* () {
      const { sql, start, working } = yield* world
      const one = yield* start("one")
      yield* one.begun
      // As after a stop of the process: its time is over, and another one has it.
      yield* sql`UPDATE cluster_claims SET holder = 'two', fence = fence + 1, expires_at_ms = 9000000000000`
      yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => !one.claims.holds("usage-sums") })
      // Its work comes back to it when the other one leaves, with a fence of its own.
      yield* sql`UPDATE cluster_claims SET expires_at_ms = 0`
      yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => working.get("one") === 2 })
      yield* one.end
      assert.isTrue(Exit.isInterrupted((yield* Fiber.await(one.fiber)) as Exit.Exit<void>))
    })
  )

  it.scopedLive("let one gateway at a time renew the tokens of an account", () =>
    Effect.gen(function* () {
      const sql = yield* open(yield* emptySchema(url ?? ""))
      const turnsOf = (name: string) => NodeClaims.turns(name).pipe(Effect.provideService(SqlClient.SqlClient, sql))
      const [one, two] = [yield* turnsOf("one"), yield* turnsOf("two")]
      const steps: Array<string> = []
      const gate = yield* Deferred.make<void>()
      const first = yield* Effect.fork(
        one.inTurn(
          "a",
          Effect.zipRight(
            Effect.sync(() => steps.push("one begins")),
            Deferred.await(gate)
          )
        )
      )
      yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => steps.length === 1 })
      const second = yield* Effect.fork(
        two.inTurn(
          "a",
          Effect.sync(() => steps.push("two"))
        )
      )
      // Another account is another turn.
      yield* two.inTurn(
        "b",
        Effect.sync(() => steps.push("two, b"))
      )
      steps.push("one ends")
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(first)
      yield* Fiber.join(second)
      assert.deepStrictEqual(steps, ["one begins", "two, b", "one ends", "two"])
      // A failure gives the turn back as well.
      assert.isTrue(Exit.isFailure(yield* Effect.exit(one.inTurn("a", Effect.fail("no")))))
      assert.strictEqual(yield* two.inTurn("a", Effect.succeed("again")), "again")
    })
  )
})
