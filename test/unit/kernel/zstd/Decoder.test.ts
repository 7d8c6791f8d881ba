/** zstd as the reference implementation writes it, cut anywhere, damaged, and made to do harm. */
import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { Damaged } from "../../../../src/kernel/zstd/Bits.ts"
import { maxWindowBytes, ZstdDecoder } from "../../../../src/kernel/zstd/Decoder.ts"
import { zstdRuns, zstdStored } from "../../../support/Compressed.ts"

interface Sample {
  readonly name: string
  readonly bytes: number
  readonly sha256: string
  readonly zstd: string
}

const { samples } = JSON.parse(readFileSync(new URL("../../../fixtures/zstd.json", import.meta.url), "utf8")) as {
  readonly samples: ReadonlyArray<Sample>
}

const decode = (bytes: Buffer, step = bytes.length): Buffer => {
  const blocks: Array<Buffer> = []
  const decoder = new ZstdDecoder((block) => void blocks.push(block))
  for (let at = 0; at < bytes.length; at += Math.max(1, step)) decoder.push(bytes.subarray(at, at + Math.max(1, step)))
  decoder.end()
  return Buffer.concat(blocks)
}

const of = ({ zstd }: Sample): Buffer => Buffer.from(zstd, "base64")
const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex")

describe("zstd of the reference implementation", () => {
  for (const sample of samples) {
    it(`is decoded: ${sample.name}`, () => {
      for (const step of [Infinity, 1_000, 7, 1]) {
        const made = decode(of(sample), step)
        assert.deepStrictEqual([made.length, sha256(made)], [sample.bytes, sample.sha256], `in steps of ${step}`)
      }
    })
  }

  it("is decoded frame after frame, past those that are to be skipped", () => {
    const skipped = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3])
    const empty = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0])
    const all = Buffer.concat([
      skipped,
      zstdStored(Buffer.from("one ")),
      empty,
      zstdStored(Buffer.from("two")),
      skipped
    ])
    for (const step of [Infinity, 1]) assert.strictEqual(decode(all, step).toString(), "one two")
  })
})

describe("what is no zstd", () => {
  const texts = samples.filter(({ bytes }) => bytes > 100 && bytes < 10_000)

  it("is damaged wherever it is cut", () => {
    for (const sample of texts) {
      const whole = of(sample)
      for (let length = 1; length < whole.length; length += 1 + Math.floor(whole.length / 200)) {
        assert.throws(() => decode(whole.subarray(0, length)), Damaged, undefined, `${sample.name}, ${length} bytes`)
      }
    }
  })

  it("is damaged or something else where a bit is wrong, and never anything worse", () => {
    let damaged = 0
    for (const sample of texts) {
      const whole = of(sample)
      for (let bit = 0; bit < whole.length * 8; bit += 1 + Math.floor(whole.length / 40)) {
        const wrong = Buffer.from(whole)
        wrong[bit >> 3] = (wrong[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        try {
          decode(wrong)
        } catch (cause) {
          assert.instanceOf(cause, Damaged)
          damaged += 1
        }
      }
    }
    assert.isAbove(damaged, 200)
  })

  const head = [0x28, 0xb5, 0x2f, 0xfd]
  const wrong: Readonly<Record<string, ReadonlyArray<number>>> = {
    "another format": [0x1f, 0x8b, 8, 0],
    "a reserved flag": [...head, 8, 56, 1, 0, 0],
    "a dictionary": [...head, 1, 56, 7, 1, 0, 0],
    "a window of 16 MiB": [...head, 0, 14 << 3, 1, 0, 0],
    "a content of 16 MiB in one piece": [...head, 0xa0, 0, 0, 0, 1, 1, 0, 0],
    "a reserved block": [...head, 0, 56, 7, 0, 0],
    "a block larger than the window": [...head, 0, 0, 0x03, 0x80, 0, 32],
    "an empty compressed block": [...head, 0, 56, 5, 0, 0],
    "something behind its end": [...zstdStored(Buffer.from("a")), 1]
  }
  for (const [name, bytes] of Object.entries(wrong)) {
    it(`is refused: ${name}`, () => {
      assert.throws(() => decode(Buffer.from(bytes)), Damaged)
    })
  }
})

describe("the work of a decoder", () => {
  it("ends when its listener wants nothing more", () => {
    let blocks = 0
    const decoder = new ZstdDecoder(() => {
      blocks += 1
      if (blocks === 3) throw new Damaged("enough")
    })
    assert.throws(() => decoder.push(zstdRuns(10_000)), Damaged)
    assert.strictEqual(blocks, 3)
  })

  it("does not grow with the window for every small block", () => {
    // Stored blocks of one byte in a window of 8 MiB: moving the window for each would copy a terabyte.
    const window = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 13 << 3])
    const one = Buffer.from([8, 0, 0, 97])
    const last = Buffer.from([9, 0, 0, 98])
    const runs = Array.from({ length: 64 }, () =>
      Buffer.from([((131_072 << 3) & 255) | 2, ((131_072 << 3) >> 8) & 255, (131_072 << 3) >> 16, 97])
    )
    const bytes = Buffer.concat([window, ...runs, ...Array.from({ length: 131_072 }, () => one), last])
    assert.strictEqual(maxWindowBytes, 8_388_608)
    assert.strictEqual(decode(bytes).length, 64 * 131_072 + 131_073)
  })
})
