/** The strategy over a mocked attempt loop: who is asked what, when, and what is made of the ends. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { byStrategy, reasonText } from "../../../../../src/plane/routing/candidate/Reason.ts"
import { decodeStored } from "../../../../../src/subjects/combos/entity/ComboPolicy.ts"
import type { AttemptRecord } from "../../../../../src/subjects/routing/entity.ts"
import { ModelNotFound } from "../../../../../src/contract/domain/Errors.ts"
import { noReport } from "../../../../../src/plane/request/AnswerReport.ts"
import { Trail } from "../../../../../src/plane/request/Trail.ts"
import type { FailoverEnd } from "../../../../../src/plane/failover/FailoverEnd.ts"
import type { ClientReply, Work } from "../../../../../src/plane/request/Exchange.ts"
import * as Fusion from "../../../../../src/plane/features/fusion/Fusion.ts"
import { type InnerWork } from "../../../../../src/plane/features/fusion/InnerWork.ts"
import { makeInnerReply } from "../../../../../src/plane/request/InnerReply.ts"
import { defaultResilience as defaults } from "../../../../../src/subjects/resilience/entity.ts"
import { unknownFacts } from "../../../../../src/plane/providers/ModelFacts.ts"
import type { Target } from "../../../../../src/plane/routing/resolve/ModelResolver.ts"
import type { Unready } from "../../../../../src/plane/routing/health/TargetHealth.ts"
import { codecs } from "../../../../../src/wire/Codec.ts"
import { namedTarget } from "../../../../support/Candidates.ts"
import * as Catalog from "../../../../../src/plane/providers/Catalog.ts"
import * as Settings from "../../../../../src/plane/resilience/Settings.ts"
import * as Resolutions from "../../../../../src/plane/routing/resolve/Resolutions.ts"
import { Failover } from "../../../../../src/plane/failover/Failover.ts"
import { mocked } from "../../../../support/Mocked.ts"
import * as TestTimers from "../../../../support/TestTimers.ts"
import { chatCompletion } from "../../../../support/FakeUpstream.ts"

const [a, b, c, judge] = [namedTarget("a"), namedTarget("b"), namedTarget("c"), namedTarget("judge")]

const resting = (status: number): Unready => ({
  rule: "cooldown",
  untilMs: null,
  terminal: null,
  kind: null,
  detail: "resting",
  status,
  code: "rate_limit_exceeded"
})

const answers = (of: Target, text: string): FailoverEnd => ({
  _tag: "Answered",
  target: of,
  result: {
    _tag: "Completed",
    form: "whole",
    body: JSON.stringify(chatCompletion({ text })),
    report: { ...noReport, usage: { in: 10, out: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 } },
    firstContentMs: 1,
    dropped: []
  }
})

const left = (of: Target): FailoverEnd => ({
  _tag: "Answered",
  target: of,
  result: { _tag: "Aborted", report: noReport, firstContentMs: null }
})

/** A client's request to a combo of `a`, `b` and `c`. */
const work = (config: Record<string, unknown>, reply: ClientReply = makeInnerReply()): Work => {
  const parsed = { model: "fused", messages: [{ role: "user", content: "Hi" }] }
  const targets = [a, b, c]
  return {
    exchange: {
      principal: { _tag: "Anonymous" },
      requestId: "r",
      receivedMs: 0,
      startedMs: 0,
      wire: "chat",
      codec: codecs.chat,
      reply
    } as Work["exchange"],
    owner: "",
    asked: parsed,
    parsed,
    body: Buffer.from(JSON.stringify(parsed)),
    conversation: () => codecs.chat.decodeRequest(parsed),
    envelope: Either.getOrThrow(codecs.chat.checkEnvelope(parsed)),
    outputCap: null,
    resolution: {
      combo: { strategy: "fusion", targets: [], config },
      policy: decodeStored(config),
      strategy: "fusion",
      targets,
      steps: [0, 1, 2]
    } as unknown as Work["resolution"],
    decision: {
      strategy: "fusion",
      seed: 1,
      order: targets,
      reason: byStrategy("panel")
    } as unknown as Work["decision"],
    trail: new Trail()
  } as unknown as Work
}

const attempt = (of: Target, outcome: AttemptRecord["outcome"], reason: string): AttemptRecord => ({
  provider: of.account.spec.id,
  connectionId: of.account.connection.id,
  model: of.model,
  status: null,
  outcome,
  reason,
  startedMs: 0,
  latencyMs: 1
})

