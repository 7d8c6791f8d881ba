import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { blankMemory, type StrategyMemory } from "../../../../src/plane/routing/candidate/Strategy.ts"
import * as RouterMemory from "../../../../src/plane/routing/decide/RouterMemory.ts"
import { StoreError } from "../../../../src/store/Errors.ts"
import { RouterMemoryRepo } from "../../../../src/subjects/routing/RouterMemoryRepo.ts"
import { started } from "../../resilience/support.ts"
import { reposInMemory } from "../../store/fixtures.ts"

const running = started(RouterMemory.RouterMemory, RouterMemory.layer)

const full: StrategyMemory = {
  turns: 17,
  sticky: { key: "c1\u0000m", left: 2 },
  deck: ["c2", "c3"],
  lastDealt: "c1",
  lastKnownGood: { connectionId: "c1", model: "m" },
  credits: { c1: -0.25, c2: 0.25 }
}

describe("RouterMemory", () => {
  it.scoped("remembers at once what is kept, by key", () =>
    Effect.gen(function* () {
      const memory = yield* running
      assert.deepStrictEqual(memory.of("auto"), blankMemory)
      memory.keep("auto", full)
      assert.strictEqual(memory.of("auto"), full)
      assert.deepStrictEqual(memory.of("auto/fast"), blankMemory)
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("a restart goes on where it was, also without a flush", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const memory = yield* running
          memory.keep("combo", { ...full, turns: 16 })
          memory.keep("combo", full)
          memory.keep("auto/lkgp", { ...blankMemory, lastKnownGood: full.lastKnownGood })
        })
      )
      yield* Effect.scoped(
        Effect.gen(function* () {
          const memory = yield* running
          assert.deepStrictEqual(memory.of("combo"), full)
          assert.deepStrictEqual(memory.of("auto/lkgp").lastKnownGood, { connectionId: "c1", model: "m" })
        })
      )
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("a row that cannot be read is dropped, the others are not", () =>
    Effect.gen(function* () {
      const repo = yield* RouterMemoryRepo
      yield* repo.save("good", JSON.stringify(full))
      for (const [key, state] of [
        ["no json", "{"],
        ["null", "null"],
        ["other shape", JSON.stringify({ ...full, turns: "many" })],
        ["negative turns", JSON.stringify({ ...full, turns: -1 })],
        ["no number", JSON.stringify({ ...full, credits: { c1: null } })]
      ] as const) {
        yield* repo.save(key, state)
      }
      yield* Effect.scoped(
        Effect.gen(function* () {
          const memory = yield* running
          assert.deepStrictEqual(memory.of("good"), full)
          assert.deepStrictEqual(memory.of("other shape"), blankMemory)
          yield* memory.flush
          assert.deepStrictEqual(
            (yield* repo.list).map(({ key }) => key),
            ["good"]
          )
        })
      )
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("stays bounded, in memory and in the store; the longest unchanged goes first", () =>
    Effect.gen(function* () {
      const repo = yield* RouterMemoryRepo
      const memory = yield* running
      memory.keep("first", full)
      memory.keep("second", full)
      yield* memory.flush
      for (let n = 0; n < RouterMemory.capacity - 1; n += 1) memory.keep(`combo-${n}`, full)
      assert.deepStrictEqual(memory.of("first"), blankMemory)
      assert.deepStrictEqual(memory.of("second"), full)
      memory.keep("second", { ...full, turns: 18 })
      memory.keep("one more", full)
      assert.strictEqual(memory.of("second").turns, 18)
      assert.deepStrictEqual(memory.of("combo-0"), blankMemory)
      yield* memory.flush
      const keys = (yield* repo.list).map(({ key }) => key)
      assert.lengthOf(keys, RouterMemory.capacity)
      assert.notInclude(keys, "first")
      memory.keep("x".repeat(501), full)
      assert.deepStrictEqual(memory.of("x".repeat(501)), blankMemory)
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("a store that fails does not disturb the strategies, and is told again", () =>
    Effect.gen(function* () {
      let works = false
      const saved: Array<string> = []
      const repo = RouterMemoryRepo.of({
        list: Effect.succeed([]),
        save: (key) =>
          Effect.suspend(() => {
            if (!works) return Effect.fail(new StoreError({ operation: "save", cause: "full" }))
            saved.push(key)
            return Effect.void
          }),
        remove: () => Effect.void
      })
      const repos = Layer.merge(reposInMemory, Layer.succeed(RouterMemoryRepo, repo))
      const memory = yield* running.pipe(Effect.provide(repos))
      memory.keep("combo", full)
      yield* memory.flush
      assert.strictEqual(memory.of("combo"), full)
      assert.deepStrictEqual(saved, [])
      works = true
      yield* memory.flush
      assert.deepStrictEqual(saved, ["combo"])
    })
  )
})
