/** Runs over inner requests that the test answers: concurrency, limits, what a broken process left, and what is kept. */
import { assert, describe, it } from "@effect/vitest"
import * as Events from "../../../src/observe/Events.ts"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import * as ApiKeys from "../../../src/subjects/auth/ApiKeys.ts"
import { type ApiKey, unrestricted } from "../../../src/subjects/keys/entity.ts"
import type { EvalResult, EvalRun } from "../../../src/subjects/evals/entity.ts"
import { onFile, operatorsOwn } from "../../../src/contract/domain/ContentPermission.ts"
import * as EvalRunner from "../../../src/subjects/evals/EvalRunner.ts"
import { KeyLimits } from "../../../src/plane/ledger/KeyLimits.ts"
import { type InnerAnswer, type InnerRequest, InnerRequests } from "../../../src/plane/InnerRequests.ts"
import * as StopSignal from "../../../src/plane/request/StopSignal.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import * as IdGen from "../../../src/platform/IdGen.ts"
import * as EvalScores from "../../../src/plane/routing/stats/EvalScores.ts"
import { EvalRepo } from "../../../src/subjects/evals/repo.ts"
import * as UsageJournal from "../../../src/store/usage/UsageJournal.ts"
import { mocked } from "../../support/Mocked.ts"
import { reposInMemory } from "../store/fixtures.ts"

const answered = (text: string): InnerAnswer => ({
  requestId: "r",
  status: 200,
  body: JSON.stringify({
    id: "x",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: text } }]
  }),
  latencyMs: 10,
  retryAfterMs: null,
  tokens: null,
  error: null
})

const run = (id: string, more: Partial<EvalRun> = {}): EvalRun => ({
  id,
  suiteId: "s",
  suiteName: "S",
  target: { type: "model", id: "up/m" },
  apiKeyId: null,
  caller: null,
  comparedWith: null,
  status: "running",
  reason: null,
  total: 10,
  passed: 0,
  failed: 0,
  costNanoUsd: 0,
  latencyMs: 0,
  startedAtMs: 1,
  finishedAtMs: null,
  ...more
})

const planned = (id: string, cases = 10): EvalRunner.PlannedRun => ({
  run: run(id, { total: cases }),
  cases: Array.from({ length: cases }, (_, n) => ({
    case: {
      id: `case-${n + 1}`,
      name: `${n + 1}`,
      input: { messages: [{ role: "user", content: `${n}` }] },
      expected: { strategy: "exact", value: "yes" },
      tags: []
    },
    grade: (answer) => (answer === "yes" ? null : "no")
  }))
})

const store = Layer.mergeAll(
  UsageJournal.layerMemory,
  ApiKeys.layer.pipe(Layer.provide(IdGen.layer)),
  EvalScores.layer,
  Events.layer,
  StopSignal.layer
).pipe(Layer.provideMerge(reposInMemory), Layer.provide(AppConfig.layerOf({ dataDir: "/nonexistent" })))

const runner = (
  ask: (request: InnerRequest) => Effect.Effect<InnerAnswer>,
  pauseMs: (key: ApiKey) => number = () => 0
) =>
  EvalRunner.layer.pipe(
    Layer.provide(
      Layer.mergeAll(
        Layer.succeed(InnerRequests, InnerRequests.of({ ask, relay: () => {}, hear: () => Effect.void })),
        mocked(KeyLimits, { pauseMs })
      )
    )
  )

const untilOver = (id: string) =>
  Effect.flatMap(EvalRepo, (repo) =>
    repo.run(id).pipe(
      Effect.tap(() => Effect.yieldNow()),
      Effect.repeat({ until: (found) => found?.status !== "running" })
    )
  )