type Loop = typeof Failover.Service.run

/** Members answer after their time, or when they are sent away; whatever has sources in it is the judge's. */
const loopOf =
  (
    members: Record<string, readonly [ms: number, end: FailoverEnd]>,
    judged: (work: Work) => FailoverEnd,
    asked: Array<Work>
  ): Loop =>
  (inner) =>
    Effect.suspend(() => {
      asked.push(inner)
      const [first] = inner.decision.order
      if (first === undefined || inner.body.toString().includes("Source 1:")) return Effect.succeed(judged(inner))
      const [ms, end] = members[first.account.spec.id] ?? assert.fail("nobody like that")
      const away = Effect.async<FailoverEnd>((resume) => {
        const noLongerListen = inner.exchange.reply.onClose(() => {
          inner.trail.called(attempt(first, "aborted", "client_left"))
          resume(Effect.succeed(left(first)))
        })
        return Effect.sync(noLongerListen)
      })
      return Effect.raceFirst(Effect.as(Effect.sleep(ms), end), away)
    })

const fuse =
  (loop: Loop, totalMs = 600_000, contextLength: number | null = null) =>
  (asked: Work) =>
    Effect.flatMap(Fusion.Fusion, ({ around }) => around(() => assert.fail("it is for fusion"))(asked)).pipe(
      Effect.provide(
        Fusion.layer.pipe(
          Layer.provide(
            Layer.mergeAll(
              mocked(Failover, { run: loop }),
              mocked(Catalog.Catalog, { factsOf: () => ({ ...unknownFacts, contextLength }) }),
              mocked(Resolutions.Resolutions, {
                resolve: (model) =>
                  model === "judge/m"
                    ? { combo: null, strategy: "priority", targets: [judge] }
                    : new ModelNotFound({ model, reason: "unknown", suggestions: [] })
              }),
              mocked(Settings.Settings, {
                current: () => ({ ...defaults, timeouts: { ...defaults.timeouts, totalMs } })
              }),
              TestTimers.layer
            )
          )
        )
      )
    )

const nobody = (): FailoverEnd => assert.fail("no judge was needed")
const orderOf = ({ decision }: Work): ReadonlyArray<string> => decision.order.map(({ account }) => account.spec.id)

