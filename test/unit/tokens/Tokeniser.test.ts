import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { encode } from "gpt-tokenizer/encoding/cl100k_base"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as Timers from "../../../src/platform/Timers.ts"
import {
  estimateBySize,
  extrapolate,
  headOf,
  makeWith,
  maxDecodedTokens,
  usualLimits
} from "../../../src/plane/tokens/Tokeniser.ts"
import * as TestTimers from "../../support/TestTimers.ts"

const tokeniser = (limits: Partial<typeof usualLimits> = {}) => makeWith({ ...usualLimits, ...limits })

const english = "The quick brown fox doesn't jump over 12345 lazy dogs.\n\n  Twice, even?  ".repeat(300)
const code =
  'export const sum = (xs: ReadonlyArray<number>): number => xs.reduce((a, b) => a + b, 0) // "é" \u{1f600}\n'

describe("counting on the thread", () => {
  it.scopedLive("gives what the vocabulary gives", () =>
    Effect.gen(function* () {
      const { count } = yield* tokeniser()
      assert.strictEqual(yield* count(["hello world"]), 2)
      assert.strictEqual(yield* count([english]), countTokens(english))
      assert.strictEqual(yield* count([code.repeat(200)]), countTokens(code.repeat(200)))
      assert.strictEqual(yield* count(["hello", "", " world"]), 2)
      assert.strictEqual(yield* count([]), 0)
      assert.strictEqual(yield* count([""]), 0)
    }).pipe(Effect.provide(Timers.layer))
  )

  it.scopedLive("takes marks of the vocabulary for text", () =>
    Effect.gen(function* () {
      const { count } = yield* tokeniser()
      const text = "<|endoftext|>"
      assert.strictEqual(yield* count([text]), countTokens(text, { disallowedSpecial: new Set() }))
      assert.isAbove(yield* count([text]), 1)
    }).pipe(Effect.provide(Timers.layer))
  )

  // Each of these takes the bare tokeniser from many seconds to minutes.
  const hostile: Readonly<Record<string, readonly [text: string, tokens: number]>> = {
    "one letter": ["a".repeat(100_000), 12_500],
    "one sign": ["!".repeat(100_000), 6_250],
    "line breaks": ["\n".repeat(100_000), 6_250],
    "a short line": ["a\n".repeat(50_000), 100_000],
    "halves of pairs": ["\ud800".repeat(100_000), 12_500]
  }
  for (const [name, [text, tokens]] of Object.entries(hostile)) {
    it.scopedLive(`counts 100,000 times ${name}`, () =>
      Effect.gen(function* () {
        const { count } = yield* tokeniser({ budgetMs: 15_000, patienceMs: 18_000 })
        const counted = yield* count([text])
        assert.isAtLeast(counted, tokens)
        assert.isAtMost(counted, tokens * 1.05)
      }).pipe(Effect.provide(Timers.layer))
    )
  }

  it.scopedLive("never cuts a character of two units in half", () =>
    Effect.gen(function* () {
      const { count } = yield* tokeniser()
      const pair = "\u{1f600}"
      // 1, 3, 5 … units before the pairs, so that a cut after 512 would fall into the middle of one.
      const one = yield* count([`a${pair.repeat(255)}`])
      assert.strictEqual(one, countTokens(`a${pair.repeat(255)}`))
      const many = yield* count([`a${pair.repeat(256)}`])
      assert.isAtMost(many, countTokens(`a${pair.repeat(256)}`) + 1)
    }).pipe(Effect.provide(Timers.layer))
  )
})

