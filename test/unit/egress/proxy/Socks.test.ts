import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { socksThrough } from "../../../../src/net/egress/proxy/Socks.ts"
import { callThrough, hopTo, httpAnswer, type Login, scripted, type Step, tunnelled } from "./scripted.ts"

const refusesAll: Step = { until: 3, answer: Buffer.from([5, 0xff]) }
const open: Step = { until: 3, answer: Buffer.from([5, 0]) }
const wantsLogin: Step = { until: 4, answer: Buffer.from([5, 2]) }
const reply = (code = 0, address: ReadonlyArray<number> = [1, 0, 0, 0, 0]): Buffer =>
  Buffer.from([5, code, 0, ...address, 0, 0])
const request: Step = { until: "\r\n\r\n{}", answer: httpAnswer }
const hello = { status: 200, body: "hello", failure: null }

/** Bytes of the whole CONNECT message for a name. */
const connectTo = (name: string, port: number): Buffer =>
  Buffer.concat([Buffer.from([5, 1, 0, 3, name.length]), Buffer.from(name), Buffer.from([port >> 8, port & 255])])

describe("a SOCKS5 tunnel", () => {
  it.scopedLive("gives the name to the proxy, over one connection", () =>
    Effect.gen(function* () {
      const connect = connectTo("models.example", 8443)
      const { answer, proxy } = yield* callThrough("socks5", "http://models.example:8443", [
        open,
        { until: connect.length, answer: reply() },
        request
      ])
      assert.deepStrictEqual(answer, hello)
      assert.deepStrictEqual(proxy.received[0], Buffer.from([5, 1, 0]))
      assert.deepStrictEqual(proxy.received[1], connect)
      assert.strictEqual(proxy.connections(), 1)
    })
  )

  const literals: ReadonlyArray<readonly [string, ReadonlyArray<number>]> = [
    ["http://10.1.2.3", [5, 1, 0, 1, 10, 1, 2, 3, 0, 80]],
    ["http://[fd00::2:1]:81", [5, 1, 0, 4, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 81]]
  ]
  it.effect.each(literals)("gives the literal of %s as an address", ([origin, bytes]) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { answer, proxy } = yield* callThrough("socks5", origin, [
          open,
          { until: bytes.length, answer: reply(0, [4, ...Array.from({ length: 16 }, () => 7)]) },
          request
        ])
        assert.deepStrictEqual(answer, hello)
        assert.deepStrictEqual(proxy.received[1], Buffer.from(bytes))
      })
    )
  )

  const logins: ReadonlyArray<readonly [Login, string]> = [
    [{ username: "ann", password: "p@ss:w%rd" }, "\x01\x03ann\x09p@ss:w%rd"],
    [{ username: "ann" }, "\x01\x03ann\x00"],
    [{ username: "zoë", password: "é" }, "\x01\x04zo\u00c3\u00ab\x02\u00c3\u00a9"]
  ]
  it.effect.each(logins)("logs in as %j", ([login, sent]) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { answer, proxy } = yield* callThrough(
          "socks5",
          "http://a.example",
          [
            wantsLogin,
            { until: sent.length, answer: Buffer.from([1, 0]) },
            { until: connectTo("a.example", 80).length, answer: reply() },
            request
          ],
          login
        )
        assert.deepStrictEqual(answer, hello)
        assert.deepStrictEqual(proxy.received[0], Buffer.from([5, 2, 0, 2]))
        assert.strictEqual(proxy.received[1]?.toString("latin1"), sent)
      })
    )
  )

  it.scopedLive("reads answers that come byte by byte, with a name as the bound address", () =>
    Effect.gen(function* () {
      const { answer } = yield* callThrough(
        "socks5",
        "http://a.example",
        [
          { ...wantsLogin, bytewise: true },
          { until: "secret", answer: Buffer.from([1, 0]), bytewise: true },
          {
            until: connectTo("a.example", 80).length,
            answer: reply(0, [3, 4, ...Buffer.from("exit")]),
            bytewise: true
          },
          request
        ],
        { username: "ann", password: "secret" }
      )
      assert.deepStrictEqual(answer, hello)
    })
  )

  it.scopedLive("leaves what comes together with the answers in the socket", () =>
    Effect.gen(function* () {
      const early = "x".repeat(40_000)
      const all = Buffer.concat([Buffer.from([5, 2, 1, 0]), reply(), Buffer.from(early)])
      const proxy = yield* scripted([{ until: 4, answer: all }])
      const hop = hopTo(proxy.port, "socks5", { username: "ann", password: "x" })
      const { read, stands } = yield* tunnelled(proxy.port, (socket, done) =>
        socksThrough(socket, { host: "a.example", port: 443 }, hop, done)
      )
      assert.isTrue(stands)
      assert.strictEqual(yield* read(early.length), early)
    })
  )

  const connected = connectTo("a.example", 80).length
  const failures: ReadonlyArray<readonly [string, ReadonlyArray<Step>]> = [
    ["no method is accepted", [refusesAll]],
    ["a login is asked for and there is none", [{ until: 3, answer: Buffer.from([5, 2]) }]],
    ["an unknown method is chosen", [{ until: 3, answer: Buffer.from([5, 1]) }]],
    ["the answer is of another version", [{ until: 3, answer: Buffer.from([4]) }]],
    ["an HTTP server answers", [{ until: 3, answer: "HTTP/1.1 400 Bad Request\r\n\r\n" }]],
    ["an SSH server answers", [{ until: 3, answer: "SSH-2.0-OpenSSH_9.2p1\r\n" }]],
    ["the target is refused", [open, { until: connected, answer: reply(5) }]],
    ["a refusal stops behind its code", [open, { until: connected, answer: Buffer.from([5, 4]) }]],
    ["the reply has an unknown address type", [open, { until: connected, answer: reply(0, [2, 0, 0, 0, 0]) }]],
    ["the proxy closes before its reply", [open, { until: connected, answer: Buffer.from([5, 0]), ends: true }]],
    ["the proxy closes at once", [{ until: 3, answer: "", ends: true }]]
  ]
  it.effect.each(failures)("fails when %s", ([, steps]) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { answer } = yield* callThrough("socks5", "http://a.example", steps)
        assert.strictEqual(answer.failure?.kind, "proxy")
      })
    )
  )

  it.scopedLive("fails when the login is refused, without asking for the target", () =>
    Effect.gen(function* () {
      const login = { username: "ann", password: "wrong" }
      const { answer, proxy } = yield* callThrough(
        "socks5",
        "http://a.example",
        [wantsLogin, { until: "wrong", answer: Buffer.from([1, 1]) }, { until: 1, answer: "" }],
        login
      )
      assert.strictEqual(answer.failure?.kind, "proxy")
      assert.strictEqual(proxy.received.length, 2)
    })
  )

  const tooLong: ReadonlyArray<readonly [string, string, Login]> = [
    ["a name of 256 bytes", `http://${"a".repeat(256)}`, { username: null }],
    ["a user of 256 bytes", "http://a.example", { username: "u".repeat(256) }],
    ["a password of 256 bytes", "http://a.example", { username: "u", password: "é".repeat(128) }]
  ]
  it.effect.each(tooLong)("cannot send %s, and fails", ([, origin, login]) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { answer, proxy } = yield* callThrough("socks5", origin, [wantsLogin], login)
        assert.strictEqual(answer.failure?.kind, "proxy")
        assert.deepStrictEqual(proxy.received, [])
      })
    )
  )
})
