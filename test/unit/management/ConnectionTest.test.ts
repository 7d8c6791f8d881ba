import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { testConnection } from "../../../src/subjects/connections/ConnectionTest.ts"
import * as Cooldowns from "../../../src/plane/resilience/cooldown/Cooldowns.ts"
import { ConnectionRepo } from "../../../src/subjects/connections/repo.ts"
import { started } from "../resilience/support.ts"
import { bareConnection, reposInMemory } from "../store/fixtures.ts"

const profile = { baseCooldownMs: 3_000, maxBackoffSteps: 5 }

describe("an operator's test of a connection", () => {
  for (const [ok, expected] of [
    [true, "active"],
    [false, "expired"]
  ] as const) {
    it.scoped(`that is answered ${ok ? "well ends" : "badly leaves"} a terminal state, in the store too`, () =>
      Effect.gen(function* () {
        const repo = yield* ConnectionRepo
        yield* repo.insert(bareConnection)
        const cooldowns = yield* started(Cooldowns.Cooldowns, Cooldowns.layer)
        const penalty = { _tag: "Terminal", status: "expired" } as const
        const failure = { penalty, startedMs: -10, message: "no", type: "auth_expired", code: "401" }
        cooldowns.fail(bareConnection.id, profile, -5, failure)
        yield* cooldowns.flush
        const answer = {
          ok,
          status: ok ? 200 : 401,
          latencyMs: 1,
          model: "m",
          error: null,
          models: null,
          modelsError: null,
          answered: []
        }
        const calls = { test: () => Effect.succeed(answer) }
        const told: Array<unknown> = []
        const events = { publish: (event: unknown) => void told.push(event) }
        const result = yield* testConnection(
          { calls, cooldowns, events, spending: { book: () => Effect.void } },
          bareConnection,
          null
        )
        assert.strictEqual(result.ok, ok)
        const event = { type: "connection.tested", atMs: 0, connectionId: bareConnection.id, ok, status: answer.status }
        assert.deepStrictEqual(told, [{ ...event, latencyMs: 1 }])
        assert.strictEqual((yield* repo.get(bareConnection.id))?.testStatus, expected)
      }).pipe(Effect.provide(reposInMemory))
    )
  }
})
