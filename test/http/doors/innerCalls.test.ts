/** What the gateway asks in the name of a restricted key besides the request itself keeps to the key's rules, budget and `noLog`. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const words = "a diagnosis of last Thursday"
const noMoney = Fake.json({ error: { message: "Insufficient credits" } }, { status: 402 })
const says = (text: string, usage = { in: 10, out: 1 }): Fake.Answer => Fake.json(Fake.chatCompletion({ text, usage }))

const names = ["a", "b", "judge"] as const
type Name = (typeof names)[number]

/** Upstreams `a`, `b` and `judge`, and the free one of emergencies. */
const setUp = Effect.gen(function* () {
  const dataDir = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-test-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const node = { a: yield* Fake.start, b: yield* Fake.start, judge: yield* Fake.start, free: yield* Fake.start }
  const environment = new Map([["GATEWAY_EMERGENCY_FALLBACK", "true"]])
  const gateway = yield* TestGateway.start({ dataDir, environment })
  const { manage } = gateway
  for (const upstream of Object.values(node)) upstream.always(says("fine"))
  const quotas = [{ window: "5h", unit: "tokens", limit: 1_000 }]
  const ids = yield* Effect.promise(async () => {
    const made = new Map<string, string>()
    for (const name of names) {
      made.set(name, (await gateway.connect(name, node[name], "chat", name === "a" ? { quotas } : {})).id)
    }
    const baseUrl = `${node.free.origin}/v1`
    await manage("POST", "/api/providers", { provider: "nvidia", name: "free", apiKey: "k", baseUrl })
    return made
  })
  const combo = (name: string, strategy: string, config: object, ...members: ReadonlyArray<Name>) =>
    manage("POST", "/api/combos", {
      name,
      strategy,
      config,
      targets: members.map((member) => ({ model: `${member}/m` }))
    })
  const keyOf = async (rules: object): Promise<{ readonly id: string; readonly authorization: string }> => {
    const { key, secret } = await manage("POST", "/api/keys", { name: "k", ...rules })
    return { id: key.id, authorization: `Bearer ${secret}` }
  }
  const ask = async (authorization: string, model: string, more: object = {}, headers: Record<string, string> = {}) => {
    const body = { model, max_tokens: 10, messages: [{ role: "user", content: words }], ...more }
    const response = await gateway.post("/v1/chat/completions", body, { authorization, ...headers })
    const text = await response.text()
    return { status: response.status, text, id: response.headers.get("x-gateway-request-id") ?? "" }
  }
  const count = (name: Name | "free") => node[name].requests.length
  const filesWith = (text: string): ReadonlyArray<string> =>
    readdirSync(dataDir, { recursive: true, encoding: "utf8" }).filter((name) => {
      const path = join(dataDir, name)
      return statSync(path).isFile() && readFileSync(path).includes(text)
    })
  const budget = (apiKeyId: string, dailyLimitUsd: number) =>
    manage("POST", "/api/usage/budget", { apiKeyId, dailyLimitUsd })
  const spent = (apiKeyId: string) => manage("GET", `/api/usage/budget?apiKeyId=${apiKeyId}`)
  return { gateway, node, ids, combo, keyOf, ask, count, filesWith, budget, spent, manage }
})

type Scene = Effect.Effect.Success<typeof setUp>
const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

describe("the emergency model", () => {
  for (const [what, rules] of [
    ["may have another model only", { allowedModels: ["a/m"] }],
    ["is blocked from it", { blockedModels: ["*gpt-oss*"] }],
    ["is blocked from it by its whole id", { blockedModels: ["nvidia/openai/gpt-oss-120b"] }]
  ] as const) {
    scene(`is not asked for a key that ${what}`, async ({ ask, count, keyOf, node }) => {
      const { authorization } = await keyOf(rules)
      node.a.always(noMoney)
      const { status, text } = await ask(authorization, "a/m")
      assert.strictEqual(status, 402, text)
      assert.strictEqual(count("free"), 0)
    })
  }

  scene("is not asked by another connection than the key's", async ({ ask, count, ids, keyOf, node }) => {
    const { authorization } = await keyOf({ allowedConnections: [ids.get("a")] })
    node.a.always(noMoney)
    assert.strictEqual((await ask(authorization, "a/m")).status, 402)
    assert.strictEqual(count("free"), 0)
  })

  scene("is not asked past the budget", async ({ ask, budget, count, keyOf, manage, node, spent }) => {
    await manage("PATCH", "/api/pricing", {
      a: { m: { input: 0, output: 0 } },
      nvidia: { "openai/gpt-oss-120b": { input: 1_000, output: 1_000 } }
    })
    const { authorization, id } = await keyOf({})
    await budget(id, 0.001)
    node.a.always(noMoney)
    assert.strictEqual((await ask(authorization, "a/m")).status, 402)
    assert.strictEqual(count("free"), 0)
    assert.deepInclude(await spent(id), { spentUsd: 0, reservedUsd: 0 })
  })
})

