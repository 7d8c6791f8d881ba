import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { healthy } from "../../../src/subjects/connections/entity.ts"
import type { CooldownFailure, Penalty } from "../../../src/plane/resilience/cooldown/Cooldown.ts"
import * as Cooldowns from "../../../src/plane/resilience/cooldown/Cooldowns.ts"
import { maxModels } from "../../../src/plane/resilience/cooldown/ModelCooldowns.ts"
import { StoreError } from "../../../src/store/Errors.ts"
import { ConnectionRepo } from "../../../src/subjects/connections/repo.ts"
import { EnvHealthRepo } from "../../../src/subjects/system/repo.ts"
import { bareConnection, reposInMemory } from "../store/fixtures.ts"
import { started } from "./support.ts"

const running = started(Cooldowns.Cooldowns, Cooldowns.layer)
const oauth = { baseCooldownMs: 5_000, maxBackoffSteps: 8 }
const apikey = { baseCooldownMs: 3_000, maxBackoffSteps: 5 }
const day = 86_400_000

const because = (penalty: Penalty, startedMs: number, type = "transient"): CooldownFailure => ({
  penalty,
  startedMs,
  message: `${type} at ${startedMs}`,
  type,
  code: "503"
})
const backoff: Penalty = { _tag: "Backoff" }
const forMs = (ms: number): Penalty => ({ _tag: "For", ms })
const ended = (status: "banned" | "expired" | "credits_exhausted"): Penalty => ({ _tag: "Terminal", status })

