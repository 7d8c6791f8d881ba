import { assert, describe, it } from "@effect/vitest"
import { Broadcast, maxBehindBytes, stallMs } from "../../../../src/plane/reply/Broadcast.ts"
import { chunkOverheadBytes, HeldChunks, Room } from "../../../../src/plane/reply/HeldChunks.ts"
import { headerIn, withHeaders } from "../../../../src/plane/reply/ReplyHeaders.ts"
import { makeTestReply, type TestReply } from "../../../support/Replies.ts"

/** Timers that run when they are told to. */
const manualTimers = () => {
  const due: Array<{ readonly delayMs: number; readonly run: () => void }> = []
  return {
    after: (delayMs: number, run: () => void) => {
      const timer = { delayMs, run }
      due.push(timer)
      return {
        restart: () => {},
        cancel: () => {
          const at = due.indexOf(timer)
          if (at >= 0) due.splice(at, 1)
        }
      }
    },
    due,
    pass: () => {
      for (const { run } of due.splice(0)) run()
    }
  }
}

const setup = (maxBytes = 1_048_576, roomBytes = 1_000_000_000) => {
  const timers = manualTimers()
  const room = new Room(roomBytes)
  const overs: Array<string> = []
  const broadcast = new Broadcast({ maxBytes, room, timers, over: (how) => void overs.push(how) })
  let left = 0
  broadcast.reply.onClose(() => (left += 1))
  const leader = makeTestReply()
  broadcast.lead(leader)
  const follow = (client: TestReply = makeTestReply(), finishes = true) => {
    const heard: Array<string> = []
    let finish = (): void => assert.fail("not ready")
    const joined = broadcast.follow(client, {
      headers: (_, headers) => withHeaders(headers, ["X-Id", "own"]),
      trailers: () => ["X-Cost", "0"],
      ready: (end, hasHead) => {
        heard.push(hasHead ? "ready" : "ready, nothing written")
        finish = end
        if (finishes) end()
      },
      lost: (why) => heard.push(why)
    })
    return { client, heard, joined, finish: () => finish() }
  }
  return { broadcast, leader, follow, room, timers, state: () => ({ overs, left }) }
}

const head = ["Content-Type", "text/event-stream", "X-Id", "first"]

