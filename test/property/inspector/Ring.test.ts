import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import { bytesOfBodies, bytesOfHead, Ring } from "../../../src/observe/inspector/Ring.ts"
import { aHead } from "../../support/TrafficRecords.ts"

const run = { seed: 20_261_124, numRuns: 500 }

const body = FC.oneof(
  FC.constant(null),
  FC.integer({ min: 0, max: 6_000 }).map((length) => Buffer.alloc(length, 120))
)
const step = FC.oneof(
  FC.record({
    _tag: FC.constant("set" as const),
    id: FC.nat(12).map(String),
    annotation: FC.oneof(FC.constant(null), FC.string({ maxLength: 300 })),
    bodies: FC.oneof(FC.constant(undefined), FC.record({ requestBody: body, responseBody: body }))
  }),
  FC.record({ _tag: FC.constant("remove" as const), id: FC.nat(12).map(String) }),
  FC.record({ _tag: FC.constant("clear" as const) })
)
const limits = FC.record({
  maxEntries: FC.integer({ min: 1, max: 8 }),
  maxBytes: FC.integer({ min: 1_000, max: 40_000 })
})

const weigh = (ring: Ring): number => {
  let bytes = 0
  for (const { bodies, head } of ring.newest()) bytes += bytesOfHead(head) + bytesOfBodies(bodies)
  return bytes
}

describe("Ring", () => {
  it("never exceeds its limits, and its sum of bytes is that of what it holds", () => {
    FC.assert(
      FC.property(limits, FC.array(step, { maxLength: 80 }), (bounds, steps) => {
        const ring = new Ring(bounds)
        for (const each of steps) {
          if (each._tag === "clear") ring.clear()
          else if (each._tag === "remove") ring.remove(each.id)
          else ring.set(aHead({ id: each.id, annotation: each.annotation }), each.bodies)
          assert.isAtMost(ring.size, bounds.maxEntries)
          assert.isAtMost(ring.bytes, bounds.maxBytes)
          assert.strictEqual(ring.bytes, weigh(ring))
          const seqs = [...ring.newest()].map(({ seq }) => seq)
          assert.deepStrictEqual(
            seqs,
            seqs.toSorted((a, b) => b - a)
          )
          assert.strictEqual(seqs.length, ring.size)
        }
      }),
      run
    )
  })

  it("takes the bodies of the oldest first: no record keeps its own while a newer one has lost them", () => {
    const size = FC.integer({ min: 1, max: 4_000 })
    FC.assert(
      FC.property(FC.array(size, { minLength: 1, maxLength: 40 }), (sizes) => {
        const ring = new Ring({ maxEntries: 100, maxBytes: 80_000 })
        sizes.forEach((length, at) =>
          ring.set(aHead({ id: String(at) }), { requestBody: Buffer.alloc(length), responseBody: null })
        )
        const evicted = [...ring.newest()].map(({ head }) => head.bodyEvicted)
        assert.deepStrictEqual(evicted, evicted.toSorted())
        for (const { bodies, head } of ring.newest()) assert.strictEqual(head.bodyEvicted, bytesOfBodies(bodies) === 0)
      }),
      run
    )
  })
})
