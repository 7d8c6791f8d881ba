import { assert, describe, it } from "@effect/vitest"
import { snapshot } from "../../../src/providers/Catalog.ts"
import type { Resolution } from "../../../src/routing/ModelResolver.ts"
import { decide } from "../../../src/routing/Router.ts"
import { make as makeMemory, capacity } from "../../../src/routing/RouterMemory.ts"
import { connection } from "../../support/Records.ts"

const { accounts } = snapshot(
  ["a", "b", "c"].map((id, priority) => connection({ id, provider: "openai", priority })),
  [],
  []
)
const resolution = (strategy: string): Resolution => ({
  combo: null,
  strategy,
  targets: accounts.map((account) => ({ account, model: "m", suppressReasoning: false }))
})
const order = (decision: ReturnType<typeof decide>) => decision.order.map(({ account }) => account.connection.id)
const nothing = { lastKnownGood: null }

describe("Router.decide", () => {
  it("keeps the given order for priority", () => {
    assert.deepStrictEqual(
      order(decide(resolution("priority"), { lastKnownGood: { connectionId: "c", model: "m" } }, 1)),
      ["a", "b", "c"]
    )
  })

  it("puts the last known good first for auto, the others behind in order", () => {
    const good = { lastKnownGood: { connectionId: "b", model: "m" } }
    assert.deepStrictEqual(order(decide(resolution("lkgp"), good, 1)), ["b", "a", "c"])
    assert.deepStrictEqual(order(decide(resolution("lkgp"), nothing, 1)), ["a", "b", "c"])
  })

  it("forgets a last known good that is gone", () => {
    const gone = { lastKnownGood: { connectionId: "b", model: "other" } }
    assert.deepStrictEqual(order(decide(resolution("lkgp"), gone, 1)), ["a", "b", "c"])
  })
})

describe("RouterMemory", () => {
  it("remembers the latest target per id and stays bounded", () => {
    const memory = makeMemory()
    const [first, second] = resolution("lkgp").targets
    assert.deepStrictEqual(memory.state("auto"), nothing)
    memory.served("auto", first!)
    memory.served("auto", second!)
    assert.deepStrictEqual(memory.state("auto").lastKnownGood, { connectionId: "b", model: "m" })
    for (let i = 0; i < capacity; i++) memory.served(`combo-${i}`, first!)
    assert.deepStrictEqual(memory.state("auto"), nothing)
  })
})
