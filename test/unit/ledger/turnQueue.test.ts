import { assert, describe, it } from "@effect/vitest"
import { Meter } from "../../../src/plane/ledger/Meter.ts"
import { refOfMeter } from "../../../src/plane/ledger/rows/Refs.ts"
import { TurnQueue } from "../../../src/plane/ledger/rows/TurnQueue.ts"

const atMs = Date.UTC(2026, 8, 20, 12)
const meter = new Meter({
  id: "budget/key-1",
  unit: "usd",
  rule: { interval: "daily", resetTime: "00:00", timeZone: "UTC" },
  limit: 1_000,
  warningThreshold: 0.8,
  scope: null
})

const book = (queue: TurnQueue, of: Meter, requestId: string, amount: number, named: Array<string> = []): void =>
  queue.bookMeter(of, of.at(atMs), { amount, requestId, apiKeyId: "key-1" }, () => {
    named.push(requestId)
    return refOfMeter(of, of.at(atMs), 1)
  })

describe("what a node tells in a turn", () => {
  it("adds up what requests cost of a limit, whose row is named once", () => {
    const queue = new TurnQueue()
    const named: Array<string> = []
    for (const [at, id] of ["a", "b", "c"].entries()) book(queue, meter, id, at + 1, named)
    const [booking, ...more] = queue.bookings.values()
    assert.deepStrictEqual([booking?.amount, booking?.requestId, more.length], [6, "c", 0])
    assert.deepStrictEqual(named, ["a"])
  })

  it("loses nothing of a limit that gets another size meanwhile", () => {
    const queue = new TurnQueue()
    const resized = meter.resized({ limit: 2_000, warningThreshold: 0.8 })
    book(queue, meter, "a", 1)
    book(queue, resized, "b", 2)
    book(queue, meter, "c", 4)
    const [booking, ...more] = queue.bookings.values()
    assert.deepStrictEqual([booking?.amount, more.length], [7, 0])
  })

  it("books again, and waits again, where a turn was not done", () => {
    const [sent, next] = [new TurnQueue(), new TurnQueue()]
    const told: Array<string> = []
    book(sent, meter, "a", 1)
    sent.reported.add("a")
    sent.told.push(() => told.push("a"))
    book(next, meter, "b", 2)
    next.reported.add("b")
    next.bookAgain(sent)
    book(next, meter, "c", 4)
    for (const run of next.told) run()
    const [booking] = next.bookings.values()
    assert.deepStrictEqual([booking?.amount, [...next.reported], told], [7, ["a", "b"], ["a"]])
  })
})
