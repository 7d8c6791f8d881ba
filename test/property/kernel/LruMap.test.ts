import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import { LruMap } from "../../../src/kernel/collections/LruMap.ts"

const run = { seed: 20_261_122, numRuns: 1_000 }
const key = FC.nat(7)
const step = FC.oneof(
  FC.record({ _tag: FC.constant("set" as const), key, value: FC.nat(5) }),
  FC.record({ _tag: FC.constantFrom("get" as const, "peek" as const, "delete" as const), key }),
  FC.record({ _tag: FC.constantFrom("deleteOldest" as const, "deleteExpired" as const, "clear" as const) }),
  FC.record({ _tag: FC.constant("prune" as const), above: FC.nat(5) }),
  FC.record({ _tag: FC.constant("pass" as const), ms: FC.nat(40) })
)
const options = FC.record({
  capacity: FC.integer({ min: 1, max: 6 }),
  maxWeight: FC.oneof(FC.constant(undefined), FC.integer({ min: 0, max: 15 })),
  ttlMs: FC.oneof(FC.constant(undefined), FC.integer({ min: 1, max: 60 }))
})

interface Entry {
  readonly key: number
  readonly value: number
  readonly setMs: number
}

describe("LruMap", () => {
  it("does what a list in the order of use does, whatever happens to it", () => {
    FC.assert(
      FC.property(options, FC.array(step, { maxLength: 80 }), ({ capacity, maxWeight, ttlMs }, steps) => {
        const gone: Array<number> = []
        const map = new LruMap<number, number>({
          capacity,
          onRemove: (removed) => void gone.push(removed),
          ...(maxWeight === undefined ? {} : { maxWeight, weightOf: (value: number) => value }),
          ...(ttlMs === undefined ? {} : { ttlMs })
        })
        let list: ReadonlyArray<Entry> = []
        const expectedGone: Array<number> = []
        let nowMs = 1_000
        const isExpired = ({ setMs }: Entry): boolean => ttlMs !== undefined && nowMs >= setMs + ttlMs
        const isTooMuch = (): boolean =>
          list.length > capacity ||
          (maxWeight !== undefined && list.reduce((sum, { value }) => sum + value, 0) > maxWeight)
        const remove = (entry: Entry): void => {
          list = list.filter((each) => each !== entry)
          expectedGone.push(entry.key)
        }
        /** The live entry; an expired one leaves when it is met. */
        const met = (wanted: number): Entry | undefined => {
          const entry = list.find((each) => each.key === wanted)
          if (entry === undefined || !isExpired(entry)) return entry
          remove(entry)
          return undefined
        }
        for (const each of steps) {
          switch (each._tag) {
            case "set": {
              map.set(each.key, each.value, nowMs)
              list = [...list.filter(({ key: other }) => other !== each.key), { ...each, setMs: nowMs }]
              while (isTooMuch()) for (const oldest of list.slice(0, 1)) remove(oldest)
              break
            }
            case "get": {
              const entry = met(each.key)
              assert.strictEqual(map.get(each.key, nowMs), entry?.value)
              if (entry !== undefined) list = [...list.filter((other) => other !== entry), entry]
              break
            }
            case "peek": {
              assert.strictEqual(map.peek(each.key, nowMs), met(each.key)?.value)
              break
            }
            case "delete": {
              const entry = list.find((other) => other.key === each.key)
              assert.strictEqual(map.delete(each.key), entry !== undefined)
              if (entry !== undefined) remove(entry)
              break
            }
            case "deleteOldest": {
              map.deleteOldest()
              for (const oldest of list.slice(0, 1)) remove(oldest)
              break
            }
            case "deleteExpired": {
              map.deleteExpired(nowMs)
              if (ttlMs === undefined) break
              for (let [oldest] = list; oldest !== undefined && isExpired(oldest); [oldest] = list) remove(oldest)
              break
            }
            case "prune": {
              map.prune((value) => value > each.above)
              for (const entry of list) if (entry.value > each.above) remove(entry)
              break
            }
            case "clear": {
              map.clear()
              for (const entry of list) remove(entry)
              break
            }
            case "pass":
              nowMs += each.ms
          }
          assert.deepStrictEqual(
            [...map],
            list.map(({ key: known, value }) => [known, value])
          )
          assert.strictEqual(map.size, list.length)
          assert.strictEqual(map.isFull, list.length >= capacity)
          if (maxWeight !== undefined)
            assert.strictEqual(
              map.weight,
              list.reduce((sum, { value }) => sum + value, 0)
            )
        }
        assert.deepStrictEqual(gone, expectedGone)
      }),
      run
    )
  })
})
