import { assert, describe, it } from "@effect/vitest"
import { EventEmitter } from "node:events"
import { eventFrame, type LiveEvent, readClientFrame } from "../../../../src/entry/live/Channels.ts"
import { highWaterBytes, type LiveSocket, makeLiveClient, mostWaiting } from "../../../../src/entry/live/LiveClient.ts"
import { headersAtMain } from "../../../../src/entry/server/LivePort.ts"
import { makeSampler, mostPerSecond } from "../../../../src/entry/live/Sampler.ts"

const eventAt = (n: number, channel: LiveEvent["channel"] = "requests"): LiveEvent => ({
  channel,
  event: "request.completed",
  atMs: n,
  data: { n }
})

describe("sampling", () => {
  it("lets the first events of a second on, and the last of the rest with how many it stands for", () => {
    const sampler = makeSampler()
    const admitted = Array.from({ length: 50 }, (_, n) => sampler.admit(eventAt(n))).filter(Boolean)
    assert.lengthOf(admitted, mostPerSecond)
    assert.isTrue(sampler.admit(eventAt(50, "health")))
    const [held, ...others] = sampler.turn()
    assert.lengthOf(others, 0)
    assert.deepStrictEqual(held, { event: eventAt(49), sampled: 50 - mostPerSecond })
    assert.deepInclude(JSON.parse(eventFrame(eventAt(49), 30)), { sampled: 30 })
    assert.isTrue(sampler.admit(eventAt(51)))
    assert.deepStrictEqual(sampler.turn(), [])
  })
})

/** A socket whose client reads when it is told to. */
class SlowSocket extends EventEmitter {
  readonly OPEN = 1
  readonly readyState = 1
  bufferedAmount = 0
  readonly sent: Array<string> = []
  #flushed: Array<() => void> = []
  send(frame: string, flushed: () => void): void {
    this.sent.push(frame)
    this.bufferedAmount += frame.length
    this.#flushed.push(flushed)
  }
  /** The client takes all that waits in the socket. */
  read(): void {
    this.bufferedAmount = 0
    for (const flushed of this.#flushed.splice(0)) flushed()
  }
  close(): void {}
  terminate(): void {}
  ping(): void {}
}

describe("a slow client", () => {
  it("gets the newest frames and is told how many were dropped", () => {
    const socket = new SlowSocket()
    const client = makeLiveClient(socket as unknown as LiveSocket, () => 0)
    client.send("x".repeat(highWaterBytes))
    for (let n = 0; n < mostWaiting + 10; n += 1) client.send(String(n))
    assert.lengthOf(socket.sent, 1)
    socket.read()
    const [, dropped = "", first, ...others] = socket.sent
    assert.deepStrictEqual(JSON.parse(dropped), { type: "dropped", count: 10 })
    assert.strictEqual(first, "10")
    assert.strictEqual(others.at(-1), String(mostWaiting + 9))
    assert.lengthOf(others, mostWaiting - 1)
  })
})

describe("frames of clients", () => {
  it("are frames or problems, whatever they are", () => {
    assert.deepStrictEqual(readClientFrame('{"type":"ping"}'), { _tag: "Ping" })
    for (const text of ["", "[]", "7", "null", '{"type":"subscribe"}', '{"type":"subscribe","channels":[1]}']) {
      assert.strictEqual(readClientFrame(text)._tag, "Problem", text)
    }
  })

  it.each([
    ["channels", '{"type":"subscribe","channels":[],"channels":["health"]}'],
    ["Type", '{"type":"ping","Type":"subscribe"}']
  ])("of two readings are problems that name the member: %s", (named, text) => {
    const frame = readClientFrame(text)
    assert.include(frame._tag === "Problem" ? frame.message : "", named)
  })
})

describe("the own port", () => {
  const host = "127.0.0.1:20129"
  it("takes pages of the main port for its own, and no others", () => {
    const own = { host, origin: "http://127.0.0.1:20128", "sec-fetch-site": "same-site" }
    assert.deepStrictEqual(headersAtMain(own, 20128), { host: "127.0.0.1:20128", origin: "http://127.0.0.1:20128" })
    const foreign = { host, origin: "http://127.0.0.1:3000", "sec-fetch-site": "same-site" }
    assert.strictEqual(headersAtMain(foreign, 20128), foreign)
    const plain = { host }
    assert.strictEqual(headersAtMain(plain, 20128), plain)
  })
})