describe("fusion", () => {
  it.effect("asks the named judge first, then the survivors, and bills the panel", () =>
    Effect.gen(function* () {
      const asked: Array<Work> = []
      const members = { a: [5, answers(a, "A")], b: [1, answers(b, "B")], c: [20_000, answers(c, "C")] } as const
      const loop = loopOf(members, () => answers(judge, "joined"), asked)
      const request = work({ judgeModel: "judge/m" })
      const fiber = yield* Effect.fork(fuse(loop)(request))
      yield* TestClock.adjust(8_005)
      const fused = yield* Fiber.join(fiber)
      assert.deepStrictEqual(asked.map(orderOf), [["a"], ["b"], ["c"], ["judge", "a", "b"]])
      assert.strictEqual(fused.end._tag, "Answered")
      assert.deepStrictEqual(
        fused.others.map((other) => [other.target.account.spec.id, other.report?.usage?.in ?? null]),
        [
          ["a", 10],
          ["b", 10],
          ["c", null]
        ]
      )
      assert.deepStrictEqual(
        request.trail.attempts.map(({ provider, reason }) => [provider, reason]),
        [["c", "straggler"]]
      )
      assert.strictEqual(fused.work.decision.order, request.decision.order)
      // A later turn goes on from the client's own words.
      assert.strictEqual((asked.at(-1) as InnerWork | undefined)?.remembered, request.parsed)
    })
  )

  for (const [name, config, order] of [
    ["the first of the panel when none is named", {}, ["b", "c"]],
    ["a survivor when the named one does not exist", { judgeModel: "gone/m" }, ["b", "c"]]
  ] as const) {
    it.effect(`is judged by ${name}; one that gave no answer is not asked again`, () =>
      Effect.gen(function* () {
        const asked: Array<Work> = []
        const silent: FailoverEnd = { _tag: "Unavailable", unready: resting(429), retryAfterMs: 5 }
        const members = { a: [0, silent], b: [0, answers(b, "B")], c: [0, answers(c, "C")] } as const
        const loop = loopOf(members, () => answers(b, "joined"), asked)
        const fiber = yield* Effect.fork(fuse(loop)(work(config)))
        yield* TestClock.adjust(1)
        yield* Fiber.join(fiber)
        const last = asked.at(-1)
        assert.deepStrictEqual(last === undefined ? [] : orderOf(last), order)
      })
    )
  }

  it.effect("reports a judge of the combo that does not exist", () =>
    Effect.gen(function* () {
      const members = { a: [0, answers(a, "A")], b: [0, answers(b, "B")], c: [0, answers(c, "C")] } as const
      const fiber = yield* Effect.fork(
        fuse(loopOf(members, () => answers(a, "joined"), []))(work({ judgeModel: "gone/m" }))
      )
      yield* TestClock.adjust(1)
      const { work: ended } = yield* Fiber.join(fiber)
      assert.strictEqual(reasonText(ended.decision.reason), "judged 3 of 3 answers, the judge named is unknown")
    })
  )

  it.effect("shows the judge no more than its window has room for, and says what is cut", () =>
    Effect.gen(function* () {
      const asked: Array<Work> = []
      const long = "x".repeat(50_000)
      const members = { a: [0, answers(a, "short")], b: [0, answers(b, long)], c: [0, answers(c, long)] } as const
      const loop = loopOf(members, () => answers(a, "joined"), asked)
      const fiber = yield* Effect.fork(fuse(loop, 600_000, 10_000)(work({})))
      yield* TestClock.adjust(1)
      yield* Fiber.join(fiber)
      const told = asked.at(-1)?.body.toString() ?? ""
      assert.isBelow(told.length, 30_000)
      assert.isAbove(told.length, 20_000)
      assert.include(told, "Source 1:\\nshort\\n")
      assert.strictEqual(told.split("This source is longer").length, 3)
    })
  )

  it.effect("does not take an empty answer for one", () =>
    Effect.gen(function* () {
      const members = { a: [0, answers(a, " \n")], b: [0, answers(b, "B")], c: [0, answers(c, "")] } as const
      const fiber = yield* Effect.fork(fuse(loopOf(members, nobody, []))(work({})))
      yield* TestClock.adjust(1)
      const { end, others } = yield* Fiber.join(fiber)
      assert.deepInclude(end, { _tag: "Answered", target: b })
      assert.lengthOf(others, 2)
    })
  )

  it.effect("is a 503 with the earliest recovery when all are cooling down", () =>
    Effect.gen(function* () {
      const rests = (retryAfterMs: number | null): readonly [number, FailoverEnd] => [
        0,
        { _tag: "Unavailable", unready: resting(429), retryAfterMs }
      ]
      const members = { a: rests(9_000), b: rests(null), c: rests(4_000) }
      const fiber = yield* Effect.fork(fuse(loopOf(members, nobody, []))(work({})))
      yield* TestClock.adjust(1)
      const { end } = yield* Fiber.join(fiber)
      assert.strictEqual(end._tag === "Unavailable" ? end.unready.status : 0, 503)
      assert.strictEqual(end._tag === "Unavailable" ? end.unready.code : "", "service_unavailable")
      assert.strictEqual(end._tag === "Unavailable" ? end.retryAfterMs : 0, 4_000)
    })
  )

  it.effect("leaves the judge a part of the request's time", () =>
    Effect.gen(function* () {
      const late = [1_000_000, left(a)] as const
      const fiber = yield* Effect.fork(fuse(loopOf({ a: late, b: late, c: late }, nobody, []), 10_000)(work({})))
      yield* TestClock.adjust(7_499)
      assert.strictEqual((yield* Fiber.poll(fiber))._tag, "None")
      yield* TestClock.adjust(1)
      const { end } = yield* Fiber.join(fiber)
      assert.strictEqual(end._tag === "Failed" ? end.failure.reason : "", "panel_unanswered")
    })
  )

  it.effect("ends at once when the client leaves, with what was asked on the bill", () =>
    Effect.gen(function* () {
      const reply = makeInnerReply()
      const late = [1_000_000, left(a)] as const
      const members = { a: [0, answers(a, "A")], b: late, c: late } as const
      const request = work({}, reply)
      const fiber = yield* Effect.fork(fuse(loopOf(members, nobody, []))(request))
      yield* TestClock.adjust(10)
      reply.leave()
      const { end, others } = yield* Fiber.join(fiber)
      assert.deepInclude(end, { _tag: "Answered", target: a })
      assert.strictEqual(end._tag === "Answered" ? end.result._tag : "", "Aborted")
      assert.lengthOf(others, 3)
      assert.isTrue(request.trail.attempts.every(({ reason }) => reason === "client_left"))
    })
  )
})
