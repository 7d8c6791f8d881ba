/** The `config` keys of single strategies, over HTTP. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const hour = 3_600_000
const inHours = (hours: number) => new Date(Date.now() + hours * hour).toISOString()
const quota = (window: string, hours: number) => ({ window, unit: "requests", limit: 100, resetAt: inHours(hours) })

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const [one, two] = [yield* Fake.start, yield* Fake.start]
  yield* Effect.promise(async () => {
    for (const upstream of [one, two]) upstream.always(Fake.json(Fake.chatCompletion({ text: "ok" })))
    await gateway.connect("one", one, "chat", { quotas: [quota("weekly", 24), quota("5h", 4)] })
    await gateway.connect("two", two, "chat", { quotas: [quota("weekly", 48), quota("5h", 3.5)] })
  })
  const combo = (name: string, strategy: string, config: Record<string, unknown>) =>
    gateway.manage("POST", "/api/combos", {
      name,
      strategy,
      targets: ["one/m", "two/m"].map((model) => ({ model })),
      config
    })
  const ask = async (model: string): Promise<string> => {
    const response = await gateway.post("/v1/chat/completions", {
      model,
      messages: [{ role: "user", content: "Hi" }]
    })
    const text = await response.text()
    assert.strictEqual(response.status, 200, text)
    return response.headers.get("x-gateway-provider") ?? ""
  }
  const explain = async (model: string) =>
    (await gateway.manage("POST", "/api/routing/explain", { model, seed: 1 })).decision
  return { gateway, combo, ask, explain, one, two }
})

type Scene = Effect.Effect.Success<typeof setUp>
const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

describe("a combo's strategy keys", () => {
  scene("stickyRoundRobinLimit: a turn lasts so many successes", async ({ ask, combo }) => {
    await combo("turns", "round-robin", { stickyRoundRobinLimit: 2 })
    const seen: Array<string> = []
    for (let call = 0; call < 6; call += 1) seen.push(await ask("turns"))
    assert.deepStrictEqual(seen, ["one", "one", "two", "two", "one", "one"])
  })

  scene("stickyWeightedLimit: the drawn one is kept for so many successes", async ({ ask, combo }) => {
    await combo("drawn", "weighted", { stickyWeightedLimit: 4 })
    for (let draw = 0; draw < 3; draw += 1) {
      const seen = new Set<string>()
      for (let call = 0; call < 4; call += 1) seen.add(await ask("drawn"))
      assert.strictEqual(seen.size, 1)
    }
  })

  scene(
    "lkgpEnabled false: the target that answered last does not go first",
    async ({ ask, combo, explain, gateway, one }) => {
      await combo("back", "lkgp", {})
      await combo("listed", "lkgp", { lkgpEnabled: false })
      one.enqueue(Fake.json({ error: { message: "busy" } }, { status: 503 }))
      assert.strictEqual(await ask("back"), "two")
      const { connections } = await gateway.manage("GET", "/api/providers")
      const { id } = connections.find((connection: { provider: string }) => connection.provider === "one")
      // A good test ends the cooldown.
      await gateway.manage("POST", `/api/providers/${id}/test`, { model: "m" })
      assert.strictEqual((await explain("back")).order[0], "two/m")
      assert.strictEqual((await explain("listed")).order[0], "one/m")
    }
  )

  scene("resetWindowWindows and resetWindowTieBandMs: which reset counts, and what is a tie", async (given) => {
    const { combo, explain } = given
    await combo("week", "reset-window", {})
    await combo("session", "reset-window", { resetWindowWindows: ["session"] })
    await combo("tied", "reset-window", { resetWindowWindows: "session", resetWindowTieBandMs: hour })
    assert.strictEqual((await explain("week")).order[0], "one/m")
    const { order, reason } = await explain("session")
    assert.deepStrictEqual([order[0], reason], ["two/m", "soonest reset"])
    assert.strictEqual((await explain("tied")).reason, "its turn among equals")
  })

  scene("resetAware…: the weights of the windows", async ({ combo, explain }) => {
    await combo("both", "reset-aware", {})
    await combo("short", "reset-aware", { resetAwareSessionWeight: 1, resetAwareWeeklyWeight: 0 })
    assert.deepInclude((await explain("both")).weights, { session: 0.35, weekly: 0.65 })
    assert.deepInclude((await explain("short")).weights, { session: 1, weekly: 0 })
  })
})