describe("decoding on the thread", () => {
  it.scopedLive("gives the texts of OpenAI's token ids, and goes on counting", () =>
    Effect.gen(function* () {
      const { count, decode } = yield* tokeniser()
      const texts = ["Gr\u00fc\u00dfe \u{1f600} ok", "a gateway"]
      const tokens = texts.map((text) => encode(text))
      assert.deepStrictEqual(yield* decode(tokens), texts)
      assert.strictEqual(yield* count(["hello world"]), 2)
    }).pipe(Effect.provide(Timers.layer))
  )

  it.scopedLive("refuses ids that are none, and too many", () =>
    Effect.gen(function* () {
      const { decode } = yield* tokeniser()
      for (const id of [999_999, -1, Number.MAX_SAFE_INTEGER]) {
        assert.strictEqual((yield* Effect.flip(decode([[1, id]]))).reason, "unknown", `${id}`)
      }
      const many = Array.from({ length: maxDecodedTokens + 1 }, () => 1)
      assert.strictEqual((yield* Effect.flip(decode([many]))).reason, "too_many")
    }).pipe(Effect.provide(Timers.layer))
  )

  it.scopedLive("is refused while the queue is full", () =>
    Effect.gen(function* () {
      const { decode } = yield* tokeniser({ maxWaiting: 0 })
      assert.strictEqual((yield* Effect.flip(decode([[1]]))).reason, "busy")
    }).pipe(Effect.provide(Timers.layer))
  )
})

describe("limits", () => {
  it.scopedLive("what is over the character limit is estimated by the ratio of the rest", () =>
    Effect.gen(function* () {
      const { count } = yield* tokeniser({ maxChars: 8_000 })
      assert.strictEqual(yield* count(["a".repeat(80_000)]), 10_000)
    }).pipe(Effect.provide(Timers.layer))
  )

  it.scopedLive("a count that gets no time is estimated by size", () =>
    Effect.gen(function* () {
      const { count } = yield* tokeniser({ budgetMs: -1 })
      assert.strictEqual(yield* count([english]), estimateBySize([english]))
    }).pipe(Effect.provide(Timers.layer))
  )

  it.scopedLive("a full queue is answered by size", () =>
    Effect.gen(function* () {
      const { count } = yield* tokeniser({ maxWaiting: 0 })
      assert.strictEqual(yield* count([english]), estimateBySize([english]))
    }).pipe(Effect.provide(Timers.layer))
  )

  it.scopedLive("a thread that does not answer is given up, and the next count has a new one", () => {
    let isFirst = true
    const timers = Timers.Timers.of({
      ...Timers.make,
      after: (delayMs, run) => {
        if (delayMs !== usualLimits.patienceMs || !isFirst) return Timers.make.after(delayMs, run)
        isFirst = false
        queueMicrotask(run)
        return { restart: () => {}, cancel: () => {} }
      }
    })
    return Effect.gen(function* () {
      const { count } = yield* tokeniser()
      assert.strictEqual(yield* count([english]), estimateBySize([english]))
      assert.strictEqual(yield* count([english]), countTokens(english))
    }).pipe(Effect.provide(Layer.succeed(Timers.Timers, timers)))
  })

  it.scoped("starts a new thread after it was idle", () =>
    Effect.gen(function* () {
      const { count } = yield* tokeniser()
      yield* count(["hello world"])
      yield* TestClock.adjust(usualLimits.idleMs)
      assert.strictEqual(yield* count(["hello world"]), 2)
    }).pipe(Effect.provide(TestTimers.layer))
  )

  it.scopedLive("interruption gives the place in the queue back", () =>
    Effect.gen(function* () {
      const { count } = yield* tokeniser({ maxWaiting: 1 })
      const first = yield* Effect.fork(count([english.repeat(20)]))
      yield* Effect.yieldNow()
      const second = yield* Effect.fork(count([english]))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(second)
      assert.strictEqual(yield* count([english]), countTokens(english))
      assert.strictEqual(yield* Fiber.join(first), countTokens(english.repeat(20)))
    }).pipe(Effect.provide(Timers.layer))
  )
})

describe("estimates", () => {
  it("the head is as long as it may be", () => {
    assert.deepStrictEqual(headOf(["abc", "", "def", "ghi"], 5), ["abc", "de"])
    assert.deepStrictEqual(headOf(["abc"], 0), [])
  })

  it("the whole follows from its counted part", () => {
    assert.strictEqual(extrapolate(["x".repeat(100)], { tokens: 10, chars: 100 }), 10)
    assert.strictEqual(extrapolate(["x".repeat(50), "y".repeat(50)], { tokens: 10, chars: 25 }), 40)
    assert.strictEqual(extrapolate(["x".repeat(33)], null), 10)
  })
})
