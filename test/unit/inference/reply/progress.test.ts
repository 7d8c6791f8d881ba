import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { everyMs, withProgress } from "../../../../src/plane/reply/ProgressReply.ts"
import { headerIn } from "../../../../src/plane/reply/ReplyHeaders.ts"
import { replay } from "../../../../src/wire/canonical/Replay.ts"
import type { Response } from "../../../../src/wire/canonical/Response.ts"
import { codecs } from "../../../../src/wire/Codec.ts"
import * as Fake from "../../../support/FakeUpstream.ts"
import { makeTestReply } from "../../../support/Replies.ts"

const wires = ["chat", "messages", "responses"] as const
type Wire = (typeof wires)[number]

const answer: Response = {
  id: "r1",
  model: "m",
  createdMs: 1_700_000_000_000,
  parts: [{ type: "text", text: "one two ☃ and event: progress" }],
  stop: { reason: "stop", raw: "stop", sequence: null },
  usage: { in: 9, out: 3, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
  logprobs: null
}
const context = { nowMs: 1_700_000_000_000, fallbackId: "g", model: "m", wantsUsage: true }
const streamOf = (wire: Wire): string => {
  const encoder = codecs[wire].makeStreamEncoder(context)
  return replay(answer)
    .map((said) => encoder.encode(said))
    .join("")
}
const streams: Readonly<Record<Wire, string>> = {
  chat: streamOf("chat"),
  messages: streamOf("messages"),
  responses: streamOf("responses")
}
const head = ["Content-Type", "text/event-stream; charset=utf-8"]
const event = /event: progress\ndata: (.*)\n\n/g

const setup = (wire: Wire, members: object = {}) => {
  const client = makeTestReply()
  let nowMs = 1_000
  const running = new Set<() => void>()
  const timers = {
    monotonicMs: () => nowMs,
    after: (delayMs: number, run: () => void) => {
      assert.strictEqual(delayMs, everyMs)
      running.add(run)
      return { restart: () => {}, cancel: () => void running.delete(run) }
    }
  }
  const reply = withProgress(client, { codec: codecs[wire], members, timers, startedMs: 0 })
  const pass = (): void => {
    nowMs += everyMs
    for (const run of running) run()
  }
  const told = () => [...client.text().matchAll(event)].map(([, data]) => JSON.parse(data ?? ""))
  return { client, pass, reply, running, told, without: () => client.text().replaceAll(event, "") }
}

describe("progress events", () => {
  for (const wire of wires) {
    it(`stand between whole events and before the end mark (${wire})`, () => {
      fc.assert(
        fc.property(fc.array(fc.nat({ max: 400 }), { maxLength: 12 }), fc.array(fc.boolean()), (sizes, ticks) => {
          const { client, pass, reply, running, told, without } = setup(wire)
          reply.head(200, [...head])
          const bytes = Buffer.from(streams[wire])
          let at = 0
          sizes.forEach((size, index) => {
            if (ticks[index] === true) pass()
            reply.write(bytes.subarray(at, at + size))
            at += size
          })
          reply.end(bytes.subarray(at))
          pass()
          assert.strictEqual(without(), streams[wire])
          for (const block of client.text().split("\n\n")) {
            if (block.includes("tokens_generated")) assert.isTrue(block.startsWith("event: progress\n"), block)
          }
          assert.isFalse(client.text().startsWith("event: progress"))
          const all = told()
          assert.deepStrictEqual(
            all.map(({ done }) => done),
            [...all.slice(1).map(() => false), true]
          )
          assert.strictEqual(all.at(-1).tokens_generated, 3)
          assert.isFalse(client.text().endsWith(`"done":true}\n\n`))
          assert.strictEqual(running.size, 0)
        }),
        { seed: 7, numRuns: 300 }
      )
    })
  }

  it("tell the tokens so far and the time since the request came", () => {
    const { client, pass, reply, told } = setup("chat", { choices: [] })
    reply.head(200, [...head])
    pass()
    assert.deepStrictEqual(told(), [])
    const [first = "", second = ""] = Fake.chatStream(["x".repeat(400)])
    reply.write(first + second)
    pass()
    assert.deepStrictEqual(told(), [{ choices: [], tokens_generated: 103, elapsed_ms: 5_000, done: false }])
    assert.strictEqual(headerIn(client.headers(), "x-gateway-progress"), "enabled")
  })

  it("are not written to a client that is full, nor after the end", () => {
    const { client, pass, reply, running, told } = setup("chat")
    reply.head(200, [...head])
    client.block()
    assert.isFalse(reply.write(streams.chat.slice(0, 300)))
    pass()
    assert.deepStrictEqual(told(), [])
    client.drain()
    pass()
    assert.strictEqual(told().length, 1)
    reply.cut()
    assert.strictEqual(running.size, 0)
    assert.strictEqual(client.ending(), "cut")
  })

  it("stop when the client leaves", () => {
    const { client, reply, running } = setup("chat")
    reply.head(200, [...head])
    client.leave()
    assert.strictEqual(running.size, 0)
  })

  it("are not told of a stream that breaks as if it were done", () => {
    const { reply, told, without } = setup("chat")
    reply.head(200, [...head])
    reply.write(Fake.chatStream(["one"])[1] ?? "")
    reply.end('data: {"error":{"message":"cut"}}\n\n')
    assert.deepStrictEqual(told(), [])
    assert.include(without(), "cut")
  })

  it("leave errors and whole answers as they are", () => {
    for (const [status, type] of [
      [200, "application/json"],
      [400, "text/event-stream"]
    ] as const) {
      const { client, reply, running } = setup("chat")
      reply.head(status, ["Content-Type", type])
      reply.end("{}")
      assert.deepStrictEqual(client.headers(), ["Content-Type", type])
      assert.strictEqual(client.text(), "{}")
      assert.strictEqual(running.size, 0)
    }
  })
})