describe("a panel", () => {
  scene("and its judge leave out what the key is blocked from", async ({ ask, combo, count, keyOf }) => {
    await combo("fused", "fusion", { judgeModel: "judge/m" }, "a", "b")
    const judged = await keyOf({ blockedModels: ["judge/m"] })
    assert.strictEqual((await ask(judged.authorization, "fused")).status, 200)
    assert.strictEqual(count("judge"), 0)
    const member = await keyOf({ blockedModels: ["b/*"] })
    const before = count("b")
    assert.strictEqual((await ask(member.authorization, "fused")).status, 200)
    assert.strictEqual(count("b"), before)
  })

  scene("and its judge use the key's connections only", async ({ ask, combo, count, ids, keyOf }) => {
    await combo("fused", "fusion", { judgeModel: "judge/m" }, "a", "b")
    const { authorization } = await keyOf({ allowedConnections: [ids.get("a"), ids.get("b")] })
    assert.strictEqual((await ask(authorization, "fused")).status, 200)
    assert.strictEqual(count("judge"), 0)
    assert.strictEqual(count("b"), 1)
  })

  for (const rules of [{ allowedCombos: ["fused"] }, { blockedModels: ["bench"] }]) {
    scene(`does not ask a combo as its judge with ${JSON.stringify(rules)}`, async ({ ask, combo, count, keyOf }) => {
      await combo("bench", "priority", {}, "judge")
      await combo("fused", "fusion", { judgeModel: "bench" }, "a", "b")
      const { authorization } = await keyOf(rules)
      assert.strictEqual((await ask(authorization, "fused")).status, 200)
      assert.strictEqual(count("judge"), 0)
      assert.strictEqual(count("a") + count("b"), 3)
    })
  }

  scene("does not ask the judge past the budget, by the length of what it is asked", async (given) => {
    const { ask, budget, combo, count, keyOf, manage, node, spent } = given
    const price = { input: 1, output: 1 }
    await manage("PATCH", "/api/pricing", { a: { m: price }, b: { m: price }, judge: { m: price } })
    await combo("fused", "fusion", { judgeModel: "judge/m" }, "a", "b")
    const { authorization, id } = await keyOf({ allowedCombos: ["fused"] })
    // The question is of some 70 tokens, what the judge reads of some 2,000.
    const long = says("some more words ".repeat(300), { in: 30, out: 10 })
    node.a.always(long)
    node.b.always(long)
    await budget(id, 0.0005)
    const answer = await ask(authorization, "fused")
    assert.strictEqual(answer.status, 429, answer.text)
    assert.strictEqual(count("judge"), 0)
    assert.deepStrictEqual([count("a"), count("b")], [1, 1])
    const after = await spent(id)
    assert.isAtMost(after.spentUsd, 0.0005)
    assert.strictEqual(after.reservedUsd, 0)
  })

  scene("of a key with `noLog` is not stored", async ({ ask, combo, filesWith, gateway, keyOf, manage, node }) => {
    await combo("fused", "fusion", { judgeModel: "judge/m" }, "a", "b")
    node.a.always(says("the opinion of a"))
    node.judge.always(Fake.json({ error: { message: `Not about ${words}` } }, { status: 500 }))
    const { authorization } = await keyOf({ noLog: true })
    const { id, status, text } = await ask(authorization, "fused")
    assert.strictEqual(status, 200, text)
    await gateway.usageRow(id)
    await manage("PUT", "/api/db-backups")
    for (const said of ["diagnosis", "the opinion of a"]) assert.deepStrictEqual(filesWith(said), [])
  })
})

