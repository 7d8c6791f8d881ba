import { assert, describe, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import { formatKey, hashKey, isWellFormed, prefixOf } from "../../../src/subjects/auth/KeyFormat.ts"
import { isGatewayKey } from "../../../src/kernel/secrets/GatewayKey.ts"

const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })

describe("KeyFormat", () => {
  it("writes gw_, 43 characters of key and 6 of checksum", () => {
    fc.assert(
      fc.property(bytes, (random) => {
        const key = formatKey(random)
        assert.match(key, /^gw_[0-9A-Za-z]{49}$/)
        assert.isTrue(isWellFormed(key))
      })
    )
  })

  it("tells a key with one wrong character", () => {
    fc.assert(
      fc.property(bytes, fc.integer({ min: 3, max: 51 }), (random, position) => {
        const key = formatKey(random)
        const other = key[position] === "x" ? "y" : "x"
        assert.isFalse(isWellFormed(`${key.slice(0, position)}${other}${key.slice(position + 1)}`))
      })
    )
  })

  it("gives different keys for different bytes", () => {
    const one = formatKey(new Uint8Array(32))
    const two = formatKey(new Uint8Array(32).fill(1))
    assert.notStrictEqual(one, two)
    assert.strictEqual(prefixOf(one).length, 8)
  })

  it("writes and knows the keys of programs", () => {
    const key = formatKey(new Uint8Array(32).fill(7), "gwr_")
    assert.match(key, /^gwr_[0-9A-Za-z]{49}$/)
    assert.isTrue(isWellFormed(key))
    assert.isFalse(isWellFormed(key.slice(0, -1)))
    assert.isFalse(isWellFormed(key.replace("gwr_", "gw_").slice(0, -1)))
    assert.isTrue(isGatewayKey(`Bearer ${key}`))
  })

  it("knows foreign keys", () => {
    assert.isFalse(isWellFormed("sk-abc"))
    assert.isFalse(isWellFormed("gw_short"))
  })

  it("hashes with SHA-256 in hex", () => {
    assert.strictEqual(hashKey("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  })
})
