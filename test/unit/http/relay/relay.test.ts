/** What goes to the owner, and how its connections begin. */
import { assert, describe, it } from "@effect/vitest"
import { EventEmitter } from "node:events"
import type { Socket } from "node:net"
import * as fc from "fast-check"
import { match } from "../../../../src/contract/Routes.ts"
import { isKeptById } from "../../../../src/entry/relay/Home.ts"
import { LinkLines, readLines } from "../../../../src/entry/relay/LinkLines.ts"
import { mostBytes, preambleOf, readPreamble } from "../../../../src/entry/relay/Preamble.ts"
import { isServedHere } from "../../../../src/entry/relay/Relay.ts"

describe("a worker", () => {
  it("serves conversations and lists of models; everything else has its home at the owner", () => {
    const served = (method: string, url: string) => isServedHere(match(method, url))
    assert.deepStrictEqual(
      [
        ["POST", "/v1/chat/completions"],
        ["POST", "/v1/messages"],
        ["POST", "/v1/embeddings"],
        ["GET", "/v1/models"]
      ].map(([method = "", url = ""]) => served(method, url)),
      [true, true, true, true]
    )
    for (const [method, url] of [
      ["GET", "/api/providers"],
      ["POST", "/v1/files"],
      ["POST", "/v1/videos"],
      ["GET", "/v1/responses/resp_1"],
      ["POST", "/mcp"],
      ["GET", "/metrics"],
      ["GET", "/dashboard/"],
      ["GET", "/nowhere"]
    ] as const) {
      assert.isFalse(served(method, url), `${method} ${url}`)
    }
  })

  it("gives away a request of which something is known by an id", () => {
    const kept = (body: object, headers = {}, wire: "responses" | "chat" = "responses") =>
      isKeptById(wire, headers, Buffer.from(JSON.stringify(body)))
    assert.isFalse(kept({ model: "m", input: "x", store: false }))
    assert.isTrue(kept({ model: "m", input: "x" }), "responses are stored unless it is refused")
    assert.isTrue(kept({ model: "m", store: false, previous_response_id: "resp_1" }))
    assert.isTrue(kept({ model: "m", store: false, background: true }))
    assert.isTrue(kept({ model: "m", store: false, input: [{ type: "item_reference", id: "i" }] }))
    assert.isFalse(kept({ model: "m" }, {}, "chat"))
    assert.isTrue(kept({ model: "m" }, { "idempotency-key": "k" }, "chat"))
  })
})

describe("the first line of a connection to the owner", () => {
  const addresses = { localAddress: "10.0.0.1", localPort: 20128, remoteAddress: "10.0.0.9", remotePort: 4_711 }

  it("says whose connection it stands for, in whatever parts it comes", () => {
    const bytes = Buffer.from(`${preambleOf(addresses)}GET / HTTP/1.1\r\n`)
    const end = bytes.indexOf("\n")
    for (let length = 0; length <= end; length++) assert.isNull(readPreamble(bytes.subarray(0, length)))
    const read = readPreamble(bytes)
    if (read === null || read === "wrong") return assert.fail("it is whole")
    assert.deepStrictEqual(read.addresses, addresses)
    assert.strictEqual(read.rest.toString(), "GET / HTTP/1.1\r\n")
  })

  it("is refused when it is none", () => {
    for (const text of [
      "GET / HTTP/1.1\n",
      "{}\n",
      "[1]\n",
      `${"x".repeat(mostBytes + 2)}`,
      `[${" ".repeat(mostBytes)}]\n`
    ]) {
      assert.strictEqual(readPreamble(Buffer.from(text)), "wrong", text.slice(0, 20))
    }
  })
})

/** The part of a socket that lines need. */
class FakeSocket extends EventEmitter {
  readonly sent: Array<string> = []
  destroyed = false
  writableLength = 0
  write(text: string): boolean {
    this.sent.push(text)
    return true
  }
  destroy(): void {
    this.destroyed = true
  }
}

const socketOf = (fake: FakeSocket): Socket => fake as unknown as Socket

describe("messages between owner and worker", () => {
  it("are one line a turn, and come whole and in order however the bytes are cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.record({ t: fc.string(), b: fc.jsonValue() }), { minLength: 1, maxLength: 5 }), {
          maxLength: 6
        }),
        fc.array(fc.nat({ max: 60 }), { minLength: 1, maxLength: 20 }),
        (turns, cuts) => {
          const from = new FakeSocket()
          let turn: (() => void) | null = null
          const lines = new LinkLines(socketOf(from), (run) => {
            turn = run
          })
          for (const messages of turns) {
            for (const message of messages) lines.send(message)
            const run = turn as (() => void) | null
            turn = null
            run?.()
          }
          assert.lengthOf(from.sent, turns.length)
          const to = new FakeSocket()
          const read: Array<unknown> = []
          readLines(socketOf(to), (message) => void read.push(message))
          const bytes = Buffer.from(from.sent.join(""))
          for (let at = 0, cut = 0; at < bytes.length; cut++) {
            const size = 1 + (cuts[cut % cuts.length] ?? 0)
            to.emit("data", bytes.subarray(at, at + size))
            at += size
          }
          assert.deepStrictEqual(read, JSON.parse(JSON.stringify(turns.flat())))
        }
      )
    )
  })

  it("end with a line that is none, and with an end that does not read", () => {
    const to = new FakeSocket()
    readLines(socketOf(to), () => assert.fail("nothing is read"))
    to.emit("data", Buffer.from("no json\n"))
    assert.isTrue(to.destroyed)

    const from = new FakeSocket()
    from.writableLength = Number.MAX_SAFE_INTEGER
    const lines = new LinkLines(socketOf(from), (run) => run())
    lines.send({ t: "a", b: 1 })
    assert.isTrue(from.destroyed)
  })
})
