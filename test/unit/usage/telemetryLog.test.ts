import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import type { UsageRow } from "../../../src/contract/domain/Usage.ts"
import * as LogSink from "../../../src/observe/usage/telemetry/LogSink.ts"
import { LogOutput } from "../../../src/observe/usage/telemetry/LogOutput.ts"
import { makeJsonLine } from "../../../src/observe/usage/telemetry/RequestLog.ts"
import { makeTextLine } from "../../../src/observe/usage/telemetry/RequestText.ts"
import { clean, pathOnly } from "../../../src/observe/usage/telemetry/Summary.ts"
import * as TestTimers from "../../support/TestTimers.ts"
import { usageRow } from "../../support/usageRow.ts"

const request = { method: "POST", path: "/v1/chat/completions?key=gw_secret" }

const jsonLine = makeJsonLine()
const textLine = makeTextLine({ format: "text", colours: false })
/** Without its time of day, which depends on the machine's time zone. */
const worded = (row: UsageRow): string => textLine({ ...request, row }).replace(/^\d\d:\d\d:\d\d /, "")

describe("request log", () => {
  it("names the gateway where there are several, and nothing where there is one", () => {
    const row = usageRow()
    const alone = JSON.parse(jsonLine({ ...request, row }))
    assert.notProperty(alone, "node")
    assert.deepStrictEqual(JSON.parse(makeJsonLine('gw "1":20128')({ ...request, row })), {
      ...alone,
      node: 'gw "1":20128'
    })
  })

  it("tells the request in one JSON line", () => {
    assert.deepStrictEqual(JSON.parse(jsonLine({ ...request, row: usageRow() })), {
      time: "2025-10-09T08:53:20.250Z",
      level: "info",
      msg: "request",
      requestId: "0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee",
      method: "POST",
      path: "/v1/chat/completions",
      sourceWire: "chat",
      targetWire: "chat",
      requestedModel: "openai/gpt-4.1",
      provider: "openai",
      model: "gpt-4.1",
      combo: null,
      status: 200,
      outcome: "completed",
      streamed: false,
      latencyMs: 250,
      ttftMs: 100,
      attempts: 1,
      tokensIn: 10,
      tokensOut: 20,
      costUsd: 0.0015,
      apiKeyId: "key-1",
      error: null
    })
  })

  it("names the operator and an admin session, who have no key", () => {
    for (const principal of ["operator", "session"] as const) {
      const line = jsonLine({ ...request, row: usageRow({ apiKeyId: null, principal }) })
      assert.deepInclude(JSON.parse(line), { apiKeyId: null, principal, error: null })
    }
  })

  it("ranks failures by whose fault they are, and does not call an unpriced answer free", () => {
    const level = (more: Parameters<typeof usageRow>[0]) =>
      JSON.parse(jsonLine({ ...request, row: usageRow(more) })).level
    assert.strictEqual(level({ outcome: "failed", status: 502 }), "error")
    assert.strictEqual(level({ outcome: "failed", status: 404 }), "warn")
    assert.strictEqual(level({ outcome: "aborted", status: 499 }), "info")
    const unpriced = jsonLine({ ...request, row: usageRow({ priced: false, costNanoUsd: 0 }) })
    assert.isNull(JSON.parse(unpriced).costUsd)
  })

  it("cannot be forged or flooded by a model name", () => {
    const row = usageRow({ requestedModel: `a\n{"level":"error"}\u001b[31m\u2028\u202e${"x".repeat(1000)}` })
    for (const line of [jsonLine({ ...request, row }), textLine({ ...request, row })]) {
      assert.notMatch(line, /[\p{Cc}\p{Cf}\p{Zl}]/u)
      assert.isBelow(line.length, 1000)
    }
  })

  it("words the request for a person, in columns, and says what went wrong with the id to ask about it", () => {
    const failed = { outcome: "failed", status: 503, error: "http_503", attempts: 2, priced: false } as const
    assert.deepStrictEqual(
      [
        usageRow(),
        usageRow({ requestedModel: "auto", latencyMs: 12_345, tokens: { ...usageRow().tokens, in: 128_400 } }),
        usageRow({ costNanoUsd: 900, status: 499, outcome: "aborted" }),
        usageRow(failed),
        usageRow({ ...failed, attempts: 0, provider: null, model: null, error: "ALL_ACCOUNTS_INACTIVE" })
      ].map(worded),
      [
        "200   250 ms       10 in 20 out   $0.00150  openai/gpt-4.1",
        "200   12.3 s   128.4k in 20 out   $0.00150  auto → openai/gpt-4.1",
        "499   250 ms       10 in 20 out  <$0.00001  openai/gpt-4.1  the client left [0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee]",
        "503   250 ms       10 in 20 out   unpriced  openai/gpt-4.1  2 attempts, http_503 [0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee]",
        "503   250 ms       10 in 20 out   unpriced  openai/gpt-4.1  no account can be used, see 'gateway provider list' [0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee]"
      ]
    )
  })

  it("colours status and time only where it is told to", () => {
    const coloured = makeTextLine({ format: "text", colours: true })({ ...request, row: usageRow() })
    assert.include(coloured, "\u001b[32m200\u001b[0m")
    assert.notInclude(worded(usageRow()), "\u001b")
  })
})

