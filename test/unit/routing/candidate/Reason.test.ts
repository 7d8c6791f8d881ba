import { assert, describe, it } from "@effect/vitest"
import * as Reason from "../../../../src/plane/routing/candidate/Reason.ts"

const handedOver = (reason: Reason.Reason): Reason.Reason => ({ _tag: "HandedOver", from: "a/m", reason })

const words: ReadonlyArray<readonly [reason: Reason.Reason, text: string]> = [
  [Reason.firstInOrder, "first in order"],
  [Reason.onlyTarget, "only target"],
  [Reason.amongReady(Reason.firstInOrder), "first in order that could be called"],
  [Reason.amongReady(Reason.onlyTarget), "only target that could be called"],
  [Reason.noneReady, "no target is available"],
  [Reason.noFreeTarget, "no free target is available"],
  [Reason.session, "session"],
  [Reason.quickEnough, "quick enough to begin"],
  [Reason.byStrategy("lowest price"), "lowest price"],
  [{ _tag: "Refused", status: 403, code: "quota_not_allocated" }, "refused with 403 quota_not_allocated"],
  [Reason.emergencyFallback, "emergency fallback: credits exhausted"],
  [{ _tag: "Judged", answers: 2, members: 3, isJudgeKnown: true }, "judged 2 of 3 answers"],
  [
    { _tag: "Judged", answers: 2, members: 3, isJudgeKnown: false },
    "judged 2 of 3 answers, the judge named is unknown"
  ],
  [{ _tag: "OnlyAnswer", members: 3 }, "only answer of 3"],
  [handedOver(Reason.session), "session; context handed over from a/m"],
  [{ _tag: "Summary", requestId: "r1" }, "handoff: sums up r1"]
]

describe("reasons of a decision", () => {
  it.each(words)("%o is told as %s", (reason, text) => assert.strictEqual(Reason.reasonText(reason), text))

  it("say that others could not be called only where they tell of nothing but the order", () => {
    for (const [reason] of words) {
      const once = Reason.amongReady(reason)
      assert.deepStrictEqual(Reason.amongReady(once), once)
    }
    const after = Reason.amongReady(handedOver(Reason.firstInOrder))
    assert.strictEqual(Reason.reasonText(after), "first in order that could be called; context handed over from a/m")
    assert.strictEqual(Reason.amongReady(Reason.session), Reason.session)
  })

  it("give way where none could be called after all, unless they tell of more than the order", () => {
    assert.strictEqual(Reason.noneWasReady(Reason.onlyTarget), Reason.noneReady)
    assert.strictEqual(Reason.noneWasReady(Reason.session), Reason.session)
    assert.strictEqual(
      Reason.reasonText(Reason.noneWasReady(handedOver(Reason.firstInOrder))),
      "no target is available; context handed over from a/m"
    )
  })
})
