/** The routing engine over HTTP: strategies, automatic choice, sessions, and the reasons for all of them. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const body = (model: string, more: Record<string, unknown> = {}) => ({
  model,
  messages: [{ role: "user", content: "Hi" }],
  ...more
})

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const ups = { one: yield* Fake.start, two: yield* Fake.start, three: yield* Fake.start }
  yield* Effect.promise(async () => {
    for (const [name, upstream] of Object.entries(ups)) {
      upstream.always(Fake.json(Fake.chatCompletion({ text: name })))
      await gateway.connect(name, upstream, "chat")
    }
  })
  const combo = (name: string, strategy: string, more: Record<string, unknown> = {}) =>
    gateway.manage("POST", "/api/combos", {
      name,
      strategy,
      targets: ["one/m", "two/m", "three/m"].map((model) => ({ model })),
      ...more
    })
  const ask = async (model: string, headers: Record<string, string> = {}) => {
    const response = await gateway.post("/v1/chat/completions", body(model), headers)
    const text = await response.text()
    assert.strictEqual(response.status, 200, text)
    return { by: response.headers.get("x-gateway-provider") ?? "", headers: response.headers }
  }
  const explain = async (model: string, more: Record<string, unknown> = {}) =>
    (await gateway.manage("POST", "/api/routing/explain", { model, ...more })).decision
  return { gateway, combo, ask, explain, ...ups }
})

type Scene = Effect.Effect.Success<typeof setUp>
const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

describe("routing", () => {
  scene("round-robin takes turns; asking for reasons takes none", async ({ ask, combo, explain }) => {
    await combo("rr", "round-robin")
    const seen: Array<string> = []
    for (let turn = 0; turn < 6; turn += 1) {
      await explain("rr")
      seen.push((await ask("rr")).by)
    }
    assert.deepStrictEqual(seen.slice(0, 3).toSorted(), ["one", "three", "two"])
    assert.deepStrictEqual(seen.slice(3), seen.slice(0, 3))
  })

  scene("a failed target's turn goes to another, and it is spared until it is well", async ({ ask, combo, one }) => {
    await combo("rr", "round-robin")
    one.always(Fake.json({ error: { message: "busy" } }, { status: 503 }))
    const seen = new Set<string>()
    for (let turn = 0; turn < 6; turn += 1) seen.add((await ask("rr")).by)
    assert.deepStrictEqual([...seen].toSorted(), ["three", "two"])
    assert.lengthOf(one.requests, 1)
  })

  scene("says who was asked first, and who could not be", async ({ ask, combo, explain, gateway, one }) => {
    await combo("first", "priority")
    one.always(Fake.json({ error: { message: "busy" } }, { status: 503 }))
    const reason = ({ headers }: { readonly headers: Headers }) => headers.get("x-gateway-decision")
    assert.strictEqual(reason(await ask("first")), "priority;3;fallback after 1 (first choice: first in order)")
    const spared = await ask("first")
    assert.strictEqual(reason(spared), "priority;3;first in order that could be called")
    const id = spared.headers.get("x-gateway-request-id") ?? ""
    const { decision } = await gateway.manage("GET", `/api/routing/decisions/${id}`)
    for (const { order, reason: why } of [decision, await explain("first")]) {
      assert.deepStrictEqual(order, ["two/m", "three/m", "one/m"])
      assert.strictEqual(why, "first in order that could be called")
    }
    await gateway.manage("POST", "/api/combos", {
      name: "pair",
      strategy: "fill-first",
      targets: [{ model: "one/m" }, { model: "two/m" }]
    })
    assert.strictEqual(reason(await ask("pair")), "fill-first;2;only target that could be called")
  })

  scene("auto scores every candidate, and the score is the weighted sum", async ({ ask, gateway }) => {
    const { by, headers } = await ask("auto")
    assert.include(["one", "two", "three"], by)
    assert.match(headers.get("x-gateway-decision") ?? "", /^lkgp;3;/)
    const id = headers.get("x-gateway-request-id") ?? ""
    const { decision } = await gateway.manage("GET", `/api/routing/decisions/${id}`)
    assert.lengthOf(decision.candidates, 3)
    for (const { factors, score } of decision.candidates) {
      const sum = Object.entries(decision.weights as Record<string, number>).reduce(
        (total, [name, weight]) => total + weight * (factors[name] ?? 0),
        0
      )
      assert.closeTo(score, sum, 1e-9)
    }
    assert.strictEqual(decision.chosen, `${by}/m`)
  })

  scene("auto stays with who answered last", async ({ ask, combo }) => {
    await combo("mine", "auto", { config: { explorationRate: 0, routerStrategy: "lkgp" } })
    const { by } = await ask("mine")
    for (let turn = 0; turn < 3; turn += 1) assert.strictEqual((await ask("mine")).by, by)
  })

  scene("a budget that no model meets is dropped and reported", async ({ ask, combo, gateway }) => {
    const price = { m: { input: 5, output: 5 } }
    await gateway.manage("PATCH", "/api/pricing", { one: price, two: price, three: price })
    await combo("mine", "auto", { config: { explorationRate: 0 } })
    const { headers } = await ask("mine", { "x-gateway-budget": "0.000000001" })
    assert.strictEqual(headers.get("x-gateway-filter-relaxed"), "budget")
    assert.isNull((await ask("mine", { "x-gateway-budget": "1000" })).headers.get("x-gateway-filter-relaxed"))
    assert.isNull((await ask("mine", { "x-gateway-budget": "-3" })).headers.get("x-gateway-filter-relaxed"))
  })

  scene("a session stays on its account, and leaves it when it fails", async ({ ask, combo, ...ups }) => {
    await combo("spread", "strict-random")
    const session = { "x-session-id": "s-1" }
    const first = await ask("spread", session)
    assert.strictEqual(first.headers.get("x-gateway-session-id"), "s-1")
    for (let turn = 0; turn < 5; turn += 1) assert.strictEqual((await ask("spread", session)).by, first.by)
    ups[first.by as "one"].always(Fake.json({ error: { message: "busy" } }, { status: 503 }))
    const next = (await ask("spread", session)).by
    assert.notStrictEqual(next, first.by)
    for (let turn = 0; turn < 3; turn += 1) assert.strictEqual((await ask("spread", session)).by, next)
  })

  scene("the same seed and state give the same decision", async ({ combo, explain, one }) => {
    await combo("any", "strict-random")
    const orders = await Promise.all([7, 7, 7].map((seed) => explain("any", { seed })))
    for (const decision of orders) assert.deepStrictEqual(decision.order, orders[0].order)
    assert.lengthOf(one.requests, 0, "nothing is sent")
  })

  scene("explains who is left out of a list without an order", async ({ ask, combo, explain, one }) => {
    await combo("list", "priority")
    one.always(Fake.json({ error: { message: "slow down" } }, { status: 429, headers: { "retry-after": "60" } }))
    await ask("list")
    const rules = (await explain("list")).candidates.map(
      ({ excluded }: { readonly excluded: { readonly rule: string } | null }) => excluded?.rule ?? null
    )
    assert.deepStrictEqual(rules, ["cooldown", null, null])
  })

  scene("a combo is explained as it would be run", async ({ ask, combo, explain }) => {
    await combo("cheap", "cost-optimized")
    const decision = await explain("cheap")
    assert.strictEqual(decision.order[0], `${(await ask("cheap")).by}/m`)
  })
})
