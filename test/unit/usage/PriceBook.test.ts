import { assert, describe, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { readFileSync } from "node:fs"
import type { PriceTable } from "../../../src/subjects/pricing/entity.ts"
import { registry } from "../../../src/plane/providers/Registry.ts"
import * as DefaultPrices from "../../../src/observe/usage/DefaultPrices.ts"
import * as PriceBook from "../../../src/observe/usage/PriceBook.ts"

/** A store that shows what was saved and can be told to fail. */
const storeWith = (first: PriceTable, failing: { now: boolean } = { now: false }) => {
  const saved: Array<PriceTable> = []
  const store = Layer.succeed(PriceBook.PriceOverrides, {
    load: Effect.succeed(first),
    save: (table) =>
      failing.now
        ? Effect.fail(new PriceBook.PriceOverridesUnavailable({ operation: "save", cause: "disk" }))
        : Effect.sync(() => void saved.push(table))
  })
  return { saved, layer: Layer.provide(PriceBook.layer, store) }
}

describe("lookupNames", () => {
  it("goes from the exact name to the last part without its date", () => {
    assert.deepStrictEqual(PriceBook.lookupNames("openai/gpt-4o-2024-08-06"), [
      "openai/gpt-4o-2024-08-06",
      "openai/gpt-4o",
      "gpt-4o-2024-08-06",
      "gpt-4o"
    ])
    assert.deepStrictEqual(PriceBook.lookupNames("claude-sonnet-4-5@20250929"), [
      "claude-sonnet-4-5@20250929",
      "claude-sonnet-4-5"
    ])
    assert.deepStrictEqual(PriceBook.lookupNames("gpt-4o"), ["gpt-4o"])
    assert.deepStrictEqual(PriceBook.lookupNames("a/"), ["a/"])
  })
})

layer(PriceBook.layerMemory)("embedded prices", (it) => {
  it.effect("know models of registry providers", () =>
    Effect.gen(function* () {
      const { price } = yield* PriceBook.PriceBook
      assert.deepStrictEqual(price("openai", "gpt-4o"), {
        input: 2.5,
        output: 10,
        cached: 1.25,
        perWebSearch: 0.01,
        perFileSearch: 0.0025,
        serviceTiers: { flex: { factor: 0.5 }, batch: { factor: 0.5 }, priority: { factor: 1.7 } }
      })
      assert.deepStrictEqual(price("openai", "gpt-4o-2024-08-06"), price("openai", "gpt-4o"))
      assert.deepStrictEqual(price("openrouter", "openai/gpt-4o"), { input: 2.5, output: 10 })
      assert.strictEqual(price("azure-openai", "gpt-4o")?.input, 2.5)
      assert.isNotNull(price("fireworks", "accounts/fireworks/models/gpt-oss-120b"))
    })
  )

  it.effect("that differ by the time of day are reckoned once a minute, at the minute", () =>
    Effect.gen(function* () {
      const { price } = yield* PriceBook.PriceBook
      const day = Date.UTC(2025, 4, 1)
      const cheap = day + 20 * 3_600_000
      const dear = day + 12 * 3_600_000
      const model = "deepseek-chat"
      assert.isBelow(price("deepseek", model, cheap)?.input ?? 0, price("deepseek", model, dear)?.input ?? 0)
      assert.strictEqual(price("deepseek", model, cheap), price("deepseek", model, cheap + 59_999))
    })
  )

  it.effect("have the tiers of longer prompts", () =>
    Effect.gen(function* () {
      const { price } = yield* PriceBook.PriceBook
      assert.deepStrictEqual(price("gemini", "gemini-2.5-pro"), {
        input: 1.25,
        output: 10,
        cached: 0.125,
        tiers: [{ above: 200_000, input: 2.5, output: 15, cached: 0.25 }],
        serviceTiers: { flex: { factor: 0.5 }, batch: { factor: 0.5 }, priority: { factor: 1.8 } },
        perGroundedAnswer: 0.035
      })
    })
  )

  it.effect("tell free from unknown", () =>
    Effect.gen(function* () {
      const { price } = yield* PriceBook.PriceBook
      assert.deepStrictEqual(price("openrouter", "meta-llama/llama-3.3-70b-instruct:free"), { input: 0, output: 0 })
      assert.isNull(price("openai", "no-such-model"))
      assert.isNull(price("openai", "toString"))
      assert.isNull(price("toString", "gpt-4o"))
    })
  )

  it.effect("are never given to local servers, nodes or plans by the name of a model", () =>
    Effect.gen(function* () {
      const { price } = yield* PriceBook.PriceBook
      for (const provider of ["ollama", "litellm", "my-openai-node", "glm", "google"]) {
        assert.isNull(price(provider, "gpt-4o"), provider)
        assert.isNull(price(provider, "gemini-2.5-pro"), provider)
      }
    })
  )

  it.effect("follow the clock where they differ by time of day", () =>
    Effect.gen(function* () {
      const { price } = yield* PriceBook.PriceBook
      const at = (isoTime: string) =>
        Effect.map(TestClock.setTime(Date.parse(isoTime)), () => price("deepseek", "deepseek-chat"))
      const cheap = yield* at("2025-06-01T20:00:00Z")
      const dear = yield* at("2025-06-01T08:00:00Z")
      assert.isNotNull(cheap)
      assert.isNotNull(dear)
      assert.isBelow(cheap!.input, dear!.input)
    })
  )
})

describe("overrides", () => {
  it.effect("win over embedded prices, also for nodes and local servers", () => {
    const store = storeWith({ openai: { "gpt-4o": { input: 1, output: 2 } }, node: { m: { input: 5, output: 6 } } })
    return Effect.gen(function* () {
      const { price } = yield* PriceBook.PriceBook
      assert.deepStrictEqual(price("openai", "gpt-4o"), { input: 1, output: 2 })
      assert.deepStrictEqual(price("openai", "gpt-4o-2024-08-06"), { input: 1, output: 2 })
      assert.deepStrictEqual(price("node", "m"), { input: 5, output: 6 })
      assert.isNull(price("other", "m"))
    }).pipe(Effect.provide(store.layer))
  })

  it.effect("are merged by model, saved whole and in force at once", () => {
    const store = storeWith({ openai: { "gpt-4o": { input: 1, output: 2, cached: 0 } } })
    return Effect.gen(function* () {
      const { overrides, patch, price } = yield* PriceBook.PriceBook
      assert.isNull(price("node", "m"))
      yield* patch({ openai: { "gpt-4o": { input: 7, output: 8 } }, node: { m: { input: 0, output: 0 } } })
      const expected = { openai: { "gpt-4o": { input: 7, output: 8 } }, node: { m: { input: 0, output: 0 } } }
      assert.deepStrictEqual(yield* overrides, expected)
      assert.deepStrictEqual(store.saved, [expected])
      assert.deepStrictEqual(price("node", "m"), { input: 0, output: 0 })
      assert.deepStrictEqual(price("openai", "gpt-4o"), { input: 7, output: 8 })
    }).pipe(Effect.provide(store.layer))
  })

  it.effect("do not lose each other when patched at the same time", () => {
    const store = storeWith({})
    return Effect.gen(function* () {
      const { overrides, patch } = yield* PriceBook.PriceBook
      const names = Array.from({ length: 20 }, (_, at) => `m${at}`)
      yield* Effect.forEach(names, (name) => patch({ node: { [name]: { input: 1, output: 1 } } }), {
        concurrency: "unbounded"
      })
      assert.sameMembers(Object.keys((yield* overrides)["node"] ?? {}), names)
    }).pipe(Effect.provide(store.layer))
  })

  it.effect("stay as they were when saving fails", () => {
    const failing = { now: true }
    const store = storeWith({}, failing)
    return Effect.gen(function* () {
      const { overrides, patch, price } = yield* PriceBook.PriceBook
      const exit = yield* Effect.exit(patch({ node: { m: { input: 1, output: 1 } } }))
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual(yield* overrides, {})
      assert.isNull(price("node", "m"))
      failing.now = false
      yield* patch({ node: { m: { input: 1, output: 1 } } })
      assert.deepStrictEqual(price("node", "m"), { input: 1, output: 1 })
    }).pipe(Effect.provide(store.layer))
  })

  it.effect("are bounded", () => {
    const store = storeWith({})
    return Effect.gen(function* () {
      const { patch } = yield* PriceBook.PriceBook
      const models = Array.from({ length: PriceBook.maxOverrides + 1 }, (_, at) => [`m${at}`, { input: 1, output: 1 }])
      const error = yield* Effect.flip(patch({ node: Object.fromEntries(models) }))
      assert.strictEqual(error._tag, "TooManyPriceOverrides")
      assert.deepStrictEqual(store.saved, [])
    }).pipe(Effect.provide(store.layer))
  })
})

describe("embedded data", () => {
  it("is priced only for hosted providers of the registry", () => {
    for (const provider of DefaultPrices.listedAs.keys()) {
      assert.isTrue(registry.has(provider), provider)
      assert.notStrictEqual(registry.get(provider)?.class, "local", provider)
    }
  })

  it.effect("knows every provider it is asked for by its own id", () =>
    Effect.gen(function* () {
      const { findProvider } = yield* Effect.promise(() => import("@pydantic/genai-prices"))
      for (const listed of DefaultPrices.listedAs.values()) {
        assert.strictEqual(findProvider({ providerId: listed })?.id, listed)
      }
    })
  )

  // A new version of the package needs a new date: this fails to remind of it.
  it("is dated by the version that is installed", () => {
    const { version } = JSON.parse(readFileSync("node_modules/@pydantic/genai-prices/package.json", "utf8"))
    assert.deepStrictEqual([version, DefaultPrices.pricesDated], ["0.1.8", "2026-09-23"])
  })
})
