import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { noTokens, type TokenCounts } from "../../../../src/contract/domain/Usage.ts"
import { believed, isPlain, type Seen } from "../../../../src/plane/settle/Belief.ts"

const seen = (more: Partial<Seen> = {}): Seen => ({
  textBytes: 100,
  estimatedIn: () => 20,
  tokensElsewhere: () => 0,
  visibleChars: 50,
  unseenOut: () => 0,
  hasServerTools: () => false,
  units: null,
  ...more
})

const own: TokenCounts = { ...noTokens, in: 20, out: 12 }
const booked = (told: Partial<TokenCounts>, more: Partial<Seen> = {}): TokenCounts =>
  believed({ ...noTokens, in: 10, out: 10, ...told }, seen(more), () => own)

describe("what is believed of an upstream's count", () => {
  it("is all of one that can be, as the same object", () => {
    const told = { ...noTokens, in: 4_196, out: 1_224, cacheRead: 4_000, cacheWrite: 100, reasoning: 1_000 }
    assert.strictEqual(
      believed(told, seen(), () => own),
      told
    )
  })

  it("is all of one that is plain", () => {
    const count = FastCheck.oneof(
      FastCheck.nat(4),
      FastCheck.integer({ min: -5, max: 6_000 }),
      FastCheck.integer({ min: 1_000, max: 1_300 }),
      FastCheck.constantFrom(Number.NaN, 4_196, 4_197, 1_224, 1_225)
    )
    const counts = FastCheck.record({ in: count, out: count, cacheRead: count, cacheWrite: count, reasoning: count })
    let plain = 0
    FastCheck.assert(
      FastCheck.property(counts, (told) => {
        const whole = { ...noTokens, ...told }
        if (!isPlain(whole, seen())) return
        plain += 1
        assert.strictEqual(
          believed(whole, seen(), () => own),
          whole
        )
      }),
      { numRuns: 5_000, seed: 7 }
    )
    assert.isAbove(plain, 50)
  })

  it("is no prompt that is larger than what was sent, and nothing of its parts", () => {
    const told = { in: 4_197, cacheRead: 4_000, cacheWrite: 100, cacheWrite1h: 100 }
    assert.deepStrictEqual(booked(told), { ...noTokens, in: 20, out: 10 })
    // The estimate allows for it: pictures and sound take few bytes of text.
    assert.strictEqual(booked({ in: 9_000 }, { estimatedIn: () => 2_000 }).in, 9_000)
    // The request names what lies elsewhere.
    assert.strictEqual(booked({ in: 100_000 }, { tokensElsewhere: () => 128_000 }).in, 100_000)
    assert.strictEqual(booked({ in: 128_001 }, { tokensElsewhere: () => 128_000 }).in, 20)
  })

  it("is no answer that is longer than what came, but for what cannot be seen", () => {
    assert.deepStrictEqual(booked({ out: 1_225, reasoning: 1_200 }), { ...noTokens, in: 10, out: 12 })
    assert.strictEqual(booked({ out: 5_224 }, { unseenOut: () => 4_000 }).out, 5_224)
    assert.strictEqual(booked({ out: 5_225 }, { unseenOut: () => 4_000 }).out, 12)
  })

  it("has its parts within their wholes", () => {
    assert.deepStrictEqual(booked({ cacheRead: 50, cacheWrite: 7, reasoning: 99 }), {
      ...noTokens,
      in: 10,
      out: 10,
      cacheRead: 10,
      cacheWrite: 0,
      reasoning: 10
    })
  })

  it("are units of what was asked for", () => {
    const units = { images: { count: 2, size: null, quality: null }, seconds: 10, characters: 100, searchUnits: 1 }
    const told = {
      images: { count: 13, size: "1024x1024", quality: null },
      seconds: 101,
      characters: 1_425,
      searchUnits: 15
    }
    assert.deepStrictEqual(booked({ units: told }, { units }).units, {
      ...units,
      images: { ...told.images, count: 2 }
    })
    const fair = { images: { count: 12, size: null, quality: null }, seconds: 100, characters: 1_424, searchUnits: 14 }
    assert.strictEqual(booked({ units: fair }, { units }).units, fair)
    assert.strictEqual(booked({ units: told }).units, told)
  })

  it("is never more than what can be, whatever is told", () => {
    const count = FastCheck.oneof(
      FastCheck.double(),
      FastCheck.integer(),
      FastCheck.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1, 1e9, 1e308)
    )
    FastCheck.assert(
      FastCheck.property(
        FastCheck.record({ in: count, out: count, cacheRead: count, cacheWrite: count, reasoning: count }),
        (told) => {
          const tokens = believed(told, seen(), () => own)
          const { in: read, out, cacheRead, cacheWrite, reasoning } = tokens
          for (const each of [read, out, cacheRead, cacheWrite, reasoning])
            assert.isTrue(Number.isFinite(each) && each >= 0)
          assert.isAtMost(read, 4_196)
          assert.isAtMost(out, 1_224)
          assert.isAtMost(cacheRead + cacheWrite, read)
          assert.isAtMost(reasoning, out)
        }
      ),
      { numRuns: 500, seed: 3 }
    )
  })
})
