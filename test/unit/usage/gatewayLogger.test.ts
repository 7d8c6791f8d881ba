import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { type LogSink, make as makeSink } from "../../../src/usage/telemetry/LogSink.ts"
import * as HouseLogger from "../../../src/usage/telemetry/GatewayLogger.ts"
import * as TestTimers from "../../support/TestTimers.ts"

const said = (interactive: boolean) => {
  const lines: Array<string> = []
  const logger = HouseLogger.make(interactive, (line) => lines.push(line))
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
      const [warning, error] = (yield* said(false)).map((line) => JSON.parse(line))
      assert.deepInclude(warning, { level: "warn", msg: "a list was not stored twice", connection: "c1" })
      assert.match(warning.time, /^\d{4}-\d\d-\d\dT/)
      assert.deepInclude(error, { level: "error" })
      assert.include(`${error.msg} ${error.cause ?? ""}`, "disk full")
    })
  )

  it.effect("are worded for a person at a terminal", () =>
    Effect.gen(function* () {
      const [warning] = yield* said(true)
      assert.match(warning ?? "", /^\d\d:\d\d:\d\d\.\d{3} WARN a list was not stored twice \(connection=c1\)$/)
    })
  )

  it.scoped("are left out below the level that is wanted", () =>
    Effect.gen(function* () {
      const levels = (least: Parameters<typeof makeSink>[1]) =>
        makeSink({ write: () => {} }, least).pipe(
          Effect.provide(TestTimers.layer),
          Effect.map(({ takes }: LogSink["Type"]) => (["info", "warn", "error"] as const).filter(takes))
        )
      assert.deepStrictEqual(yield* levels("debug"), ["info", "warn", "error"])
      assert.deepStrictEqual(yield* levels("warn"), ["warn", "error"])
      assert.deepStrictEqual(yield* levels("none"), [])
    })
  )
})