describe("one call for several clients", () => {
  it("gives each all of it from its beginning, whenever it came", () => {
    const { broadcast, follow, leader } = setup()
    const early = follow()
    broadcast.reply.head(200, head)
    broadcast.reply.write("a")
    broadcast.reply.write("b")
    const late = follow()
    broadcast.reply.write("c")
    broadcast.reply.end("d")
    const later = follow()
    for (const { client } of [early, late, later]) {
      assert.strictEqual(client.text(), "abcd")
      assert.strictEqual(client.ending(), "ended")
      assert.strictEqual(headerIn(client.headers(), "x-id"), "own")
    }
    assert.strictEqual(leader.text(), "abcd")
    assert.strictEqual(headerIn(leader.headers(), "x-id"), "first")
    assert.strictEqual(broadcast.recorded()?.chunks.join(""), "abcd")
  })

  it("gives the leader its head at once, and a follower nothing before there is something", () => {
    const { broadcast, follow, leader } = setup()
    const { client } = follow()
    broadcast.reply.head(200, head)
    assert.deepStrictEqual([leader.status(), client.status()], [200, null])
    broadcast.reply.write("a")
    assert.strictEqual(client.status(), 200)
  })

  it("lets a follower have the end of it when it is told to", () => {
    const { broadcast, follow, leader } = setup()
    const { client, finish, heard } = follow(makeTestReply(), false)
    broadcast.reply.head(200, head)
    broadcast.reply.end("whole")
    assert.strictEqual(leader.ending(), "ended")
    assert.deepStrictEqual([client.status(), client.ending(), heard], [null, "open", ["ready, nothing written"]])
    finish()
    finish()
    assert.deepStrictEqual([client.text(), client.ending()], ["whole", "ended"])
  })

  it("cuts all where the call is cut", () => {
    const { broadcast, follow, leader } = setup()
    const { client } = follow()
    broadcast.reply.head(200, head)
    broadcast.reply.write("half")
    broadcast.reply.cut()
    assert.deepStrictEqual([leader.ending(), client.ending(), client.text()], ["cut", "cut", "half"])
    assert.strictEqual(broadcast.recorded()?.isEnded, false)
  })

  it("goes on when the one who began it leaves, and ends when all have left", () => {
    const { broadcast, follow, leader, state } = setup()
    const { client, heard } = follow()
    broadcast.reply.head(200, head)
    leader.leave()
    assert.deepStrictEqual(state(), { overs: [], left: 0 })
    broadcast.reply.write("a")
    assert.strictEqual(client.text(), "a")
    client.leave()
    assert.deepStrictEqual(state(), { overs: ["abandoned"], left: 1 })
    assert.deepStrictEqual(heard, ["left"])
    assert.isFalse(follow().joined)
    assert.isTrue(broadcast.reply.isClosed())
  })

  it("holds nothing of a call that all have left", () => {
    const { broadcast, leader, room } = setup()
    broadcast.reply.head(200, head)
    broadcast.reply.write("abc")
    assert.isAbove(room.bytes, 0)
    leader.leave()
    broadcast.reply.write("late")
    assert.strictEqual(room.bytes, 0)
  })

  it("tells the call to wait when all clients are full, and to go on when one is not", () => {
    const { broadcast, follow, leader } = setup()
    let drained = 0
    broadcast.reply.onDrain(() => (drained += 1))
    const { client } = follow()
    broadcast.reply.head(200, head)
    leader.block()
    assert.isTrue(broadcast.reply.write("a"))
    client.block()
    assert.isFalse(broadcast.reply.write("b"))
    assert.strictEqual(drained, 0)
    client.drain()
    assert.strictEqual(drained, 1)
    assert.strictEqual(leader.text(), "a")
    leader.drain()
    assert.strictEqual(leader.text(), "ab")
  })

  it("cannot be joined any more when the answer is too large, and then holds what somebody still needs", () => {
    const { broadcast, follow, leader, room } = setup(1_000)
    broadcast.reply.head(200, head)
    const { client } = follow()
    client.block()
    for (let at = 0; at < 20; at += 1) broadcast.reply.write("x".repeat(100))
    assert.isFalse(follow().joined)
    assert.isNull(broadcast.recorded())
    assert.strictEqual(leader.text().length, 2_000)
    client.drain()
    broadcast.reply.end("end")
    assert.strictEqual(client.text(), `${"x".repeat(2_000)}end`)
    assert.isNull(broadcast.recorded())
    assert.strictEqual(room.bytes, 0)
  })

  it("cannot be joined while the room of all answers is full", () => {
    const { broadcast, follow, room } = setup(1_000_000, 300)
    broadcast.reply.head(200, head)
    broadcast.reply.write("a")
    assert.isTrue(follow().joined)
    room.add(1_000)
    broadcast.reply.write("b")
    assert.isFalse(follow().joined)
    room.add(-1_000)
    assert.isFalse(follow().joined)
  })

  const slowFollower = () => {
    const all = setup(1_000)
    const slow = all.follow()
    let drained = 0
    all.broadcast.reply.onDrain(() => (drained += 1))
    all.broadcast.reply.head(200, head)
    slow.client.block()
    const piece = "x".repeat(1_000)
    let writes = 1
    while (all.broadcast.reply.write(piece)) writes += 1
    return { ...all, slow, writes, drained: () => drained }
  }

  it("waits for a client that is too far behind", () => {
    const { drained, leader, slow, writes } = slowFollower()
    assert.strictEqual(writes, 1 + Math.ceil(maxBehindBytes / (1_000 + chunkOverheadBytes)))
    assert.strictEqual(leader.text().length, writes * 1_000)
    assert.strictEqual(drained(), 0)
    slow.client.takeOne()
    assert.strictEqual(drained(), 1)
  })

  it("cuts a client that takes nothing while others wait for it", () => {
    const { broadcast, drained, leader, slow, timers } = slowFollower()
    assert.deepStrictEqual(
      timers.due.map(({ delayMs }) => delayMs),
      [stallMs]
    )
    timers.pass()
    assert.strictEqual(slow.client.ending(), "cut")
    assert.deepStrictEqual(slow.heard, ["stalled"])
    assert.strictEqual(drained(), 1)
    broadcast.reply.end("")
    assert.strictEqual(leader.ending(), "ended")
  })

  it("cuts no client that takes some", () => {
    const { broadcast, slow, timers } = slowFollower()
    slow.client.takeOne()
    timers.pass()
    assert.strictEqual(slow.client.ending(), "open")
    slow.client.drain()
    broadcast.reply.end("")
    assert.strictEqual(slow.client.ending(), "ended")
  })

  it("breaks for the followers of a call that died, and leaves its first client to others", () => {
    const { broadcast, follow, leader } = setup()
    const { client, heard } = follow()
    broadcast.break()
    assert.deepStrictEqual([leader.ending(), client.ending(), heard], ["open", "cut", ["ready, nothing written"]])
  })

  it("sends trailers of its own to a follower, where the answer has some", () => {
    const { broadcast, follow } = setup()
    const { client } = follow()
    broadcast.reply.head(200, head)
    broadcast.reply.end("", () => ["X-Cost", "5"])
    assert.deepStrictEqual(client.trailers(), ["X-Cost", "0"])
    const without = setup()
    const other = without.follow()
    without.broadcast.reply.head(200, head)
    without.broadcast.reply.end("")
    assert.isNull(other.client.trailers())
  })
})

describe("HeldChunks", () => {
  it("knows chunks by their place, before and behind what was given up", () => {
    const held = new HeldChunks(new Room(1))
    for (let at = 0; at < 100; at += 1) held.add(Buffer.from(String(at)))
    for (const from of [10, 11, 60, 90]) {
      held.dropBefore(from)
      assert.isNull(held.at(from - 1))
      assert.strictEqual(held.at(from)?.toString(), String(from))
      assert.strictEqual(held.at(99)?.toString(), "99")
      assert.isNull(held.at(100))
    }
    assert.isNull(held.whole())
    held.clear()
    assert.strictEqual(held.heldBytes, 0)
    held.add(Buffer.from("more"))
    assert.strictEqual(held.at(100)?.toString(), "more")
  })
})
