import { assert, describe, it } from "@effect/vitest"
import { type Recorded, recording } from "../../../../src/plane/reply/Recorder.ts"
import { replayTo } from "../../../../src/plane/reply/Replay.ts"
import { changingHead, headerIn, withHeaders, withoutHeaders } from "../../../../src/plane/reply/ReplyHeaders.ts"
import { makeTestReply } from "../../../support/Replies.ts"

const record = (maxBytes: number, answer: (reply: ReturnType<typeof recording>) => void) => {
  const client = makeTestReply()
  const copies: Array<Recorded | null> = []
  answer(recording(client, maxBytes, (recorded) => copies.push(recorded)))
  return { client, copies }
}

describe("Recorder", () => {
  it("hands an answer on and has a copy of it", () => {
    const { client, copies } = record(100, (reply) => {
      reply.head(200, ["A", "1"])
      reply.write("one ")
      reply.write(Buffer.from("two "))
      reply.end("three")
    })
    assert.strictEqual(client.text(), "one two three")
    assert.strictEqual(client.ending(), "ended")
    const [copy] = copies
    assert.strictEqual(copies.length, 1)
    assert.deepStrictEqual(copy?.chunks.map(String), ["one ", "two ", "three"])
    assert.deepStrictEqual(copy?.headers, ["A", "1"])
    assert.deepStrictEqual([copy?.status, copy?.bytes, copy?.isEnded], [200, 13, true])
  })

  it("keeps nothing of an answer beyond the bound, which its client gets all the same", () => {
    const { client, copies } = record(7, (reply) => {
      reply.head(200, [])
      reply.write("one ")
      reply.write("two ")
      reply.end("three")
    })
    assert.deepStrictEqual(copies, [null])
    assert.strictEqual(client.text(), "one two three")
  })

  it("keeps an answer of exactly the bound", () => {
    const { copies } = record(8, (reply) => {
      reply.head(200, [])
      reply.end("12345678")
    })
    assert.strictEqual(copies[0]?.bytes, 8)
  })

  it("tells of a cut", () => {
    const { client, copies } = record(100, (reply) => {
      reply.head(200, [])
      reply.write("one ")
      reply.cut()
    })
    assert.strictEqual(client.ending(), "cut")
    assert.strictEqual(copies[0]?.isEnded, false)
  })

  it("has no copy of an answer without a head", () => {
    const { copies } = record(100, (reply) => reply.cut())
    assert.deepStrictEqual(copies, [null])
  })
})

const recorded = (chunks: ReadonlyArray<string>, isEnded = true): Recorded => ({
  status: 200,
  headers: ["Content-Type", "text/event-stream", "X-Gateway-Request-Id", "first"],
  chunks: chunks.map((chunk) => Buffer.from(chunk)),
  bytes: chunks.join("").length,
  isEnded
})

describe("replayTo", () => {
  it("sends the answer with headers of the client's own", () => {
    const client = makeTestReply()
    replayTo(client, recorded(["a", "b", "c"]), (headers) => withHeaders(headers, ["x-gateway-request-id", "second"]))
    assert.deepStrictEqual(client.chunks(), ["a", "b", "c"])
    assert.strictEqual(client.ending(), "ended")
    assert.strictEqual(headerIn(client.headers(), "x-gateway-request-id"), "second")
    assert.strictEqual(headerIn(client.headers(), "content-type"), "text/event-stream")
  })

  it("waits for a client that reads slowly", () => {
    const client = makeTestReply()
    client.block()
    replayTo(client, recorded(["a", "b", "c"]))
    assert.deepStrictEqual(client.chunks(), ["a"])
    client.takeOne()
    assert.deepStrictEqual(client.chunks(), ["a", "b"])
    assert.strictEqual(client.ending(), "open")
    client.drain()
    assert.deepStrictEqual(client.chunks(), ["a", "b", "c"])
    assert.strictEqual(client.ending(), "ended")
  })

  it("cuts what was cut", () => {
    const client = makeTestReply()
    replayTo(client, recorded(["a", "b"], false))
    assert.deepStrictEqual(client.chunks(), ["a", "b"])
    assert.strictEqual(client.ending(), "cut")
  })

  it("ends an answer without a body", () => {
    const client = makeTestReply()
    replayTo(client, recorded([]))
    assert.deepStrictEqual([client.text(), client.ending()], ["", "ended"])
  })

  it("writes nothing to a client that has left", () => {
    const gone = makeTestReply()
    gone.leave()
    replayTo(gone, recorded(["a"]))
    assert.strictEqual(gone.status(), null)
    const leaving = makeTestReply()
    leaving.block()
    replayTo(leaving, recorded(["a", "b"]))
    leaving.leave()
    leaving.drain()
    assert.deepStrictEqual(leaving.chunks(), ["a"])
  })
})

describe("ReplyHeaders", () => {
  it("replaces headers whatever their case, and adds others", () => {
    assert.deepStrictEqual(withHeaders(["A", "1", "B", "2", "a", "3"], ["a", "4", "C", "5"]), [
      "B",
      "2",
      "a",
      "4",
      "C",
      "5"
    ])
    assert.deepStrictEqual(withoutHeaders(["A", "1", "B", "2"], new Set(["b"])), ["A", "1"])
  })

  it("changes the head on its way and nothing else", () => {
    const client = makeTestReply()
    const reply = changingHead(client, (status, headers) => withHeaders(headers, ["S", String(status)]))
    reply.head(201, ["A", "1"])
    reply.end("x")
    assert.deepStrictEqual(client.headers(), ["A", "1", "S", "201"])
    assert.strictEqual(client.text(), "x")
  })
})
