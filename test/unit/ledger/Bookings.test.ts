/** Each request of a worker is booked once, in whatever order its report and its row come. */
import { assert, describe, it } from "@effect/vitest"
import { Bookings } from "../../../src/plane/state/ledger/Bookings.ts"

describe("Bookings", () => {
  it("books a report, and nothing when it comes again, before its row or behind it", () => {
    const bookings = new Bookings<string>()
    assert.isTrue(bookings.report("1.1", 1, "r1", "first"))
    assert.isFalse(bookings.report("1.1", 1, "r1", "again"))
    bookings.row("1.1", "r1", "by its row")
    assert.isFalse(bookings.report("1.1", 1, "r1", "again"))
    assert.deepStrictEqual(bookings.end("1.1"), [])
  })

  it("books a row at the end of its worker where no report has come", () => {
    const bookings = new Bookings<string>()
    bookings.row("1.1", "r1", "by its row")
    bookings.row("1.1", "r2", "by its row, too")
    bookings.row("2.1", "r3", "of another worker")
    assert.isTrue(bookings.report("1.1", 1, "r2", "by its report"))
    assert.deepStrictEqual(bookings.end("1.1"), ["by its row"])
    assert.deepStrictEqual(bookings.end("1.1"), [])
  })

  it("names what waits for its row", () => {
    const bookings = new Bookings<string>()
    bookings.report("1.1", 1, "r1", "first")
    bookings.report("1.1", 2, "r2", "second")
    bookings.row("1.1", "r1", "by its row")
    assert.deepStrictEqual([...bookings.waiting()], ["second"])
    assert.strictEqual(bookings.take("r2"), "second")
    assert.deepStrictEqual([...bookings.waiting()], [])
    assert.strictEqual(bookings.latest("1.1"), 2)
  })
})
