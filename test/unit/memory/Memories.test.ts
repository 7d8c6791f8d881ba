import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { operatorsOwn } from "../../../src/contract/domain/ContentPermission.ts"
import * as GatewaySettings from "../../../src/subjects/flags/StoredFlags.ts"
import * as Memories from "../../../src/plane/memory/Memories.ts"
import * as IdGen from "../../../src/platform/IdGen.ts"
import { MemoryBlockRepo } from "../../../src/subjects/memory/MemoryBlockRepo.ts"
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

/** What is written behind a request is there in one of the next turns of the event loop. */
const found = <A, E>(probe: Effect.Effect<A | undefined, E>) =>
  probe.pipe(Effect.zipLeft(Effect.yieldNow()), Effect.repeat({ until: (value) => value !== undefined, times: 1_000 }))

describe("Memories", () => {
  it.effect("forgets what was neither written nor used for the days of the setting", () =>
    Effect.gen(function* () {
      const { ids, used, write } = yield* Memories.Memories
      const tea = yield* write(operatorsOwn, written("tea"))
      const milk = yield* write(operatorsOwn, written("milk"))
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
      const { id } = yield* write(operatorsOwn, written("testing compilers"))
      const found = (text: string) =>
        Effect.map(search({ apiKeyId: null }, text, 5), (all) => all.map((each) => each.id))
      assert.deepStrictEqual(yield* found("Which COMPILER was tested?"), [id])
      assert.deepStrictEqual(yield* found("nothing of it"), [])
      const again = yield* write(operatorsOwn, written("testing compilers"))
      assert.strictEqual(again.id, id)
      const changed = { ...again, content: "I like linkers." }
      assert.isTrue(yield* replace(operatorsOwn, changed))
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
      const tea = yield* write(operatorsOwn, { ...written("tea"), source: "added" })
      const block = { text: "BLOCK", ids: [tea.id], tokens: 1, place: "before" as const }
      const put = () => blocks.put(null, "turn", block, 0)
      put()
      yield* write(operatorsOwn, { ...written("tea"), source: "added" })
      assert.strictEqual(blocks.at("turn", 0), block)
      yield* write(operatorsOwn, { ...written("tea"), source: "added", content: "I like coffee." })
      assert.isUndefined(blocks.at("turn", 0))
      put()
      yield* replace(operatorsOwn, { ...tea, content: "I like water." })
      assert.isUndefined(blocks.at("turn", 0))
      put()
      yield* remove(tea.id)
      assert.isUndefined(blocks.at("turn", 0))
    }).pipe(Effect.provide(memories))
  )

  it.effect("has the places of memories in sessions on file, until a day after their last use", () =>
    Effect.gen(function* () {
      const repo = yield* MemoryBlockRepo
      const { blocks, write } = yield* Memories.Memories
      const tea = yield* write(operatorsOwn, { ...written("tea"), source: "added" })
      const block = { text: "BLOCK", ids: [tea.id], tokens: 1, place: "before" as const }
      const hourMs = 3_600_000
      const onFile = (atMs: number) => Effect.map(repo.ofTurns(["turn"], atMs - 24 * hourMs), (all) => all.get("turn"))
      blocks.put(null, "turn", block, 0)
      blocks.put(null, "nothing", null, 0)
      yield* found(onFile(0))
      assert.deepStrictEqual(yield* onFile(0), block)
      assert.strictEqual((yield* repo.ofTurns(["nothing"], 0)).size, 0)

      // A use is noted once an hour.
      blocks.used(["turn"], hourMs - 1)
      blocks.used(["turn", "nothing"], 20 * hourMs)
      yield* found(onFile(44 * hourMs))
      assert.isUndefined(yield* onFile(44 * hourMs + 1))
      yield* blocks.sweep(44 * hourMs)
      assert.deepStrictEqual(yield* onFile(0), block)
      yield* blocks.sweep(44 * hourMs + 1)
      assert.isUndefined(yield* onFile(0))
    }).pipe(Effect.provide(memories))
  )

  it.effect("goes on in sessions of before, and decides only for a turn that is the last", () =>
    Effect.gen(function* () {
      const repo = yield* MemoryBlockRepo
      const { blocks, write } = yield* Memories.Memories
      const { id } = yield* write(operatorsOwn, { ...written("tea"), source: "added" })
      const block = { text: "BLOCK", ids: [id], tokens: 1, place: "behindMark" as const }
      yield* repo.save({ turn: "one", apiKeyId: null, block, lastUsedAtMs: 0 })
      const turns = ["one", "two", "three"].map((name, at) => ({
        at,
        name,
        place: "before" as const,
        isLast: at === 2
      }))
      assert.isUndefined(blocks.at("one", 0))
      yield* blocks.load(turns, 0)
      assert.deepStrictEqual(
        turns.map(({ name }) => blocks.at(name, 0)),
        [block, null, undefined]
      )
    }).pipe(Effect.provide(memories))
  )
})
