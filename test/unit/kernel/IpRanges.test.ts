import { assert, describe, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import { isIpRange, makeIpRanges } from "../../../src/kernel/IpRanges.ts"

const v4Of = (bits: number): string => [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join(".")
const v6Of = (bits: bigint): string =>
  Array.from({ length: 8 }, (_, at) => ((bits >> BigInt(112 - at * 16)) & 0xffffn).toString(16)).join(":")

describe("makeIpRanges", () => {
  it("agrees with a comparison of the leading bits", () => {
    // Few distinct bits, so that addresses often share a beginning.
    const v4 = fc.integer({ min: 0, max: 0xffffffff })
    const near = fc.integer({ min: 0, max: 31 })
    fc.assert(
      fc.property(v4, near, fc.integer({ min: 0, max: 32 }), (base, flip, length) => {
        const other = (base ^ (1 << flip)) >>> 0
        const isIn = makeIpRanges([`${v4Of(base)}/${length}`])
        const expected = 31 - flip >= length
        assert.isTrue(isIn(v4Of(base)))
        assert.strictEqual(isIn(v4Of(other)), expected)
        assert.strictEqual(isIn(`::ffff:${v4Of(other)}`), expected)
      }),
      { seed: 14, numRuns: 500 }
    )
    const v6 = fc.bigInt({ min: 0x2000n << 112n, max: (0x3fffn << 112n) - 1n })
    fc.assert(
      fc.property(v6, fc.integer({ min: 0, max: 127 }), fc.integer({ min: 0, max: 128 }), (base, flip, length) => {
        const isIn = makeIpRanges([`${v6Of(base)}/${length}`])
        assert.isTrue(isIn(v6Of(base)))
        assert.strictEqual(isIn(v6Of(base ^ (1n << BigInt(flip)))), 127 - flip >= length)
      }),
      { seed: 14, numRuns: 500 }
    )
  })

  it("takes an IPv4 address written as an IPv6 one for the same, and keeps the families apart", () => {
    assert.isTrue(makeIpRanges(["::ffff:10.0.0.0/104"])("10.9.9.9"))
    assert.isTrue(makeIpRanges(["::ffff:a00:1"])("10.0.0.1"))
    assert.isTrue(makeIpRanges(["10.0.0.1"])("::ffff:10.0.0.1"))
    assert.isFalse(makeIpRanges(["::/0"])("10.0.0.1"))
    assert.isFalse(makeIpRanges(["0.0.0.0/0"])("2001:db8::1"))
    assert.isTrue(makeIpRanges(["fe80::/10"])("fe80::1%eth0"))
    assert.isFalse(makeIpRanges(["0.0.0.0/0"])("no address"))
  })

  it("knows what is no range", () => {
    for (const text of [
      "",
      "10.0.0.1/33",
      "10.0.0/8",
      "::1/129",
      "10.0.0.1/",
      "10.0.0.1/-1",
      "a.b",
      "1/2/3",
      "fe80::1%e"
    ]) {
      assert.isFalse(isIpRange(text), text)
    }
    for (const text of ["10.0.0.1", "10.0.0.0/8", "::1", "2001:db8::/32", "::ffff:10.0.0.0/96"]) {
      assert.isTrue(isIpRange(text), text)
    }
    assert.isFalse(isIpRange("1".repeat(100_000)))
  })
})
