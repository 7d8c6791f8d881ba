/** Timing, concurrency and shutdown, which no socket test can wait for. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { noPolicy } from "../../../../../src/subjects/combos/entity/ComboPolicy.ts"
import { noTokens, type UsageRow } from "../../../../../src/contract/domain/Usage.ts"
import type { FailoverEnd, RequestEnd } from "../../../../../src/plane/failover/FailoverEnd.ts"
import type { Work } from "../../../../../src/plane/request/Exchange.ts"
import * as Handoff from "../../../../../src/plane/features/handoff/Handoff.ts"
import type { AttemptRecord } from "../../../../../src/subjects/routing/entity.ts"
import { Failover } from "../../../../../src/plane/failover/Failover.ts"
import type { Answered } from "../../../../../src/plane/features/Feature.ts"
import * as SummaryAccount from "../../../../../src/plane/features/handoff/SummaryAccount.ts"
import { Acknowledgement } from "../../../../../src/plane/settle/Acknowledgement.ts"
import type { Bill } from "../../../../../src/plane/settle/Bill.ts"
import * as Settlement from "../../../../../src/plane/settle/Settlement.ts"
import * as IdGen from "../../../../../src/platform/IdGen.ts"
import * as Timers from "../../../../../src/platform/Timers.ts"
import * as Catalog from "../../../../../src/plane/providers/Catalog.ts"
import * as Engine from "../../../../../src/plane/routing/decide/Engine.ts"
import * as QuotaWindows from "../../../../../src/plane/routing/quota/QuotaWindows.ts"
import * as DecisionLog from "../../../../../src/plane/routing/records/DecisionLog.ts"
import { Admission } from "../../../../../src/plane/request/Admission.ts"
import { KeyLimits } from "../../../../../src/plane/ledger/KeyLimits.ts"
import * as Resolutions from "../../../../../src/plane/routing/resolve/Resolutions.ts"
import * as PriceBook from "../../../../../src/observe/usage/PriceBook.ts"
import * as Telemetry from "../../../../../src/observe/usage/Telemetry.ts"
import { mocked } from "../../../../support/Mocked.ts"
import * as TestTimers from "../../../../support/TestTimers.ts"
import type { Target } from "../../../../../src/plane/routing/resolve/ModelResolver.ts"
import { chat } from "../../../../../src/wire/chat/Codec.ts"
import { embeddings } from "../../../../../src/wire/media/embeddings/Codec.ts"

const target = {
  account: { spec: { id: "a" }, connection: { id: "c", maxConcurrent: null } },
  model: "m",
  suppressReasoning: false
} as unknown as Target

const answered = {
  _tag: "Answered",
  target,
  result: { _tag: "Completed", form: "whole", body: "{}", report: null, firstContentMs: null, dropped: [] }
} as unknown as FailoverEnd

const emptyBill: Bill = {
  tokens: noTokens,
  source: "estimated",
  told: null,
  costNotes: null,
  costNanoUsd: 0,
  priced: true,
  price: null,
  items: [],
  latencyMs: 0
}

const workOf = (sessionKey: string | null, more: { strategy?: string; codec?: unknown } = {}): Work =>
  ({
    exchange: { codec: more.codec ?? chat, requestId: `r-${sessionKey}`, principal: { _tag: "Anonymous" } },
    owner: "",
    body: Buffer.from("{}"),
    conversation: () => Either.right({ messages: [{ role: "user", parts: [{ type: "text", text: "Hi" }] }] }),
    resolution: { combo: { name: "relay" }, policy: noPolicy },
    decision: { strategy: more.strategy ?? "context-relay" },
    question: { sessionKey },
    outputCap: null,
    sessionId: null
  }) as unknown as Work

/** Every call is under way until it is interrupted. */
const setUp = (remaining = 0.1) =>
  Effect.gen(function* () {
    const rows: Array<UsageRow> = []
    const asked: Array<Work> = []
    const engine = mocked(Engine.Engine, {
      decide: ({ resolution }) => ({ strategy: "priority", order: resolution.targets }),
      commit: () => {},
      shares: { count: () => {} }
    })
    const quotas = mocked(QuotaWindows.QuotaWindows, {
      of: () => [{ window: "5h", remaining, resetAtMs: null }],
      count: () => {}
    })
    const timers = Layer.succeed(Timers.Timers, { ...(yield* TestTimers.make), soon: (run) => run() })
    const failover = mocked(Failover, {
      run: (work) =>
        Effect.suspend(() => {
          asked.push(work)
          return Effect.onInterrupt(Effect.never, () =>
            Effect.sync(() => work.trail.called({ connectionId: "c", model: "m" } as AttemptRecord))
          )
        })
    })
    const settlement = Settlement.layer.pipe(
      Layer.provide(
        Layer.mergeAll(
          mocked(Acknowledgement, {
            acknowledge: (row, answer) => {
              rows.push(row)
              answer()
            }
          }),
          mocked(Catalog.Catalog, {}),
          mocked(DecisionLog.DecisionLog, { record: () => {} }),
          mocked(KeyLimits, {}),
          mocked(PriceBook.PriceBook, { price: () => null }),
          mocked(Telemetry.Telemetry, { observe: () => {} })
        )
      )
    )
    const built = yield* Layer.build(
      Handoff.layer.pipe(
        Layer.provide(SummaryAccount.layer.pipe(Layer.provide(settlement))),
        Layer.provide(
          Layer.mergeAll(
            engine,
            quotas,
            timers,
            failover,
            mocked(Resolutions.Resolutions, {}),
            mocked(Admission, { admit: () => null }),
            mocked(IdGen.IdGen, { seed: () => 1 })
          )
        )
      )
    )
    const { around, ended } = Context.get(built, Handoff.Handoff)
    const tell = ended ?? assert.fail("it hears no ends")
    return { rows, asked, around, ended: (work: Work, end: RequestEnd) => tell(work, end, emptyBill) }
  })

