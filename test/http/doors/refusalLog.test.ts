/** Requests that come to no handler leave a line in the log, without their query. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as HouseLogger from "../../../src/observe/usage/telemetry/GatewayLogger.ts"
import { jsonStyle } from "../../../src/observe/usage/telemetry/LogStyle.ts"
import * as TestGateway from "../../support/TestGateway.ts"

describe("requests that come to no handler", () => {
  it.scopedLive("unknown routes, wrong methods and foreign pages leave a line each, with path and status", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = HouseLogger.make(jsonStyle, (line) => void lines.push(line))
      const gateway = yield* TestGateway.start().pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
      yield* Effect.promise(async () => {
        for (const [method, path, status, headers] of [
          ["GET", "/v1/nowhere?api_key=secret", 404, {}],
          ["POST", "/api/nowhere", 404, {}],
          ["DELETE", "/v1/chat/completions?key=secret", 405, {}],
          ["DELETE", "/api/combos", 405, {}],
          ["POST", "/v1/messages?key=secret", 403, { origin: "http://foreign.example" }]
        ] as const) {
          const answer = await fetch(gateway.url + path, { method, headers })
          await answer.text()
          assert.strictEqual(answer.status, status, path)
          const requestId = answer.headers.get("x-gateway-request-id") ?? "none"
          const told = lines.filter((line) => line.includes(requestId))
          assert.lengthOf(told, 1, `${method} ${path}: ${lines.join("\n")}`)
          const { error, level, time, ...facts } = JSON.parse(told[0] ?? "")
          assert.isString(error)
          assert.isString(time)
          assert.strictEqual(level, status === 403 ? "warn" : "info")
          assert.deepStrictEqual(facts, {
            msg: "request refused",
            requestId,
            method,
            path: path.replace(/\?.*/, ""),
            status
          })
        }
        assert.notInclude(lines.join("\n"), "secret")
      })
    })
  )
})
