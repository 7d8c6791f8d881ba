/** Memory for answers that owners share. */
import { assert, describe, it } from "@effect/vitest"
import { Rooms } from "../../../../src/plane/reply/HeldChunks.ts"

describe("rooms", () => {
  it("are full for an owner that has more than it leaves free, and not for the next one", () => {
    const rooms = new Rooms(100)
    const [one, other] = [rooms.of("one"), rooms.of("other")]
    one.add(50)
    assert.isFalse(one.isFull)
    one.add(1)
    assert.isTrue(one.isFull)
    // All answers of an owner count together.
    assert.isTrue(rooms.of("one").isFull)
    assert.isFalse(other.isFull)
    other.add(24)
    assert.isFalse(other.isFull)
    other.add(1)
    assert.isTrue(other.isFull)
    assert.deepStrictEqual([one.bytes, other.bytes, rooms.bytes], [51, 25, 76])
    one.add(-51)
    assert.isFalse(other.isFull)
    other.add(-25)
    assert.deepStrictEqual([rooms.bytes, rooms.bytesOf("one"), rooms.bytesOf("other")], [0, 0, 0])
  })
})