describe("a summary in the making", () => {
  it.scoped("is given up after its time, told as an estimate, and leaves its place", () =>
    Effect.gen(function* () {
      const { asked, ended, rows } = yield* setUp()
      ended(workOf("s"), answered)
      yield* TestClock.adjust(Handoff.timeLimitMs - 1)
      ended(workOf("s"), answered)
      assert.deepStrictEqual([asked.length, rows.length], [1, 0])
      yield* TestClock.adjust(1)
      assert.lengthOf(rows, 1)
      assert.deepInclude(rows[0], {
        requestId: "r-s-handoff",
        outcome: "aborted",
        status: 499,
        error: "handoff_timeout",
        usageSource: "estimated",
        provider: "a"
      })
      assert.isAbove(rows[0]?.tokens.in ?? 0, 0)
      ended(workOf("s"), answered)
      yield* Effect.yieldNow()
      assert.lengthOf(asked, 2)
    })
  )

  it.effect("is written down when the gateway closes", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { ended, rows } = yield* Scope.extend(setUp(), scope)
      ended(workOf("s"), answered)
      yield* Effect.yieldNow()
      assert.lengthOf(rows, 0)
      yield* Scope.close(scope, Exit.void)
      assert.deepInclude(rows[0], { outcome: "aborted", error: "gateway_closing" })
      assert.lengthOf(rows, 1)
    })
  )

  it.scoped("is one of four at most", () =>
    Effect.gen(function* () {
      const { asked, ended } = yield* setUp()
      for (let session = 0; session < Handoff.maxAtOnce + 3; session += 1) ended(workOf(`s${session}`), answered)
      yield* Effect.yieldNow()
      assert.lengthOf(asked, Handoff.maxAtOnce)
    })
  )
})

describe("no summary", () => {
  const none = (work: Work, end: FailoverEnd = answered, remaining = 0.1) =>
    Effect.gen(function* () {
      const { around, asked, ended } = yield* setUp(remaining)
      ended(work, end)
      yield* Effect.yieldNow()
      assert.lengthOf(asked, 0)
      const next = (carried: Work) => Effect.sync(() => ({ work: carried, end, others: [] }) satisfies Answered)
      assert.strictEqual((yield* around(next)(work)).work, work)
    })
  it.scoped("without a session", () => none(workOf(null)))
  it.scoped("by another strategy", () => none(workOf("s", { strategy: "priority" })))
  it.scoped("of embeddings", () => none(workOf("s", { codec: embeddings })))
  it.scoped("with much left", () => none(workOf("s"), answered, 0.2))
  it.scoped("with next to nothing left", () => none(workOf("s"), answered, 0.05))
  it.scoped("after an answer that the client left", () =>
    none(workOf("s"), { _tag: "Answered", target, result: { _tag: "Aborted", report: null, firstContentMs: null } })
  )
  it.scoped("after an answer that broke", () =>
    none(workOf("s"), { _tag: "Answered", target, result: { _tag: "Broken" } } as unknown as FailoverEnd)
  )
})
