/** What listeners hear: `provider.error`, `provider.recovered` and `combo.switched`, each when it happens and not otherwise. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gateway } from "../../../../src/app/layers.ts"
import { buildInOrder } from "../../../../src/app/LayerBuilder.ts"
import * as Events from "../../../../src/observe/Events.ts"
import { HttpServer } from "../../../../src/entry/server/Server.ts"
import * as AppConfig from "../../../../src/platform/AppConfig.ts"
import { eventually } from "../../../support/eventually.ts"
import * as Fake from "../../../support/FakeUpstream.ts"
import { answer, cut } from "./Streams.ts"

const adminKey = "admin-key-of-the-tests-0123456789"

/** Changes of the configuration and of health are told, too; this is about these. */
const told: ReadonlySet<string> = new Set(["provider.error", "provider.recovered", "combo.switched"])

const setUp = Effect.gen(function* () {
  const dataDir = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-test-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const config = AppConfig.layerOf({
    adminKey: Redacted.make(adminKey),
    dataDir,
    environment: new Map([["STREAM_RECOVERY_MIDSTREAM_ENABLED", "true"]])
  })
  const built = yield* buildInOrder(
    Layer.merge(gateway.pipe(Layer.provide(config)), Events.layer),
    yield* Effect.scope
  ).pipe(Effect.orDie)
  const { url } = Context.get(built, HttpServer)
  const heard = yield* Context.get(built, Events.Events).subscribe
  const call = async (method: string, path: string, body: unknown): Promise<string> => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    return response.text()
  }
  const [one, two] = [yield* Fake.start, yield* Fake.start]
  yield* Effect.promise(async () => {
    for (const [prefix, { origin }] of [["one", one] as const, ["two", two] as const]) {
      const node = { name: prefix, prefix, type: "openai-compatible", baseUrl: `${origin}/v1`, wires: ["chat"] }
      await call("POST", "/api/provider-nodes", node)
      await call("POST", "/api/providers", { provider: prefix, name: prefix, apiKey: "key", models: ["m"] })
    }
    const targets = [{ model: "one/m" }, { model: "two/m" }]
    await call("POST", "/api/combos", { name: "both", strategy: "priority", targets })
    await call("PATCH", "/api/resilience", {
      connectionCooldown: { apikey: { baseCooldownMs: 100, maxBackoffSteps: 0 } },
      providerBreaker: { local: { degradationThreshold: 2, failureThreshold: 3, resetTimeoutMs: 500 } },
      retry: { maxRetries: 0, delayMs: 0 }
    })
  })
  const ask = (model: string, more: object = {}) =>
    call("POST", "/v1/chat/completions", { model, messages: [{ role: "user", content: "Hi" }], ...more })
  const took = () => Array.from(Effect.runSync(Queue.takeAll(heard))).filter(({ type }) => told.has(type))
  return { ask, call, one, two, took }
})

type Scene = Effect.Effect.Success<typeof setUp>

const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

const good = Fake.json(Fake.chatCompletion({ text: "Hello" }))
const broken = Fake.json({ error: { message: "internal error" } }, { status: 500 })
const types = (events: ReadonlyArray<Events.GatewayEvent>): ReadonlyArray<string> => events.map(({ type }) => type)

/** Asks until the connection is called again: a cooldown or a breaker has no signal of its own. */
const askUntilCalled = async (ask: () => Promise<string>, upstream: Fake.FakeUpstream): Promise<void> => {
  const before = upstream.requests.length
  await eventually("the connection to be called again", ask, () => upstream.requests.length > before)
}

describe("events", () => {
  scene("each error that counts toward the breaker, and the recovery", async ({ ask, one, took }) => {
    one.always(broken)
    for (const [failures, state] of [
      [1, "CLOSED"],
      [2, "DEGRADED"],
      [3, "OPEN"]
    ] as const) {
      await askUntilCalled(() => ask("one/m"), one)
      const [event, ...more] = took()
      assert.lengthOf(more, 0)
      assert.deepInclude(event, {
        type: "provider.error",
        provider: "one",
        status: 500,
        consecutiveFailures: failures,
        circuitState: state
      })
    }
    one.always(good)
    await askUntilCalled(() => ask("one/m"), one)
    assert.deepStrictEqual(types(took()), ["provider.recovered"])
    await ask("one/m")
    assert.deepStrictEqual(took(), [])
  })

  scene("nothing for what is not the provider's failure", async ({ ask, one, took }) => {
    one.enqueue(
      Fake.json({ error: { message: "messages: must not be empty" } }, { status: 400 }),
      Fake.json({ error: { message: "slow down" } }, { status: 429, headers: { "retry-after": "1" } })
    )
    await ask("one/m")
    await ask("one/m")
    assert.deepStrictEqual(took(), [])
  })

  scene("a combo that is answered by another target", async ({ ask, one, two, took }) => {
    one.always(broken)
    two.always(good)
    await ask("both")
    const [error, switched, ...more] = took()
    assert.lengthOf(more, 0)
    assert.strictEqual(error?.type, "provider.error")
    assert.deepInclude(switched, { type: "combo.switched", combo: "both", from: "one/m", to: "two/m" })
  })

  scene("a combo that changes its target once, and once more when it comes back", async ({ ask, one, two, took }) => {
    const switched = () =>
      took().flatMap((event) => (event.type === "combo.switched" ? [`${event.from} ${event.to}`] : []))
    one.always(broken)
    two.always(good)
    // The first fails, then it is left out, then it fails again.
    for (const _ of [1, 2, 3]) await ask("both")
    await askUntilCalled(() => ask("both"), one)
    assert.deepStrictEqual(switched(), ["one/m two/m"])
    one.always(good)
    await askUntilCalled(() => ask("both"), one)
    for (const _ of [1, 2]) await ask("both")
    assert.deepStrictEqual(switched(), ["two/m one/m"])
  })

  scene("not a combo that is answered by the same target in the end", async ({ ask, call, one, took }) => {
    await call("PATCH", "/api/resilience", { retry: { maxRetries: 1, delayMs: 0 } })
    await call("POST", "/api/combos", { name: "alone", strategy: "priority", targets: [{ model: "one/m" }] })
    one.enqueue(broken, good)
    assert.include(await ask("alone"), "Hello")
    assert.deepStrictEqual(types(took()), ["provider.error"])
  })

  scene("a combo whose second target was asked too and was faster", async ({ ask, call, one, two, took }) => {
    await call("PATCH", "/api/resilience", { hedging: { enabled: true, delayMs: 50 } })
    one.always(Fake.hang())
    two.always(good)
    assert.include(await ask("both"), "Hello")
    const switched = took().filter(({ type }) => type === "combo.switched")
    assert.lengthOf(switched, 1)
    assert.deepInclude(switched[0], { from: "one/m", to: "two/m" })
  })

  scene("a stream that another target goes on with", async ({ ask, one, two, took }) => {
    one.always(cut("chat", ["The quick"]))
    two.always(answer("chat", [" brown fox."]))
    assert.include(await ask("both", { stream: true }), "[DONE]")
    const switched = took().filter(({ type }) => type === "combo.switched")
    assert.lengthOf(switched, 1)
    assert.deepInclude(switched[0], { from: "one/m", to: "two/m" })
  })
})
