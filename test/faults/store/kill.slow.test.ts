import * as SqlClient from "@effect/sql/SqlClient"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { rolldown } from "rolldown"
import * as UsageJournal from "../../../src/store/usage/UsageJournal.ts"
import { onDisk, temporaryFolder } from "../../unit/store/fixtures.ts"

const folder = mkdtempSync(join(tmpdir(), "gateway-kill-"))
const child = join(folder, "child.mjs")
const driver = pathToFileURL(createRequire(import.meta.url).resolve("better-sqlite3")).href

beforeAll(async () => {
  const bundle = await rolldown({
    input: new URL("child.ts", import.meta.url).pathname,
    platform: "node",
    logLevel: "silent",
    plugins: [{ name: "driver", resolveId: (id) => (id === "better-sqlite3" ? { id: driver, external: true } : null) }]
  })
  await bundle.write({ file: child, format: "esm", codeSplitting: false })
  await bundle.close()
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Kills the writer without warning after `enough` acknowledgements; gives all it made. */
const killedAfter = async (
  enough: number,
  what: "usage" | "combo",
  dataDir: string,
  beforeKill: () => Promise<void>
) => {
  const writer = spawn(process.execPath, [child, what, dataDir], { stdio: ["ignore", "pipe", "inherit"] })
  const ended = once(writer, "close")
  let said = ""
  let killing: Promise<void> | null = null
  writer.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text
    if (killing === null && said.split("\n").length > enough) {
      killing = beforeKill().finally(() => writer.kill("SIGKILL"))
    }
  })
  const [, signal] = await ended
  await killing
  assert.strictEqual(signal, "SIGKILL")
  return said.split("\n").slice(0, -1)
}

const idsIn = (table: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [verdict] = yield* sql<{ integrityCheck: string }>`PRAGMA integrity_check`
    assert.strictEqual(verdict?.integrityCheck, "ok")
    return new Set((yield* sql<{ id: string }>`SELECT id FROM ${sql(table)}`).map((row) => row.id))
  })

const missingFrom = (ids: ReadonlySet<string>, acknowledged: ReadonlyArray<string>) =>
  acknowledged.filter((id) => !ids.has(id))

describe("kill -9 in a write storm", () => {
  it.live.each([{ enough: 1 }, { enough: 300 }, { enough: 4_000 }])(
    "keeps every usage row after $enough",
    ({ enough }) =>
      Effect.gen(function* () {
        const dataDir = yield* temporaryFolder
        const acknowledged = yield* Effect.promise(() => killedAfter(enough, "usage", dataDir, async () => {}))
        assert.isAtLeast(acknowledged.length, enough)
        const ids = yield* Effect.provide(idsIn("usage_log"), Layer.provideMerge(UsageJournal.layer, onDisk(dataDir)))
        assert.deepStrictEqual(missingFrom(ids, acknowledged), [])
      }).pipe(Effect.scoped)
  )

  it.live("keeps every committed record, and the lock of the killed process blocks no other", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const whileItRuns = async () => {
        const second = await Effect.runPromise(Effect.either(Effect.scoped(Layer.build(onDisk(dataDir)))))
        assert.strictEqual(Either.isLeft(second) ? second.left._tag : "opened", "GatewayRunning")
      }
      const acknowledged = yield* Effect.promise(() => killedAfter(200, "combo", dataDir, whileItRuns))
      const ids = yield* Effect.provide(idsIn("combos"), onDisk(dataDir))
      assert.deepStrictEqual(missingFrom(ids, acknowledged), [])
    }).pipe(Effect.scoped)
  )
})
