import { assert, describe, it } from "@effect/vitest"
import { noPolicy } from "../../../../src/subjects/combos/entity/ComboPolicy.ts"
import { defaultResilience } from "../../../../src/subjects/resilience/entity.ts"
import { snapshot } from "../../../../src/plane/providers/Catalog.ts"
import { noneReady } from "../../../../src/plane/routing/candidate/Reason.ts"
import type { Unready } from "../../../../src/plane/routing/health/TargetHealth.ts"
import { routePolicy } from "../../../../src/plane/routing/walk/RoutePolicy.ts"
import type { WalkWorld } from "../../../../src/plane/routing/walk/Steps.ts"
import { Walk } from "../../../../src/plane/routing/walk/Walk.ts"
import { targetOf } from "../../../support/Candidates.ts"
import { connection } from "../../../support/Records.ts"

const restsUntil = (untilMs: number): Unready => ({
  rule: "cooldown",
  untilMs,
  terminal: null,
  kind: null,
  detail: "rests",
  status: 503,
  code: "connection_cooldown"
})

/** A walk over one target that rests until 200 when it is looked at first; from then on the clock shows `laterMs`. */
const endOf = (laterMs: number) => {
  const { accounts } = snapshot([connection({ id: "a", provider: "openai" })], [], [])
  let nowMs = 100
  const world: WalkWorld<number, null> = {
    nowMs: () => nowMs,
    leftMs: () => 60_000,
    hasLeft: () => false,
    isStopping: () => false,
    unready: (_, atMs) => {
      nowMs = laterMs
      return atMs < 200 ? restsUntil(200) : null
    },
    admit: () => "refused",
    place: () => ({ _tag: "Free", release: 1 }),
    lastResort: () => ({ _tag: "Free", release: 1 }),
    isLastResortFree: () => true,
    release: () => {},
    leftOut: () => {}
  }
  const order = accounts.map((account) => targetOf(account, "m"))
  const policy = routePolicy(defaultResilience, noPolicy)
  const input = { order, reason: noneReady, policy, waitTimeoutMs: 1_000, cooldownWait: null }
  const step = new Walk(input, world).begin()
  return step._tag === "End" ? step.end : step
}

describe("the end of a walk without a target that was ready", () => {
  it("tells how long the target rests", () => {
    assert.deepInclude(endOf(150), { _tag: "Unavailable", retryAfterMs: 50 })
  })

  it("tells to come again at once when the rest has ended meanwhile", () => {
    assert.deepInclude(endOf(201), { _tag: "Unavailable", retryAfterMs: 1 })
  })
})
