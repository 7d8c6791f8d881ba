/** Tokens of an account that two gateways have: a refresh token for one use is used once, and both go on with what came of it. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeLane } from "../../../../src/kernel/Lane.ts"
import { Catalog } from "../../../../src/plane/providers/Catalog.ts"
import { TokenRefresh } from "../../../../src/plane/providers/oauth/TokenRefresh.ts"
import { type RenewalTurns, SharedTurns } from "../../../../src/plane/state/Renewals.ts"
import { StoreError } from "../../../../src/store/Errors.ts"
import { ConnectionRepo } from "../../../../src/subjects/connections/repo.ts"
import { NodeRepo } from "../../../../src/subjects/nodes/repo.ts"
import { reposInMemory } from "../../store/fixtures.ts"
import { account, type Endpoint, endpoint, lab, refreshOf, rooms, rotating } from "./harness.ts"

/** A gateway over the store that is there. */
const gateway = (server: Endpoint, turns: RenewalTurns) =>
  Layer.build(Layer.fresh(rooms(server.layer)).pipe(Layer.provide(Layer.succeed(SharedTurns, turns))))

const used = "access-token-0"

const connected = Effect.gen(function* () {
  yield* (yield* NodeRepo).insert(lab)
  yield* (yield* ConnectionRepo).insert(account("a"))
})

describe("tokens that two gateways renew", () => {
  it.scopedLive("are renewed once, with the refresh token that is stored then", () =>
    Effect.gen(function* () {
      yield* connected
      const server = endpoint(rotating())
      const lane = makeLane(1)
      const turns: RenewalTurns = { inTurn: (_, work) => lane.inTurn(work) }
      const [one, two] = [yield* gateway(server, turns), yield* gateway(server, turns)]
      const outcomes = yield* Effect.all(
        [one, two].map((each) => Context.get(each, TokenRefresh).refresh("a", used)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(outcomes.toSorted(), ["refreshed", "unchanged"])
      assert.lengthOf(server.requests, 1)
      for (const each of [one, two]) {
        const connection = Context.get(each, Catalog).current().byConnection.get("a")?.connection
        assert.strictEqual(refreshOf(connection), "refresh-token-1")
      }
      // The next one goes on from there, whichever renews it.
      assert.strictEqual(yield* Context.get(two, TokenRefresh).refresh("a", "access-token-1"), "refreshed")
      assert.strictEqual(server.fields(1).get("refresh_token"), "refresh-token-1")
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scopedLive("are not renewed while the gateways cannot agree on it", () =>
    Effect.gen(function* () {
      yield* connected
      const server = endpoint(rotating())
      const away = new StoreError({ operation: "ClaimRows.take", cause: new Error("the database is away") })
      const one = yield* gateway(server, { inTurn: () => Effect.fail(away) })
      const failed = yield* Effect.flip(Context.get(one, TokenRefresh).refresh("a", used))
      assert.strictEqual(failed._tag, "RefreshTransient")
      assert.include(failed.message, "could not be renewed now")
      assert.lengthOf(server.requests, 0)
    }).pipe(Effect.provide(reposInMemory))
  )
})