describe("a hedged call", () => {
  const hedging = { hedging: { enabled: true, delayMs: 50 } }
  scene("is not made of a blocked model", async ({ ask, combo, count, keyOf, manage, node }) => {
    await manage("PATCH", "/api/resilience", hedging)
    await combo("both", "priority", {}, "a", "b", "judge")
    node.a.always(Fake.silence())
    const { authorization } = await keyOf({ blockedModels: ["b/m"] })
    assert.strictEqual((await ask(authorization, "both")).status, 200)
    assert.deepStrictEqual([count("b"), count("judge")], [0, 1])
  })

  scene("is not made past the budget", async ({ ask, budget, combo, count, keyOf, manage, node, spent }) => {
    const price = { input: 1, output: 1 }
    const free = { input: 0, output: 0 }
    await manage("PATCH", "/api/pricing", { a: { m: price }, b: { m: price }, judge: { m: free } })
    await manage("PATCH", "/api/resilience", hedging)
    await combo("both", "priority", {}, "a", "b", "judge")
    node.a.always(Fake.silence())
    const { authorization, id } = await keyOf({})
    // Room for one call of some 50 tokens, not for two.
    await budget(id, 0.00008)
    const answer = await ask(authorization, "both")
    assert.strictEqual(answer.status, 200, answer.text)
    assert.deepStrictEqual([count("a"), count("b"), count("judge")], [1, 0, 1])
    assert.isAtMost((await spent(id)).spentUsd, 0.00008)
  })
})

describe("a summary for a hand-off", () => {
  const session = { "x-session-id": "s" }
  const used = says("answer", { in: 880, out: 0 })

  for (const [what, rules] of [
    ["blocked", { blockedModels: ["judge/m"] }],
    ["that is a combo the key may not use", { allowedCombos: ["relay"] }]
  ] as const) {
    scene(`is not asked of a model ${what}`, async ({ ask, combo, count, gateway, keyOf, node }) => {
      await combo("bench", "priority", {}, "judge")
      await combo("relay", "context-relay", { handoffModel: what === "blocked" ? "judge/m" : "bench" }, "a", "b")
      const { authorization } = await keyOf(rules)
      node.a.enqueue(used)
      const { id } = await ask(authorization, "relay", {}, session)
      const row = await gateway.usageRow(`${id}-handoff`)
      assert.deepInclude(row, { requestedModel: "a/m", provider: "a" })
      assert.strictEqual(count("judge"), 0)
    })
  }

  scene("is not made past the budget", async ({ ask, budget, combo, count, gateway, keyOf, manage, node, spent }) => {
    await manage("PATCH", "/api/pricing", {
      a: { m: { input: 1, output: 1 } },
      judge: { m: { input: 100, output: 100 } }
    })
    await combo("relay", "context-relay", { handoffModel: "judge/m" }, "a", "b")
    const { authorization, id } = await keyOf({})
    await budget(id, 0.01)
    node.a.enqueue(used)
    const answer = await ask(authorization, "relay", {}, session)
    assert.strictEqual(answer.status, 200)
    assert.deepInclude(await gateway.usageRow(`${answer.id}-handoff`), { outcome: "failed", status: 429, costUsd: 0 })
    assert.strictEqual(count("judge"), 0)
    assert.isAtMost((await spent(id)).spentUsd, 0.01)
  })

  scene("is not made of a key with `noLog`", async ({ ask, combo, count, filesWith, gateway, keyOf, node }) => {
    await combo("relay", "context-relay", { handoffModel: "judge/m" }, "a", "b")
    const { authorization } = await keyOf({ noLog: true })
    node.a.enqueue(used)
    const { id } = await ask(authorization, "relay", {}, session)
    await gateway.usageRow(id)
    // The next turn ends after what the first one would have begun.
    await gateway.usageRow((await ask(authorization, "relay", {}, session)).id)
    assert.strictEqual(count("judge"), 0)
    assert.deepStrictEqual(filesWith("diagnosis"), [])
  })
})