describe("runs", () => {
  it.effect("ask four questions at once at most, of all runs together", () => {
    let now = 0
    let most = 0
    return Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const ask = () =>
        Effect.suspend(() => {
          now += 1
          most = Math.max(most, now)
          return Effect.as(Deferred.await(gate), answered("yes"))
        }).pipe(Effect.ensuring(Effect.sync(() => (now -= 1))))
      yield* Effect.gen(function* () {
        const { start } = yield* EvalRunner.EvalRunner
        assert.isTrue(yield* start([planned("a"), planned("b")]))
        while (now < EvalRunner.maxAsking) yield* Effect.yieldNow()
        yield* Deferred.succeed(gate, undefined)
        for (const id of ["a", "b"]) {
          assert.deepInclude(yield* untilOver(id), { status: "completed", passed: 10, failed: 0, latencyMs: 100 })
        }
        assert.strictEqual(most, EvalRunner.maxAsking)
      }).pipe(Effect.provide(runner(ask)))
    }).pipe(Effect.provide(store))
  })

  it.effect("are eight at once; more are refused and leave nothing", () =>
    Effect.gen(function* () {
      const { cancel, start } = yield* EvalRunner.EvalRunner
      const repo = yield* EvalRepo
      const ids = Array.from({ length: EvalRunner.maxRunning }, (_, n) => `run-${n}`)
      assert.isTrue(yield* start(ids.slice(0, 7).map((id) => planned(id))))
      assert.isFalse(yield* start([planned("x"), planned("y")]))
      assert.isTrue(yield* start([planned("run-7")]))
      assert.isFalse(yield* start([planned("z")]))
      assert.sameMembers(
        (yield* repo.runs(100)).map(({ id }) => id),
        ids
      )
      assert.isTrue(yield* cancel("run-3"))
      assert.isFalse(yield* cancel("run-3"))
      assert.deepInclude(yield* repo.run("run-3"), { status: "cancelled", passed: 0 })
      assert.isTrue(yield* start([planned("z")]))
    }).pipe(Effect.provide(runner(() => Effect.never)), Effect.provide(store))
  )

  it.effect("in the name of a key wait for its turn, and hold no place meanwhile", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys.ApiKeys
      const { key } = yield* keys.create({ ...unrestricted, name: "rated" })
      const startMs = yield* Clock.currentTimeMillis
      let nowMs = startMs
      let last = Number.NEGATIVE_INFINITY
      const asked: Array<number> = []
      const ask = () =>
        Effect.map(Clock.currentTimeMillis, (atMs) => {
          asked.push(atMs - startMs)
          last = atMs
          return answered("yes")
        })
      yield* Effect.gen(function* () {
        const { start } = yield* EvalRunner.EvalRunner
        const { cases, run: rated } = planned("rated", 2)
        yield* start([{ cases, run: { ...rated, apiKeyId: key.id } }])
        yield* start([planned("free", 6)])
        const passed = (ms: number) =>
          Effect.zipRight(
            Effect.sync(() => (nowMs += ms)),
            TestClock.adjust(ms)
          )
        for (let second = 0; second < 61; second += 1) yield* passed(1_000)
        yield* untilOver("rated")
        yield* untilOver("free")
        assert.strictEqual(asked.filter((ms) => ms < 60_000).length, 7)
        assert.strictEqual(asked.filter((ms) => ms >= 60_000).length, 1)
      }).pipe(
        // One request in a minute.
        Effect.provide(runner(ask, (apiKey) => (apiKey.id === key.id ? Math.max(0, last + 60_000 - nowMs) : 0)))
      )
    }).pipe(Effect.provide(store))
  )

  it.effect("that are stored are under way, also when the caller has left meanwhile", () =>
    Effect.gen(function* () {
      const repo = yield* EvalRepo
      const stored = yield* Deferred.make<void>()
      const goOn = yield* Deferred.make<void>()
      const slow = EvalRepo.of({
        ...repo,
        addRuns: (runs) =>
          repo
            .addRuns(runs)
            .pipe(Effect.zipRight(Deferred.succeed(stored, undefined)), Effect.zipRight(Deferred.await(goOn)))
      })
      yield* Effect.gen(function* () {
        const { cancel, start } = yield* EvalRunner.EvalRunner
        const starting = yield* Effect.fork(start([planned("a")]))
        yield* Deferred.await(stored)
        const leaving = yield* Effect.fork(Fiber.interrupt(starting))
        yield* Effect.yieldNow()
        yield* Deferred.succeed(goOn, undefined)
        yield* Fiber.join(leaving)
        assert.isTrue(yield* cancel("a"))
        assert.deepInclude(yield* repo.run("a"), { status: "cancelled" })
      }).pipe(
        Effect.provide(
          Layer.provide(
            runner(() => Effect.never),
            Layer.succeed(EvalRepo, slow)
          )
        )
      )
    }).pipe(Effect.provide(store))
  )

  it.effect("that a process left running are failed at the next start, with what they had", () =>
    Effect.gen(function* () {
      const repo = yield* EvalRepo
      yield* repo.addRuns([run("old")])
      const result: EvalResult = {
        position: 0,
        caseId: "case-1",
        name: "1",
        passed: true,
        answered: true,
        latencyMs: 5,
        output: "yes",
        reason: null,
        requestId: "r",
        provider: "up",
        model: "m",
        costNanoUsd: 0.25
      }
      yield* repo.addResult(
        "old",
        onFile(operatorsOwn, result, (same) => same)
      )
      yield* TestClock.setTime(5_000)
      yield* Effect.scoped(Layer.build(runner(() => Effect.never)))
      const found = yield* repo.run("old")
      assert.deepInclude(found, { status: "failed", passed: 1, costNanoUsd: 0.25, finishedAtMs: 5_000 })
      assert.include(found?.reason, "stopped")
      assert.lengthOf(yield* repo.results("old"), 1)
      assert.deepEqual(yield* repo.scores, [])
    }).pipe(Effect.provide(store))
  )

  it.effect("end with the gateway, as failed", () =>
    Effect.gen(function* () {
      const repo = yield* EvalRepo
      let ended = 0
      const asking = () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => (ended += 1)))
      yield* Effect.gen(function* () {
        const { start } = yield* EvalRunner.EvalRunner
        yield* start([planned("a")])
        yield* Effect.yieldNow()
        yield* TestClock.adjust("1 second")
      }).pipe(Effect.provide(runner(asking)))
      assert.strictEqual(ended, EvalRunner.maxAsking)
      assert.deepInclude(yield* repo.run("a"), { status: "failed" })
    }).pipe(Effect.provide(store))
  )

  it.effect("are kept 90 days, 200 of them at most, with their cases", () =>
    Effect.gen(function* () {
      const repo = yield* EvalRepo
      const { start } = yield* EvalRunner.EvalRunner
      const nowMs = yield* Clock.currentTimeMillis
      const over = { status: "completed", finishedAtMs: 2 } as const
      yield* repo.addRuns([
        run("ancient", { ...over, startedAtMs: nowMs - EvalRunner.keptMs - 1 }),
        run("young", { ...over, startedAtMs: nowMs - EvalRunner.keptMs + 1 })
      ])
      const first = planned("first", 2)
      yield* start([{ ...first, run: { ...first.run, startedAtMs: nowMs } }])
      yield* untilOver("first")
      yield* Effect.repeat(repo.run("ancient"), { until: (found) => found === null })
      assert.isNotNull(yield* repo.run("young"))
      assert.lengthOf(yield* repo.results("first"), 2)
      yield* repo.addRuns(
        Array.from({ length: EvalRunner.mostKept }, (_, n) => run(`n${n}`, { ...over, startedAtMs: nowMs + 1 }))
      )
      const last = planned("last", 1)
      yield* start([{ ...last, run: { ...last.run, startedAtMs: nowMs + 2 } }])
      yield* untilOver("last")
      yield* Effect.repeat(repo.runs(1_000), { until: (all) => all.length === EvalRunner.mostKept })
      assert.isNull(yield* repo.run("young"))
      assert.isNull(yield* repo.run("first"))
      assert.deepEqual(yield* repo.results("first"), [])
    }).pipe(Effect.provide(runner(() => Effect.succeed(answered("yes")))), Effect.provide(store))
  )

  it.effect("that break off by an answer they cannot read count it as failed", () =>
    Effect.gen(function* () {
      const repo = yield* EvalRepo
      const { start } = yield* EvalRunner.EvalRunner
      yield* start([planned("a", 2)])
      assert.deepInclude(yield* untilOver("a"), { status: "failed", failed: 2 })
      assert.include((yield* repo.results("a"))[0]?.reason, "cannot be read")
    }).pipe(Effect.provide(runner(() => Effect.succeed({ ...answered(""), body: "<html>" }))), Effect.provide(store))
  )
})
