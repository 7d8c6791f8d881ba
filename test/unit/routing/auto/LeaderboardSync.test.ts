/** When a leaderboard is fetched, what is kept of it, and what counts without a network. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { defaultRouting, mergeRouting, type RoutingPatch } from "../../../../src/subjects/routingSettings/entity.ts"
import * as PublicFetch from "../../../../src/net/egress/PublicFetch.ts"
import { TimedOut } from "../../../../src/net/egress/Upstream.ts"
import * as Flags from "../../../../src/subjects/flags/service.ts"
import { layerMemory } from "../../../../src/subjects/flags/repo.ts"
import * as AppConfig from "../../../../src/platform/AppConfig.ts"
import { unknownFacts } from "../../../../src/plane/providers/ModelFacts.ts"
import * as LeaderboardSync from "../../../../src/plane/routing/auto/LeaderboardSync.ts"
import { staticFitness } from "../../../../src/plane/routing/auto/Fitness.ts"
import { fromRaw } from "../../../../src/net/egress/UpstreamHeaders.ts"
import * as RoutingSettings from "../../../../src/plane/routing/RoutingSettings.ts"
import * as SettingsRepo from "../../../../src/subjects/settings/repo.ts"
import { logTo } from "../../providers/oauth/harness.ts"
import { mocked } from "../../../support/Mocked.ts"

const board = "https://board.example/fitness.json?token=not-for-logs"
const other = "https://other.example/fitness.json"

/** What the far side says: a body, a status, or nothing in time. */
type Said = { readonly status?: number; readonly body: string } | "silence"

const rows = (coding: number): Said => ({ body: JSON.stringify([{ model: "some-model", coding }]) })

/** A world outlives the services that are started in it, as disk and network do. */
const world = (said: Said, patch: RoutingPatch = { leaderboardUrl: board }, flags: Record<string, string> = {}) => {
  const state = { said, settings: mergeRouting(defaultRouting, patch), fetched: [] as Array<string> }
  const table = new Map<string, unknown>()
  const lines: Array<string> = []

  const services = Layer.mergeAll(
    mocked(PublicFetch.PublicFetch, {
      get: (url, limits, wanted) =>
        Effect.suspend(() => {
          state.fetched.push(url)
          assert.deepStrictEqual(limits, { maxBytes: 2 * 1_048_576, timeoutMs: 15_000 })
          if (state.said === "silence") return new TimedOut({ timeoutMs: limits.timeoutMs })
          const head = { status: state.said.status ?? 200, headers: fromRaw([]) }
          return Effect.succeed({ ...head, body: Buffer.from(wanted(head) ? state.said.body : "") })
        })
    }),
    Layer.succeed(
      RoutingSettings.RoutingSettings,
      RoutingSettings.RoutingSettings.of({
        current: () => state.settings,
        patch: (change) => Effect.sync(() => (state.settings = mergeRouting(state.settings, change)))
      })
    ),
    Layer.succeed(SettingsRepo.SettingsRepo, {
      get: (namespace: string, key: string) => Effect.sync(() => table.get(`${namespace} ${key}`) ?? null),
      set: (namespace: string, key: string, value: unknown) =>
        Effect.sync(() => void table.set(`${namespace} ${key}`, JSON.parse(JSON.stringify(value))))
    } as unknown as Context.Tag.Service<SettingsRepo.SettingsRepo>),
    Flags.layer.pipe(Layer.provide([layerMemory(flags), AppConfig.layerOf({ dataDir: "/nowhere" })]))
  )
  const start = Effect.map(
    Layer.build(Layer.fresh(LeaderboardSync.layer.pipe(Layer.provideMerge(services)))),
    (built) => ({
      sync: Context.get(built, LeaderboardSync.LeaderboardSync),
      flags: Context.get(built, Flags.Flags)
    })
  )
  return { state, table, lines, start, logs: logTo((line) => lines.push(line)) }
}

const coding = ({ fitness }: Context.Tag.Service<LeaderboardSync.LeaderboardSync>) =>
  fitness().fitness("some-model", unknownFacts, "coding")
const unknown = staticFitness.fitness("some-model", unknownFacts, "coding")

