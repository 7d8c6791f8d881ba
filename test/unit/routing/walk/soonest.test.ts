import { assert, describe, it } from "@effect/vitest"
import type { Unready } from "../../../../src/plane/routing/health/TargetHealth.ts"
import { sooner } from "../../../../src/plane/routing/walk/Soonest.ts"

const out = (untilMs: number | null, code = "connection_cooldown"): Unready => ({
  rule: "cooldown",
  untilMs,
  terminal: null,
  kind: null,
  detail: "out",
  status: 503,
  code
})

describe("the target that is ready soonest", () => {
  const dead = out(null)
  const late = out(30_000)
  const soon = out(12_000)
  const busy = out(null, "queue_full")

  it("is reported, whatever the order", () => {
    assert.strictEqual(sooner(null, dead), dead)
    for (const [one, other, expected] of [
      [dead, late, late],
      [late, dead, late],
      [late, soon, soon],
      [soon, late, soon],
      [soon, busy, busy],
      [busy, soon, busy]
    ] as const) {
      assert.strictEqual(sooner(one, other), expected)
    }
  })

  it("stays the first of those that take as long", () => {
    const also = out(30_000)
    assert.strictEqual(sooner(late, also), late)
  })
})
