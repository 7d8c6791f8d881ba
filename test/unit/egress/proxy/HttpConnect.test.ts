import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { connectThrough } from "../../../../src/net/egress/proxy/HttpConnect.ts"
import { callThrough, hopTo, httpAnswer, type Login, scripted, type Step, tunnelled } from "./scripted.ts"

const established = "HTTP/1.1 200 Connection established\r\n\r\n"
const connected = (answer: string | Buffer, more: Partial<Step> = {}): Step => ({ until: "\r\n\r\n", answer, ...more })
const request: Step = { until: "\r\n\r\n{}", answer: httpAnswer }
const hello = { status: 200, body: "hello", failure: null }

describe("a tunnel through an HTTP proxy", () => {
  const hosts: ReadonlyArray<readonly [string, string]> = [
    ["http://models.example:8443", "models.example:8443"],
    ["http://10.1.2.3", "10.1.2.3:80"],
    ["http://[fd00::2:1]:81", "[fd00::2:1]:81"]
  ]
  it.effect.each(hosts)("asks for the host of %s as it is written", ([origin, authority]) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { answer, proxy } = yield* callThrough("http", origin, [connected(established), request])
        assert.deepStrictEqual(answer, hello)
        assert.strictEqual(
          proxy.received[0]?.toString("utf8"),
          `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`
        )
        assert.strictEqual(proxy.connections(), 1)
      })
    )
  )

  const logins: ReadonlyArray<readonly [Login, string]> = [
    [{ username: "ann", password: "p@ss:w%rd" }, "ann:p@ss:w%rd"],
    [{ username: "ann" }, "ann:"],
    [{ username: "zoë", password: "é" }, "zoë:é"]
  ]
  it.effect.each(logins)("sends the credentials %j", ([login, pair]) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { answer, proxy } = yield* callThrough(
          "http",
          "http://a.example",
          [connected(established), request],
          login
        )
        assert.deepStrictEqual(answer, hello)
        const sent = /^Proxy-Authorization: Basic (.*)\r$/m.exec(proxy.received[0]?.toString("utf8") ?? "")?.[1]
        assert.strictEqual(Buffer.from(sent ?? "", "base64").toString("utf8"), pair)
        assert.notInclude(proxy.received[1]?.toString("utf8") ?? "", "Proxy-Authorization")
      })
    )
  )

  const opens: ReadonlyArray<readonly [string, Step]> = [
    ["HTTP/1.0 without a reason", connected("HTTP/1.0 200\r\n\r\n")],
    ["another success", connected("HTTP/1.1 204 Fine\r\nVia: x\r\n\r\n")],
    ["interim answers first", connected(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 E\r\nA: b\r\n\r\n${established}`)],
    ["the head of a body", connected("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nTransfer-Encoding: chunked\r\n\r\n")],
    ["bytes one by one", connected(`HTTP/1.1 100 Continue\r\n\r\n${established}`, { bytewise: true })]
  ]
  it.effect.each(opens)("stands behind %s", ([, step]) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { answer } = yield* callThrough("http", "http://a.example", [step, request])
        assert.deepStrictEqual(answer, hello)
      })
    )
  )

  it.scopedLive("leaves what comes together with the answer in the socket", () =>
    Effect.gen(function* () {
      const early = "x".repeat(40_000)
      const proxy = yield* scripted([connected(`HTTP/1.1 100 Continue\r\n\r\n${established}${early}`)])
      const { read, stands } = yield* tunnelled(proxy.port, (socket, done) =>
        connectThrough(socket, { host: "a.example", port: 443 }, hopTo(proxy.port, "http"), done)
      )
      assert.isTrue(stands)
      assert.strictEqual(yield* read(early.length), early)
    })
  )

  it.scopedLive("fails when the target speaks before it is asked, without trying again and again", () =>
    Effect.gen(function* () {
      const { answer, proxy } = yield* callThrough("http", "http://a.example", [connected(established + httpAnswer)])
      assert.strictEqual(answer.failure?.kind, "reset")
      assert.strictEqual(proxy.connections(), 1)
    })
  )

  // None of them closes the connection where it does not say so: the failure must not wait for that.
  const failures: ReadonlyArray<readonly [string, Step]> = [
    ["asks for a password", connected("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")],
    ["answers a page", connected("HTTP/1.1 403 Forbidden\r\n\r\n<!doctype html><title>No</title>")],
    ["answers only a page", connected("<!doctype html><title>No</title>")],
    ["switches protocols", connected("HTTP/1.1 101 Switching Protocols\r\n\r\n")],
    ["answers of another version", connected("HTTP/2 200\r\n\r\n")],
    ["has no status", connected("HTTP/1.1 ok\r\n\r\n")],
    ["has a status of four digits", connected("HTTP/1.1 2000 OK\r\n\r\n")],
    ["speaks SSH", connected("SSH-2.0-OpenSSH_9.2p1\r\n")],
    ["speaks SSH, byte by byte", connected("SSH-2.0-OpenSSH_9.2p1\r\n", { bytewise: true })],
    ["speaks TLS", connected(Buffer.from([21, 3, 1, 0, 2, 2, 70]))],
    ["closes within its head", connected("HTTP/1.1 200 OK\r\nVia: a", { ends: true })],
    ["closes behind an interim answer", connected("HTTP/1.1 100 Continue\r\n\r\n", { ends: true })],
    ["closes at once", connected("", { ends: true })],
    ["floods its head", connected(`HTTP/1.1 200 OK\r\n${"A: b\r\n".repeat(3_000)}`)],
    ["floods with interim answers", connected("HTTP/1.1 100 Continue\r\n\r\n".repeat(1_000))]
  ]
  it.effect.each(failures)("fails when the proxy %s", ([, step]) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { answer } = yield* callThrough("http", "http://a.example", [step])
        assert.strictEqual(answer.failure?.kind, "proxy")
      })
    )
  )
})
