/** What the inspector is told of captured exchanges. */
import { assert, describe, it } from "@effect/vitest"
import { type CapturedEnd, type CapturedRequest, noBody } from "../../../src/observe/capture/CaptureSink.ts"
import { makeInspectorSink } from "../../../src/observe/capture/InspectorSink.ts"

const request: CapturedRequest = {
  source: "custom-host",
  agent: null,
  startedAtMs: 1_000,
  method: "POST",
  scheme: "https",
  host: "api.example.test",
  serverName: "api.example.test",
  path: "/v1/chat",
  httpVersion: "HTTP/2",
  headers: ["Content-Type", "application/json"],
  client: { address: "127.0.0.1", port: 40_000 },
  server: { address: "203.0.113.7", port: 443 }
}
const end: CapturedEnd = {
  head: { status: 200, headers: ["X-A", "1"], afterMs: 30 },
  requestBody: { chunks: [Buffer.from("ab"), Buffer.from("c")], bytes: 5 },
  responseBody: noBody,
  sentMs: 10,
  totalMs: 50,
  error: null,
  tunnelled: null
}

const setUp = (recordsPassthrough = true) => {
  const calls: Array<readonly [string, ...ReadonlyArray<unknown>]> = []
  const note =
    (name: string) =>
    (...given: ReadonlyArray<unknown>): string => {
      calls.push([name, ...given])
      return "id-1"
    }
  const sink = makeInspectorSink({
    inspector: { begin: note("begin"), update: note("update"), finish: note("finish"), attribute: note("attribute") },
    kindOf: (host) => (host === "api.example.test" ? "llm" : null),
    recordsPassthrough: () => recordsPassthrough,
    portOf: (source) => (source === "custom-host" ? 8_443 : null)
  })
  return { calls, sink }
}

describe("the inspector", () => {
  it("is told the kind of a custom host, and by which ports its client can be found", () => {
    const { calls, sink } = setUp()
    assert.strictEqual(sink.begin(request), "id-1")
    assert.deepInclude(calls[0]?.[2], {
      source: "custom-host",
      kind: "llm",
      path: "/v1/chat",
      httpVersion: "HTTP/2",
      atMs: 1_000
    })
    assert.deepStrictEqual(calls[1], ["attribute", "id-1", { localPort: 40_000, remotePort: 8_443 }])
  })

  it("is told bodies, sizes and times when it is over", () => {
    const { calls, sink } = setUp()
    sink.finish("id-1", end)
    const [, , told] = calls[0] ?? []
    assert.deepInclude(told, {
      status: 200,
      requestSize: 5,
      responseSize: 0,
      responseBody: null,
      error: null,
      proxyLatencyMs: 10,
      upstreamLatencyMs: 20,
      totalLatencyMs: 50
    })
    assert.strictEqual(String((told as { readonly requestBody: Buffer }).requestBody), "abc")
  })

  it.each([
    [{ head: null, error: { code: "ECONNRESET", message: "gone" } }, "error"],
    [{ head: null }, "error"],
    [{ head: null, tunnelled: "never_decrypt" as const }, 200]
  ])("is told how %j ended: %s", (part, status) => {
    const { calls, sink } = setUp()
    sink.finish("id-1", { ...end, ...part })
    assert.deepInclude(calls[0]?.[2], { status })
  })

  it("names a tunnel by its port, and a fronted domain by both names", () => {
    const { calls, sink } = setUp()
    sink.begin({ ...request, source: "tproxy", method: "CONNECT", path: "" })
    sink.begin({ ...request, host: "other.example" })
    assert.deepInclude(calls[0]?.[2], { path: ":443" })
    assert.deepInclude(calls[2]?.[2], { note: "The name in the TLS handshake was api.example.test." })
  })

  it("is told nothing of what only passed through an agent's host, where that is not wanted", () => {
    const { calls, sink } = setUp(false)
    assert.strictEqual(sink.begin({ ...request, source: "agent-bridge", agent: "codex" }), "")
    assert.deepStrictEqual(calls, [])
  })
})