describe("safe strings", () => {
  it("removes the query and keys in tokenised paths", () => {
    assert.strictEqual(pathOnly("/v1/models?api_key=secret"), "/v1/models")
    assert.strictEqual(pathOnly("/v1/models#secret"), "/v1/models")
    assert.strictEqual(pathOnly("/api/v1/editor/any-secret/api/chat"), "/api/v1/editor/***/api/chat")
    assert.strictEqual(pathOnly("/API/v1/Editor//any-secret"), "/API/v1/Editor//***")
    assert.strictEqual(pathOnly("/elsewhere/gw_abc/x"), "/elsewhere/***/x")
    assert.strictEqual(pathOnly("/elsewhere/gwr_abc/x"), "/elsewhere/***/x")
  })

  it("keeps ordinary text as it is", () => {
    assert.strictEqual(clean("modèle/名前-1"), "modèle/名前-1")
    assert.strictEqual(clean("abcdef", 3), "abc")
  })
})

describe("LogSink", () => {
  const setUp = Effect.gen(function* () {
    const written: Array<string> = []
    const scope = yield* Scope.make()
    const output = new LogOutput({ write: (text) => written.push(text) })
    const sink = yield* LogSink.make(output).pipe(Effect.provide(TestTimers.layer), Scope.extend(scope))
    return { written, scope, sink, output }
  })

  it.effect("gathers lines until the delay is over", () =>
    Effect.gen(function* () {
      const { sink, written } = yield* setUp
      sink.write("one")
      yield* TestClock.adjust(LogSink.flushAfterMs - 1)
      sink.write("two")
      assert.deepStrictEqual(written, [])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(written, ["one\ntwo\n"])
      sink.write("three")
      yield* TestClock.adjust(LogSink.flushAfterMs)
      assert.deepStrictEqual(written, ["one\ntwo\n", "three\n"])
    })
  )

  it.effect("writes at once when much has gathered", () =>
    Effect.gen(function* () {
      const { sink, written } = yield* setUp
      sink.write("x".repeat(LogSink.flushAtCharacters))
      assert.lengthOf(written, 1)
    })
  )

  it.effect("keeps every line whole and in order, of any length and script", () =>
    Effect.gen(function* () {
      const { scope, sink, written } = yield* setUp
      const lines = Array.from({ length: 2_000 }, (_, index) => `${index} ${"aé漢😀".repeat((index * 37) % 400)}`)
      lines.splice(1_000, 0, "long ".repeat(100_000))
      for (const line of lines) sink.write(line)
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(written.join(""), `${lines.join("\n")}\n`)
      assert.isBelow(written.length, 100)
    })
  )

  it.effect("a line that is written at once comes after those that wait", () =>
    Effect.gen(function* () {
      const { output, sink, written } = yield* setUp
      sink.write("a request")
      output.writeNow("Stopping")
      sink.write("another")
      yield* TestClock.adjust(LogSink.flushAfterMs)
      assert.strictEqual(written.join(""), "a request\nStopping\nanother\n")
    })
  )

  it.effect("writes what is left when the scope closes", () =>
    Effect.gen(function* () {
      const { scope, sink, written } = yield* setUp
      sink.write("last")
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(written, ["last\n"])
      yield* TestClock.adjust(LogSink.flushAfterMs)
      assert.lengthOf(written, 1)
    })
  )
})
