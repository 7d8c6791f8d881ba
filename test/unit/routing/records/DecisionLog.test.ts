import { assert, describe, it } from "@effect/vitest"
import { byStrategy, firstInOrder, type Reason } from "../../../../src/plane/routing/candidate/Reason.ts"
import type { AttemptRecord } from "../../../../src/subjects/routing/entity.ts"
import * as DecisionLog from "../../../../src/plane/routing/records/DecisionLog.ts"
import type { DecisionEntry } from "../../../../src/plane/routing/records/DecisionRecords.ts"
import type { Target } from "../../../../src/plane/routing/resolve/ModelResolver.ts"
import { namedTarget } from "../../../support/Candidates.ts"
import { decisionEntry as entry } from "../../../support/Decisions.ts"

describe("the decision log", () => {
  it("keeps the last decisions, and no more", () => {
    const log = DecisionLog.make(DecisionLog.inMemory)
    for (let index = 0; index <= DecisionLog.capacity; index += 1)
      log.record(entry(`r${index}`, [namedTarget("a")], true))
    assert.isNull(log.get("r0"))
    assert.strictEqual(log.get("r1")?.chosen, "a/m")
    assert.strictEqual(log.get(`r${DecisionLog.capacity}`)?.candidates[0]?.score, 1)
    assert.isNull(log.get("nobody"))
  })

  it("keeps fewer where each is large, and the latest always", () => {
    const log = DecisionLog.make(DecisionLog.inMemory)
    const many = Array.from({ length: 1_000 }, (_, index) => namedTarget("a", `c${index}`))
    const most = DecisionLog.mostLines / many.length
    for (let index = 0; index <= most; index += 1) log.record(entry(`r${index}`, many, true))
    assert.isNull(log.get("r0"))
    assert.isNotNull(log.get("r1"))
    const huge = Array.from({ length: DecisionLog.mostLines + 1 }, () => namedTarget("b"))
    log.record(entry("huge", huge, true))
    assert.isNotNull(log.get("huge"))
    assert.isNull(log.get(`r${most}`))
    log.record(entry("small", [namedTarget("a")], false))
    assert.isNull(log.get("huge"))
    assert.isNotNull(log.get("small"))
  })

  it("shows an ordinary request as any other", () => {
    const targets = [namedTarget("a"), namedTarget("b")]
    const called = (index: number, more: Partial<AttemptRecord> = {}): DecisionEntry => {
      const base = entry(`r${index}`, targets, false)
      const { account, model } = targets[index % 2] ?? assert.fail("two targets")
      const attempt: AttemptRecord = {
        provider: account.spec.id,
        connectionId: account.connection.id,
        model,
        status: 200,
        outcome: "completed",
        reason: "ok",
        startedMs: 1_000 + index,
        latencyMs: index,
        ...more
      }
      return {
        ...base,
        resolution: { ...base.resolution, strategy: "priority" },
        decision: { ...base.decision, strategy: "priority", seed: 4_294_967_295 - index, reason: firstInOrder },
        attempts: [attempt],
        chosen: attempt.outcome === "completed" ? (targets[index % 2] ?? null) : null
      }
    }
    const entries = [
      called(0),
      called(1),
      called(2, { status: null, outcome: "aborted", reason: "client_left" }),
      called(3, { status: 503, outcome: "failed", reason: "http_503" }),
      // A model that is no target, and a second call.
      called(4, { model: "other" }),
      { ...called(5), attempts: [...called(5).attempts, ...called(6).attempts] }
    ]
    const log = DecisionLog.make(DecisionLog.inMemory)
    for (const each of entries) log.record(each)
    for (const each of entries) assert.deepStrictEqual(log.get(each.requestId), DecisionLog.recordOf(each))
    for (let index = 0; index < DecisionLog.capacity; index += 1)
      log.record({ ...called(0), requestId: `later ${index}` })
    for (const each of entries) assert.isNull(log.get(each.requestId))
  })

  describe("of an order that did not look at health", () => {
    const [one, two, three] = [namedTarget("a"), namedTarget("b"), namedTarget("c")]
    const listed = (reason: Reason, leftOut: ReadonlyArray<Target>, asked: ReadonlyArray<Target> = []) => {
      const base = entry("r", [one, two, three], false)
      return DecisionLog.recordOf({
        ...base,
        decision: { ...base.decision, reason },
        exclusions: new Map(leftOut.map((target) => [target, { rule: "cooldown", untilMs: 1, detail: "rests" }])),
        attempts: asked.map(
          ({ account, model }) =>
            ({ connectionId: account.connection.id, model, startedMs: 0 }) as unknown as (typeof base.attempts)[number]
        )
      })
    }
    const told = ({ order, reason }: { readonly order: ReadonlyArray<string>; readonly reason?: string }) => [
      order.join(),
      reason
    ]

    it("puts those who were passed over last, and says so", () => {
      const reason = "first in order that could be called"
      assert.deepStrictEqual(told(listed(firstInOrder, [one])), ["b/m,c/m,a/m", reason])
      assert.deepStrictEqual(told(listed({ _tag: "HandedOver", from: "x", reason: firstInOrder }, [one])), [
        "b/m,c/m,a/m",
        `${reason}; context handed over from x`
      ])
    })

    it("keeps the reason where the first could be called", () => {
      assert.deepStrictEqual(told(listed(firstInOrder, [two])), ["a/m,c/m,b/m", "first in order"])
      assert.deepStrictEqual(told(listed(byStrategy("next in turn"), [])), ["a/m,b/m,c/m", "next in turn"])
    })

    it("keeps the place of who was asked and rests since then", () =>
      assert.deepStrictEqual(told(listed(firstInOrder, [one], [one])), ["a/m,b/m,c/m", "first in order"]))

    it("reports that no target could be called", () =>
      assert.deepStrictEqual(told(listed(firstInOrder, [one, two, three])), ["a/m,b/m,c/m", "no target is available"]))
  })
})