describe("LeaderboardSync", () => {
  it.scoped("fetches after the start, then every twelve hours or so", () => {
    const { logs, start, state } = world(rows(0.9))
    return Effect.gen(function* () {
      const { sync } = yield* start
      assert.strictEqual(coding(sync), unknown)
      assert.deepStrictEqual(state.fetched, [], "not in the way of the start")
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(state.fetched, [board])
      assert.strictEqual(coding(sync), 0.9)
      assert.lengthOf(sync.overrides(), 1)
      state.said = rows(0.8)
      yield* TestClock.adjust("10 hours")
      assert.lengthOf(state.fetched, 1)
      yield* TestClock.adjust("4 hours")
      assert.lengthOf(state.fetched, 2)
      assert.strictEqual(coding(sync), 0.8)
    }).pipe(Effect.provide(logs))
  })

  for (const [what, said] of [
    ["silence", "silence"],
    ["an error", { status: 503, body: JSON.stringify([]) }],
    ["a page", { body: "<html>" }],
    [
      "one wrong value",
      {
        body: JSON.stringify([
          { model: "some-model", coding: 0.1 },
          { model: "b", review: 2 }
        ])
      }
    ]
  ] as const) {
    it.scoped(`${what} leaves the last good copy in force, also after a restart, and is told`, () => {
      const { lines, logs, start, state } = world(rows(0.9))
      return Effect.gen(function* () {
        const { sync } = yield* start
        yield* TestClock.adjust("2 minutes")
        state.said = said
        yield* TestClock.adjust("14 hours")
        assert.isAbove(state.fetched.length, 1)
        assert.strictEqual(coding(sync), 0.9)
        assert.isTrue(lines.some((line) => line.includes("The leaderboard at https://board.example is not used")))
        assert.notInclude(lines.join("\n"), "not-for-logs")
        const again = yield* start
        assert.strictEqual(coding(again.sync), 0.9)
      }).pipe(Effect.provide(logs))
    })
  }

  it.scoped("tries again within the hour or so after a failure", () => {
    const { logs, start, state } = world("silence")
    return Effect.gen(function* () {
      const { sync } = yield* start
      yield* TestClock.adjust("2 minutes")
      state.said = rows(0.7)
      yield* TestClock.adjust("40 minutes")
      assert.lengthOf(state.fetched, 1)
      yield* TestClock.adjust("40 minutes")
      assert.lengthOf(state.fetched, 2)
      assert.strictEqual(coding(sync), 0.7)
    }).pipe(Effect.provide(logs))
  })

  it.scoped("without an address nothing is fetched, and that is said once", () => {
    const { lines, logs, start, state } = world(rows(0.9), {})
    return Effect.gen(function* () {
      const { sync } = yield* start
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(state.fetched, [])
      assert.lengthOf(lines, 1)
      assert.include(lines[0] ?? "", "leaderboardUrl")
      assert.strictEqual(sync.fitness(), staticFitness)
    }).pipe(Effect.provide(logs))
  })

  it.scoped("a new address is fetched soon, and the old copy counts no more", () => {
    const { logs, start, state } = world(rows(0.9))
    return Effect.gen(function* () {
      const { sync } = yield* start
      yield* TestClock.adjust("2 minutes")
      state.said = rows(0.6)
      state.settings = { ...state.settings, leaderboardUrl: other }
      assert.strictEqual(coding(sync), unknown)
      yield* TestClock.adjust("7 minutes")
      assert.deepStrictEqual(state.fetched, [board, other])
      assert.strictEqual(coding(sync), 0.6)
      state.settings = { ...state.settings, leaderboardUrl: null }
      assert.strictEqual(sync.fitness(), staticFitness)
    }).pipe(Effect.provide(logs))
  })

  it.scoped("the flag stops both the fetching and the use", () => {
    const { logs, start, state } = world(rows(0.9))
    return Effect.gen(function* () {
      const { flags, sync } = yield* start
      yield* TestClock.adjust("2 minutes")
      yield* flags.set("LEADERBOARD_ELO_SYNC_ENABLED", "false")
      assert.strictEqual(sync.fitness(), staticFitness)
      assert.deepStrictEqual(sync.overrides(), [])
      yield* TestClock.adjust("14 hours")
      assert.lengthOf(state.fetched, 1)
      yield* flags.set("LEADERBOARD_ELO_SYNC_ENABLED", "true")
      assert.strictEqual(coding(sync), 0.9)
    }).pipe(Effect.provide(logs))
  })

  it.scoped("without background services the kept copy is used, and none is fetched", () => {
    const { logs, start, state, table } = world(
      rows(0.9),
      { leaderboardUrl: board },
      {
        GATEWAY_DISABLE_BACKGROUND_SERVICES: "true"
      }
    )
    table.set("routing leaderboard", { url: board, rows: [{ model: "some-*", coding: 0.4 }] })
    return Effect.gen(function* () {
      const { sync } = yield* start
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(state.fetched, [])
      assert.strictEqual(coding(sync), 0.4)
    }).pipe(Effect.provide(logs))
  })

  it.scoped("a kept copy that is not valid does not prevent the start", () => {
    const { lines, logs, start, table } = world("silence")
    table.set("routing leaderboard", { url: board, rows: [{ model: "some-*", coding: 4 }] })
    return Effect.gen(function* () {
      const { sync } = yield* start
      assert.strictEqual(sync.fitness(), staticFitness)
      assert.lengthOf(lines, 1)
    }).pipe(Effect.provide(logs))
  })
})
