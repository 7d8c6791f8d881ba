/** Limits of teams after a start: they begin with what the log has of their keys. */
import { assert, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import * as Events from "../../../src/observe/Events.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import * as IdGen from "../../../src/platform/IdGen.ts"
import * as KeyLimits from "../../../src/plane/ledger/KeyLimits.ts"
import { recoveredRow } from "../../../src/plane/ledger/Recovered.ts"
import * as Reservations from "../../../src/store/usage/Reservations.ts"
import * as UsageJournal from "../../../src/store/usage/UsageJournal.ts"
import * as ApiKeys from "../../../src/subjects/auth/ApiKeys.ts"
import { unrestricted } from "../../../src/subjects/keys/entity.ts"
import { People } from "../../../src/subjects/people/People.ts"
import type { Team } from "../../../src/subjects/teams/entity.ts"
import * as TestTimers from "../../support/TestTimers.ts"
import { reposInMemory } from "../store/fixtures.ts"

const store = Layer.mergeAll(
  UsageJournal.layerMemory,
  ApiKeys.layer.pipe(Layer.provide(IdGen.layer)),
  Events.layer,
  Reservations.layerMemory.pipe(Layer.provideMerge(TestTimers.layer))
).pipe(Layer.provideMerge(reposInMemory), Layer.provide(AppConfig.layerOf({ dataDir: "/nonexistent" })))

const dayMs = 86_400_000
const hourMs = 3_600_000

const teamOf = (id: string, parent: string | null): Team => ({
  id,
  name: id,
  source: "local",
  externalId: null,
  parent,
  budget: {
    dailyLimitNanoUsd: 10_000,
    weeklyLimitNanoUsd: 0,
    monthlyLimitNanoUsd: 0,
    warningThreshold: 0.8,
    resetTime: "00:00",
    timeZone: "UTC"
  },
  models: null,
  rate: 1,
  content: "none",
  contentNotice: null,
  limits: { dailyTokens: 5_000, weeklyTokens: 0, monthlyTokens: 0, requestsPerDay: 50 },
  members: [],
  createdAtMs: 0,
  updatedAtMs: 0
})

it.scoped("the limits of a team begin with what its keys used in the window, each in its time", () =>
  Effect.gen(function* () {
    const movedMs = 10 * dayMs + 12 * hourMs
    yield* TestClock.setTime(movedMs + hourMs)
    const context = yield* Layer.build(Layer.orDie(store))
    const keys = Context.get(context, ApiKeys.ApiKeys)
    const people = Context.get(context, People)
    const journal = Context.get(context, UsageJournal.UsageJournal)
    for (const team of [teamOf("above", null), teamOf("below", "above"), teamOf("other", null)]) {
      yield* Effect.orDie(people.putTeam(team))
    }
    const add = (name: string, teamId: string | null) =>
      Effect.map(Effect.orDie(keys.create({ ...unrestricted, name, teamId })), ({ key }) => key)
    const steady = yield* add("steady", "below")
    const moving = yield* add("moving", "other")
    const late = yield* add("late", null)
    const removed = yield* add("removed", "above")
    let rows = 0
    const used = (apiKeyId: string, receivedMs: number, nanoUsd: number): void => {
      rows += 1
      const call = { provider: "p", connectionId: "c", model: "m", nanoUsd, tokensIn: nanoUsd, tokensOut: 0 }
      journal.append(
        recoveredRow(
          {
            requestId: `r${rows}`,
            apiKeyId,
            receivedMs,
            requestedModel: "p/m",
            sourceWire: "chat",
            streamed: false,
            batchId: null,
            calls: [{ ...call, createdAtMs: receivedMs, price: null }]
          },
          receivedMs
        )
      )
    }
    // Of the day before.
    used(steady.id, 10 * dayMs - 1, 9_000)
    used(steady.id, movedMs - hourMs, 1)
    used(moving.id, movedMs - 1, 10)
    used(late.id, movedMs - 1, 100)
    used(removed.id, movedMs - 1, 1_000)
    yield* Effect.orDie(keys.update(moving.id, { teamId: "below", ownedSinceMs: movedMs }))
    yield* Effect.orDie(keys.update(late.id, { teamId: "other", ownedSinceMs: movedMs }))
    used(moving.id, movedMs, 20)
    used(late.id, movedMs, 200)
    yield* Effect.orDie(keys.remove(removed.id))
    yield* Effect.orDie(journal.flush)

    const started = yield* Layer.build(Layer.orDie(KeyLimits.layer.pipe(Layer.provide(Layer.succeedContext(context)))))
    const limits = Context.get(started, KeyLimits.KeyLimits)
    const standingOf = (id: string) =>
      limits.ownerStandings(id, movedMs).map(({ spec, window }) => [spec.unit, window.used, window.reserved])
    const all = (amount: number, requests: number) => [
      ["usd", amount, 0],
      ["tokens", amount, 0],
      ["requests", requests, 0]
    ]
    assert.deepStrictEqual(standingOf("below"), all(21, 2))
    assert.deepStrictEqual(standingOf("above"), all(1_021, 3))
    assert.deepStrictEqual(standingOf("other"), all(210, 2))
    // A key of theirs is held to it from its first request on.
    const key = keys.get(steady.id)
    if (key === null) return assert.fail("the key is there")
    const commitment = limits.admit(key, {
      requestId: "r",
      receivedMs: movedMs,
      sessionId: null,
      isCountedBefore: false
    })
    if (commitment === null || "_tag" in commitment || !("reserve" in commitment)) return assert.fail("not admitted")
    const estimate = { nanoUsd: 8_980, tokens: 0, tokensIn: 0, tokensOut: 0, price: null }
    const obstacle = commitment.obstacle({ provider: "p", model: "m" }, estimate)
    assert.strictEqual(obstacle?.meter.spec.owner?.name, "above")
    assert.isNull(commitment.obstacle({ provider: "p", model: "m" }, { ...estimate, nanoUsd: 8_979 }))
  })
)