describe("Cooldowns", () => {
  it.scoped("a doubt is shown and lasts like a cooldown, but leaves the connection in; a restart forgets it", () =>
    Effect.gen(function* () {
      const doubt: Penalty = { _tag: "Doubt", ms: null }
      const cooldowns = yield* running
      cooldowns.fail("c", apikey, 1_010, because(doubt, 1_000, "rate_limit"))
      cooldowns.fail("c", apikey, 1_020, because(doubt, 1_000, "rate_limit"))
      assert.deepStrictEqual([cooldowns.waitMs("c", 1_010), cooldowns.doubtMs("c", 1_010)], [0, 3_000])
      assert.deepInclude(cooldowns.healthOf("c"), {
        testStatus: "unavailable",
        rateLimitedUntilMs: 4_010,
        lastErrorType: "rate_limit",
        backoffLevel: 1
      })
      // The next one that is asked for want of others shows what it is.
      cooldowns.fail("c", apikey, 2_010, because(backoff, 2_000))
      assert.deepStrictEqual([cooldowns.waitMs("c", 2_010), cooldowns.doubtMs("c", 2_010)], [6_000, 2_000])
      assert.isTrue(cooldowns.succeed("c", 9_000))
      assert.deepStrictEqual([cooldowns.waitMs("c", 2_010), cooldowns.doubtMs("c", 2_010)], [0, 0])
      cooldowns.fail("c", apikey, 10_010, because({ _tag: "Doubt", ms: day }, 10_000))
      yield* cooldowns.flush
      const later = yield* running
      assert.deepStrictEqual([later.waitMs("c", 10_010), later.doubtMs("c", 10_010)], [0, 0])
    }).pipe(Effect.provide(reposInMemory))
  )

  for (const [name, profile, lengths] of [
    ["oauth", oauth, [5, 10, 20, 40, 80, 160, 320, 640, 1280, 1280]],
    ["apikey", apikey, [3, 6, 12, 24, 48, 96, 96]]
  ] as const) {
    it.scoped(`${name}: each new failure doubles the cooldown, up to the cap`, () =>
      Effect.gen(function* () {
        const cooldowns = yield* running
        let nowMs = 1_000
        for (const [index, seconds] of lengths.entries()) {
          cooldowns.fail("c", profile, nowMs + 10, because(backoff, nowMs))
          assert.strictEqual(cooldowns.waitMs("c", nowMs + 10), seconds * 1_000)
          assert.deepInclude(cooldowns.healthOf("c"), { testStatus: "unavailable", backoffLevel: index + 1 })
          nowMs += 10 + seconds * 1_000
          assert.strictEqual(cooldowns.waitMs("c", nowMs), 0)
        }
        assert.isTrue(cooldowns.succeed("c", nowMs))
        assert.deepStrictEqual(cooldowns.healthOf("c"), { ...healthy, testStatus: "active" })
        assert.isFalse(cooldowns.succeed("c", nowMs))
      }).pipe(Effect.provide(reposInMemory))
    )
  }

  it.scoped(
    "10,000 concurrent failures raise the level once, also those that end after the cooldown or after a success",
    () =>
      Effect.gen(function* () {
        const cooldowns = yield* running
        for (let n = 0; n < 9_998; n++) cooldowns.fail("c", apikey, 1_000 + (n % 500), because(backoff, 900))
        assert.deepInclude(cooldowns.healthOf("c"), { backoffLevel: 1, rateLimitedUntilMs: 4_000 })
        cooldowns.fail("c", apikey, 60_000, because(backoff, 900))
        assert.deepInclude(cooldowns.healthOf("c"), { backoffLevel: 1, rateLimitedUntilMs: 4_000 })
        cooldowns.succeed("c", 50_000)
        cooldowns.fail("c", apikey, 70_000, because(backoff, 900))
        assert.deepStrictEqual(cooldowns.healthOf("c"), { ...healthy, testStatus: "active" })
      }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("a longer cooldown takes over with its reason; a shorter one changes nothing", () =>
    Effect.gen(function* () {
      const cooldowns = yield* running
      cooldowns.fail("c", apikey, 1_000, because(backoff, 0))
      cooldowns.fail("c", apikey, 1_100, because(forMs(day), 0, "quota_exhausted"))
      const long = { lastErrorType: "quota_exhausted", rateLimitedUntilMs: 1_100 + day, backoffLevel: 1 }
      assert.deepInclude(cooldowns.healthOf("c"), long)
      cooldowns.fail("c", apikey, 1_200, because(forMs(10), 0))
      cooldowns.fail("c", apikey, 1_200, because(backoff, 0))
      assert.deepInclude(cooldowns.healthOf("c"), long)
      // An answer to a call from before says nothing against it.
      assert.isFalse(cooldowns.succeed("c", 1_050))
      assert.deepInclude(cooldowns.healthOf("c"), long)
      assert.isTrue(cooldowns.succeed("c", 1_100))
    }).pipe(Effect.provide(reposInMemory))
  )

  for (const status of ["banned", "expired", "credits_exhausted"] as const) {
    it.scoped(`${status} ends only by an operator's word`, () =>
      Effect.gen(function* () {
        const cooldowns = yield* running
        yield* TestClock.setTime(5_000)
        cooldowns.fail("c", apikey, 1_000, because(backoff, 0))
        cooldowns.fail("c", apikey, 1_001, because(ended(status), 0))
        assert.isNull(cooldowns.waitMs("c", day))
        for (const penalty of [backoff, forMs(day), ended("banned")]) {
          cooldowns.fail("c", apikey, 2_000, because(penalty, 1_500))
        }
        assert.isFalse(cooldowns.succeed("c", 3_000))
        assert.deepInclude(cooldowns.healthOf("c"), { testStatus: status, rateLimitedUntilMs: null })
        yield* cooldowns.reset("c")
        assert.deepStrictEqual(cooldowns.healthOf("c"), healthy)
        // A call with the credentials of before fails late.
        cooldowns.fail("c", apikey, 6_000, because(ended(status), 4_999))
        assert.deepStrictEqual(cooldowns.healthOf("c"), healthy)
        cooldowns.fail("c", apikey, 6_000, because(ended(status), 5_000))
        assert.strictEqual(cooldowns.healthOf("c").testStatus, status)
      }).pipe(Effect.provide(reposInMemory))
    )
  }

  it.effect("a restart keeps terminal states and long cooldowns of stored and of environment connections", () =>
    Effect.gen(function* () {
      const repo = yield* ConnectionRepo
      yield* repo.insert({ ...bareConnection, id: "stored-dead" })
      yield* repo.insert({ ...bareConnection, id: "stored-cooling" })
      const ids = ["stored-dead", "stored-cooling", "env:dead", "env:cooling"]
      const before = yield* Effect.scoped(
        Effect.gen(function* () {
          const cooldowns = yield* running
          for (const id of ids) {
            cooldowns.fail(id, apikey, 1_000, because(id.endsWith("dead") ? ended("credits_exhausted") : forMs(day), 0))
          }
          yield* cooldowns.flush
          return ids.map(cooldowns.healthOf)
        })
      )
      yield* Effect.scoped(
        Effect.gen(function* () {
          const cooldowns = yield* running
          assert.deepStrictEqual(ids.map(cooldowns.healthOf), before)
          assert.deepStrictEqual(
            ids.map((id) => cooldowns.waitMs(id, 11_000)),
            [null, day - 10_000, null, day - 10_000]
          )
          cooldowns.fail("stored-cooling", apikey, 11_000, because(backoff, 10_000))
          assert.strictEqual(cooldowns.waitMs("stored-cooling", 11_000), day - 10_000)
          assert.isTrue(cooldowns.succeed("env:cooling", day * 2))
        })
      )
      const environment = yield* EnvHealthRepo
      assert.deepStrictEqual([...(yield* environment.list).keys()], ["env:cooling", "env:dead"])
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("an environment connection starts anew with another credential, and only then", () =>
    Effect.gen(function* () {
      const statusWith = (fingerprint: string) =>
        Effect.scoped(
          Effect.map(running, (cooldowns) => {
            cooldowns.credentialIs("env:openai", fingerprint)
            return cooldowns.healthOf("env:openai").testStatus
          })
        )
      yield* Effect.scoped(
        Effect.map(running, (cooldowns) => {
          cooldowns.credentialIs("env:openai", "one")
          cooldowns.fail("env:openai", apikey, 1_000, because(ended("expired"), 0))
        })
      )
      assert.strictEqual(yield* statusWith("one"), "expired")
      assert.strictEqual(yield* statusWith("two"), "unknown")
      assert.strictEqual(yield* statusWith("one"), "unknown")
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("calls that outlive their connection leave nothing behind", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const cooldowns = yield* running
          cooldowns.fail("c", apikey, 1_000, because(backoff, 0))
          cooldowns.forget("c")
          cooldowns.fail("c", apikey, 1_100, because(ended("banned"), 0))
          cooldowns.succeed("c", 2_000)
          yield* cooldowns.reset("c")
          assert.deepStrictEqual(cooldowns.healthOf("c"), healthy)
        })
      )
      const environment = yield* EnvHealthRepo
      assert.strictEqual((yield* environment.list).size, 0)
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("works on when the store does not, and stores what it missed", () =>
    Effect.gen(function* () {
      const control = { fails: true }
      const real = yield* EnvHealthRepo
      const flaky = EnvHealthRepo.of({
        list: real.list,
        save: (id, health) =>
          Effect.suspend(() =>
            control.fails ? Effect.fail(new StoreError({ operation: "test", cause: "locked" })) : real.save(id, health)
          )
      })
      const cooldowns = yield* Effect.provideService(running, EnvHealthRepo, flaky)
      cooldowns.fail("env:x", apikey, 0, because(ended("banned"), 0))
      yield* cooldowns.flush
      assert.strictEqual((yield* real.list).size, 0)
      assert.isNull(cooldowns.waitMs("env:x", 0))
      control.fails = false
      yield* TestClock.adjust("20 seconds")
      yield* cooldowns.flush
      assert.strictEqual((yield* real.list).get("env:x")?.testStatus, "banned")
    }).pipe(Effect.provide(reposInMemory))
  )
})

describe("models that rest", () => {
  const because503 = { startedMs: 0, message: "busy", type: "transient", code: "503" }

  it.scoped("rest each by itself, and outlive a restart with the time that is left", () =>
    Effect.gen(function* () {
      const first = yield* running
      first.failModel("c1", "m", apikey, 1_000, because503)
      first.failModel("c1", "n", apikey, 2_000, { ...because503, startedMs: 1_500 })
      first.failModel("c1", "n", apikey, 6_000, { ...because503, startedMs: 5_500 })
      assert.deepStrictEqual(
        ["m", "n", "o"].map((model) => first.modelWaitMs("c1", model, 6_000)),
        [0, 6_000, 0]
      )
      assert.strictEqual(first.waitMs("c1", 6_000), 0)
      const shown = {
        testStatus: "unavailable",
        rateLimitedUntilMs: 12_000,
        backoffLevel: 2,
        lastError: "busy"
      } as const
      assert.deepInclude(first.healthOf("c1"), shown)
      yield* first.flush
      const later = yield* running
      assert.deepInclude(later.healthOf("c1"), shown)
      assert.deepStrictEqual([later.waitMs("c1", 6_000), later.modelWaitMs("c1", "n", 6_000)], [0, 6_000])
      // A good answer of one shows the connection well; the other rests on.
      assert.isTrue(later.succeed("c1", 7_000, "m"))
      assert.deepInclude(later.healthOf("c1"), { testStatus: "active", rateLimitedUntilMs: null })
      assert.deepStrictEqual([later.modelWaitMs("c1", "m", 7_000), later.modelWaitMs("c1", "n", 7_000)], [0, 5_000])
      assert.isTrue(later.onlyOthersFailed("c1", "m"))
      yield* later.reset("c1")
      assert.strictEqual(later.modelWaitMs("c1", "n", 7_000), 0)
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped(
    "rest anew when they fail again while they rest; calls that ran beside the first failure are the same trouble",
    () =>
      Effect.gen(function* () {
        const cooldowns = yield* running
        cooldowns.failModel("c1", "m", apikey, 1_000, because503)
        cooldowns.failModel("c1", "m", apikey, 1_200, { ...because503, startedMs: 900 })
        assert.strictEqual(cooldowns.modelWaitMs("c1", "m", 1_200), 2_800)
        cooldowns.failModel("c1", "m", apikey, 2_000, { ...because503, startedMs: 1_500 })
        assert.strictEqual(cooldowns.modelWaitMs("c1", "m", 2_000), 6_000)
        assert.strictEqual(cooldowns.healthOf("c1").backoffLevel, 2)
      }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("are bounded: callers choose the names", () =>
    Effect.gen(function* () {
      const cooldowns = yield* running
      for (let n = 0; n < maxModels + 1; n++) cooldowns.failModel("c1", `m${n}`, apikey, 1_000, because503)
      assert.deepStrictEqual(
        [cooldowns.modelWaitMs("c1", "m0", 1_000), cooldowns.modelWaitMs("c1", "m1", 1_000)],
        [0, 3_000]
      )
    }).pipe(Effect.provide(reposInMemory))
  )
})

describe("a clock that is set back two hours", () => {
  const now = 10_000_000
  const back = now - 2 * 3_600_000

  it.scoped("excludes no connection for longer than the cooldown was to last, and the wait goes on", () =>
    Effect.gen(function* () {
      const cooldowns = yield* running
      const failure = (penalty: Penalty) => because(penalty, now - 100)
      cooldowns.fail("firm", apikey, now, failure(forMs(30_000)))
      cooldowns.fail("doubted", apikey, now, failure({ _tag: "Doubt", ms: 20_000 }))
      cooldowns.failModel("resting", "m", apikey, now, failure(backoff))
      const waits = (atMs: number): ReadonlyArray<number | null> => [
        cooldowns.waitMs("firm", atMs),
        cooldowns.doubtMs("doubted", atMs),
        cooldowns.modelWaitMs("resting", "m", atMs)
      ]
      assert.deepStrictEqual(waits(now), [30_000, 20_000, 3_000])
      assert.deepStrictEqual(waits(back), [30_000, 20_000, 3_000])
      assert.deepStrictEqual(waits(back + 2_000), [28_000, 18_000, 1_000])
      assert.deepStrictEqual(waits(back + 30_000), [0, 0, 0])
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("also over a restart", () =>
    Effect.gen(function* () {
      const first = yield* running
      first.fail("c1", apikey, now, because(forMs(30_000), now - 100))
      yield* first.flush
      const later = yield* running
      assert.strictEqual(later.waitMs("c1", back), 30_000)
      assert.strictEqual(later.waitMs("c1", back + 10_000), 20_000)
    }).pipe(Effect.provide(reposInMemory))
  )
})
