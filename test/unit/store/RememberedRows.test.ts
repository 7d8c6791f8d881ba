import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { StoreError } from "../../../src/store/Errors.ts"
import * as RememberedRows from "../../../src/store/engine/RememberedRows.ts"

interface Row {
  readonly id: string
  readonly at: number
}

/** A table in memory that counts how it is read. */
const makeTable = () => {
  const table = new Map<string, Row>()
  const reads = { all: 0, one: 0 }
  let broken = false
  const read = <A>(value: () => A) =>
    Effect.suspend(() =>
      broken ? Effect.fail(new StoreError({ operation: "read", cause: "broken" })) : Effect.sync(value)
    )
  const order = (a: Row, b: Row) => a.at - b.at
  const rows = RememberedRows.make<Row>({
    watched: null,
    keyOf: ({ id }) => id,
    all: read(() => {
      reads.all += 1
      return [...table.values()].sort(order)
    }),
    one: (id) =>
      read(() => {
        reads.one += 1
        return table.get(id) ?? null
      }),
    order
  })
  return {
    rows,
    reads,
    breaks: (now: boolean) => (broken = now),
    put: (row: Row) => rows.writing(row.id)(Effect.sync(() => void table.set(row.id, row))),
    remove: (id: string) => rows.writing(id)(Effect.sync(() => table.delete(id)))
  }
}

const ids = (rows: ReadonlyArray<Row>) => rows.map(({ id }) => id).join("")

describe("RememberedRows", () => {
  it.effect("reads all once, and then only what was written", () =>
    Effect.gen(function* () {
      const { put, reads, remove, rows } = makeTable()
      for (const [at, id] of [..."abc"].entries()) yield* put({ id, at })
      const first = yield* rows.list
      assert.strictEqual(ids(first), "abc")
      assert.strictEqual(yield* rows.list, first)
      yield* put({ id: "b", at: 9 })
      yield* put({ id: "x", at: 0.5 })
      yield* remove("c")
      const second = yield* rows.list
      assert.strictEqual(ids(second), "axb")
      assert.strictEqual(second[0], first[0])
      assert.deepStrictEqual(reads, { all: 1, one: 3 })
    })
  )

  it.effect("a write that failed is read again, too: it may have come through", () =>
    Effect.gen(function* () {
      const { put, reads, rows } = makeTable()
      yield* put({ id: "a", at: 0 })
      yield* rows.list
      yield* Effect.ignore(rows.writing("a")(Effect.fail("too late")))
      yield* Effect.exit(rows.writing("b")(Effect.die("broken")))
      yield* rows.list
      assert.strictEqual(reads.one, 2)
    })
  )

  it.effect("what could not be read is read the next time", () =>
    Effect.gen(function* () {
      const { breaks, put, rows } = makeTable()
      yield* put({ id: "a", at: 0 })
      yield* rows.list
      yield* put({ id: "a", at: 5 })
      breaks(true)
      assert.instanceOf(yield* Effect.flip(rows.list), StoreError)
      breaks(false)
      assert.deepStrictEqual(yield* rows.list, [{ id: "a", at: 5 }])
    })
  )

  it.effect("after very many writes one statement reads everything", () =>
    Effect.gen(function* () {
      const { put, reads, rows } = makeTable()
      yield* rows.list
      for (let at = 0; at < 200; at += 1) yield* put({ id: `r${at}`, at })
      assert.lengthOf(yield* rows.list, 200)
      assert.deepStrictEqual(reads, { all: 2, one: 0 })
    })
  )

  it.effect("a list after a write includes it, while others list as well", () =>
    Effect.gen(function* () {
      const { put, rows } = makeTable()
      yield* rows.list
      const seen = yield* Effect.forEach(
        Array.from({ length: 40 }, (_, at) => at),
        (at) =>
          Effect.map(
            Effect.zipRight(Effect.zipRight(put({ id: `r${at}`, at }), Effect.yieldNow()), rows.list),
            (list) => list.some(({ id }) => id === `r${at}`)
          ),
        { concurrency: "unbounded" }
      )
      assert.isTrue(seen.every(Boolean))
    })
  )
})
