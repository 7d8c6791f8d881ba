/** A usage log that cannot be written is seen where people look. */
import { assert, describe, it } from "@effect/vitest"
import Database from "better-sqlite3"
import * as Effect from "effect/Effect"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { eventually } from "../../support/eventually.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-full-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

describe("a usage log that cannot be written", () => {
  it.scopedLive("degrades the health, shows in the metrics, and is over when the rows are in", () =>
    Effect.gen(function* () {
      const dataDir = yield* folder
      const gateway = yield* TestGateway.start({ dataDir })
      const file = join(dataDir, readdirSync(dataDir).find((name) => /\.(?:db|sqlite3?)$/.test(name)) ?? "")
      const outside = new Database(file)
      yield* Effect.promise(async () => {
        const health = (isWanted: (problem: string | null) => boolean) =>
          eventually(
            "the health of the usage log to change",
            () => gateway.manage("GET", "/api/monitoring/health"),
            (found) => isWanted(found.usageLog.problem)
          )
        const metrics = async () => (await fetch(`${gateway.url}/metrics`)).text()
        assert.include(await metrics(), "gateway_usage_log_failing 0")
        outside.exec("CREATE TRIGGER full BEFORE INSERT ON usage_log BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
        await gateway.post("/v1/chat/completions", { model: "nobody/m", messages: [] })
        const troubled = await health((problem) => problem !== null)
        assert.strictEqual(troubled.status, "degraded")
        assert.match(troubled.usageLog.problem, /cannot be brought into the database/)
        assert.strictEqual(troubled.usageLog.waitingRows, 1)
        assert.match(await metrics(), /gateway_usage_log_failing 1\n[^]*gateway_usage_log_waiting_rows 1\n/)
        outside.exec("DROP TRIGGER full")
        const well = await health((problem) => problem === null)
        assert.deepStrictEqual([well.status, well.usageLog.waitingRows], ["ok", 0])
        outside.close()
      })
    })
  )
})
