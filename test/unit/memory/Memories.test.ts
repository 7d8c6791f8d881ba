import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import * as GatewaySettings from "../../../src/flags/GatewaySettings.ts"
import * as Memories from "../../../src/memory/Memories.ts"
import * as IdGen from "../../../src/platform/IdGen.ts"
import { reposInMemory } from "../store/fixtures.ts"

const memories = Memories.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(GatewaySettings.layer, IdGen.layerCounting("m"))),
  Layer.provideMerge(reposInMemory)
)

const written = (key: string): Memories.WrittenMemory => ({
  apiKeyId: null,
  type: "factual",
  source: "extracted",
  key,
  content: `I like ${key}.`,
  sessionId: null
})

describe("Memories", () => {
  it.effect("forgets what was neither written nor used for the days of the setting", () =>
    Effect.gen(function* () {
      const { ids, used, write } = yield* Memories.Memories
      const tea = yield* write(written("tea"))
      const milk = yield* write(written("milk"))
      yield* TestClock.adjust("20 days")
      yield* used([milk.id])
      yield* TestClock.adjust("9 days")
      assert.deepStrictEqual(yield* ids({}), [milk.id, tea.id])
      yield* TestClock.adjust("2 days")
      assert.deepStrictEqual(yield* ids({}), [milk.id])
      const settings = yield* GatewaySettings.GatewaySettings
      yield* settings.patch({ memory: { retentionDays: 5 } })
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* ids({}), [])
    }).pipe(Effect.provide(memories))
  )

  it.effect("finds words in any form, replaces what has the same key, and makes the index anew", () =>
    Effect.gen(function* () {
      const { counts, get, reindex, replace, search, write } = yield* Memories.Memories
      const { id } = yield* write(written("testing compilers"))
      const found = (text: string) =>
        Effect.map(search({ apiKeyId: null }, text, 5), (all) => all.map((each) => each.id))
      assert.deepStrictEqual(yield* found("Which COMPILER was tested?"), [id])
      assert.deepStrictEqual(yield* found("nothing of it"), [])
      const again = yield* write(written("testing compilers"))
      assert.strictEqual(again.id, id)
      const changed = { ...again, content: "I like linkers." }
      assert.isTrue(yield* replace(changed))
      assert.deepStrictEqual(yield* found("a linker"), [id])
      assert.strictEqual((yield* get(id))?.content, "I like linkers.")
      assert.strictEqual(yield* reindex, 1)
      assert.deepInclude(yield* counts, { entries: 1, indexed: 1 })
      assert.deepStrictEqual(yield* found("linkers"), [id])
    }).pipe(Effect.provide(memories))
  )

  it.effect("puts a memory that was changed into no session as it was", () =>
    Effect.gen(function* () {
      const { blocks, remove, replace, write } = yield* Memories.Memories
      const tea = yield* write({ ...written("tea"), source: "added" })
      const block = { text: "BLOCK", ids: [tea.id], tokens: 1, place: "before" as const }
      const put = () => blocks.put("turn", block, 0)
      put()
      yield* write({ ...written("tea"), source: "added" })
      assert.strictEqual(blocks.at("turn", 0), block)
      yield* write({ ...written("tea"), source: "added", content: "I like coffee." })
      assert.isUndefined(blocks.at("turn", 0))
      put()
      yield* replace({ ...tea, content: "I like water." })
      assert.isUndefined(blocks.at("turn", 0))
      put()
      yield* remove(tea.id)
      assert.isUndefined(blocks.at("turn", 0))
    }).pipe(Effect.provide(memories))
  )
})
