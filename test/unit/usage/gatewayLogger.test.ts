import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { LogOutput } from "../../../src/observe/usage/telemetry/LogOutput.ts"
import { type LogSink, make as makeSink } from "../../../src/observe/usage/telemetry/LogSink.ts"
import { jsonStyle, type LogStyle, styleOf } from "../../../src/observe/usage/telemetry/LogStyle.ts"
import { logRefusal } from "../../../src/entry/edge/RefusalLog.ts"
import * as HouseLogger from "../../../src/observe/usage/telemetry/GatewayLogger.ts"
import * as TestTimers from "../../support/TestTimers.ts"

const text: LogStyle = { format: "text", colours: false }

const said = (style: LogStyle) => {
  const lines: Array<string> = []
  const logger = HouseLogger.make(style, (line) => lines.push(line))
  return Effect.logWarning("a list\nwas not stored", "twice").pipe(
    Effect.zipRight(Effect.logError("broke off", new Error("disk full"))),
    Effect.annotateLogs("connection", "c1"),
    Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
    Effect.as(lines)
  )
}

describe("the program's own log lines", () => {
  it.effect("are JSON, one per line, like those of requests", () =>
    Effect.gen(function* () {
      const [warning, error] = (yield* said(jsonStyle)).map((line) => JSON.parse(line))
      assert.deepInclude(warning, { level: "warn", msg: "a list was not stored twice", connection: "c1" })
      assert.match(warning.time, /^\d{4}-\d\d-\d\dT/)
      assert.deepInclude(error, { level: "error" })
      assert.include(`${error.msg} ${error.cause ?? ""}`, "disk full")
    })
  )

  it.effect("are worded for a person at a terminal", () =>
    Effect.gen(function* () {
      const [warning] = yield* said(text)
      assert.match(warning ?? "", /^\d\d:\d\d:\d\d WARN a list was not stored twice \(connection=c1\)$/)
    })
  )

  it.effect("cannot be forged or steered by foreign text, neither in facts nor in a cause", () =>
    Effect.gen(function* () {
      const evil = "a\u001b[2J\u009b31m\u202e\u2028\r\u007fz"
      for (const style of [jsonStyle, text]) {
        const lines: Array<string> = []
        const logger = HouseLogger.make(style, (line) => lines.push(line))
        yield* Effect.logError(evil, new Error(evil)).pipe(
          Effect.annotateLogs("model", evil),
          Effect.provide(HouseLogger.layer(logger, "info"))
        )
        assert.notMatch(lines.join(""), /(?![\n])[\p{Cc}\u2028\u202e]/u)
        assert.include(lines.join(""), "z")
      }
    })
  )

  it.effect("replace the lines of every other logger", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const others: Array<unknown> = []
      const logger = HouseLogger.make(text, (line) => lines.push(line))
      yield* Effect.logInfo("hello").pipe(
        Effect.provide(HouseLogger.layer(logger, "info")),
        Effect.provide(
          Logger.replace(
            Logger.defaultLogger,
            Logger.make(({ message }) => others.push(message))
          )
        )
      )
      assert.deepStrictEqual(others, [])
      assert.match(lines.join("|"), /^\d\d:\d\d:\d\d hello$/)
    })
  )

  it.effect("show a refused request as the request log shows others", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      yield* logRefusal({
        requestId: "r-1",
        method: "GET",
        url: "/favicon.ico?k=v",
        status: 404,
        reason: "No route."
      }).pipe(
        Effect.provide(
          HouseLogger.layer(
            HouseLogger.make(text, (line) => lines.push(line)),
            "info"
          )
        )
      )
      assert.match(lines.join("|"), /^\d\d:\d\d:\d\d 404 GET \/favicon\.ico {2}No route\. \[r-1\]$/)
    })
  )

  it("are text at terminals and JSON elsewhere, unless said otherwise, with colours only for text at a terminal", () => {
    const none = new Map<string, string>()
    assert.deepStrictEqual(styleOf(null, true, none), { format: "text", colours: true })
    assert.deepStrictEqual(styleOf(null, false, none), { format: "json", colours: false })
    assert.deepStrictEqual(styleOf("json", true, none), { format: "json", colours: false })
    assert.deepStrictEqual(styleOf("text", false, none), { format: "text", colours: false })
    assert.isFalse(styleOf(null, true, new Map([["NO_COLOR", "1"]])).colours)
    assert.isTrue(styleOf(null, true, new Map([["NO_COLOR", ""]])).colours)
    assert.isFalse(styleOf(null, true, new Map([["TERM", "dumb"]])).colours)
  })

  it.scoped("are left out below the level that is wanted", () =>
    Effect.gen(function* () {
      const levels = (least: Parameters<typeof makeSink>[1]) =>
        makeSink(new LogOutput({ write: () => {} }), least).pipe(
          Effect.provide(TestTimers.layer),
          Effect.map(({ takes }: LogSink["Type"]) => (["info", "warn", "error"] as const).filter(takes))
        )
      assert.deepStrictEqual(yield* levels("debug"), ["info", "warn", "error"])
      assert.deepStrictEqual(yield* levels("warn"), ["warn", "error"])
      assert.deepStrictEqual(yield* levels("none"), [])
    })
  )
})
