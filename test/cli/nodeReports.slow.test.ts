/** The reports of a week and of a month from two gateways on one database: each is told once, whoever goes and comes. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { besideOthers } from "../support/company/Company.ts"
import { startChannel } from "../support/company/Sites.ts"
import { isPostgresThere, noPostgres } from "../support/postgres/Server.ts"
import { adminKey, ask, costUsd, manage, provider, until } from "./processes.ts"
import { emptyDatabase } from "./postgres.ts"
import { program, type Serving } from "./support.ts"

const { dataDir, serve } = program()
const upstream = provider()

/** A Monday with which a month begins: a week and a month are over. */
const mondayMs = Date.UTC(2027, 1, 1)
/** Until then both must have started, and have served. */
const beforeMs = 45_000

const there = isPostgresThere()

describe.skipIf(!there || process.platform !== "linux")(`reports of two gateways${there ? "" : noPostgres}`, () => {
  it.scopedLive(
    "are told once, and not again when the one that told is killed and comes back",
    () =>
      Effect.gen(function* () {
        const channel = yield* startChannel
        const told = () => channel.alerts.map(({ event }) => event).toSorted()
        yield* Effect.promise(async () => {
          const database = await emptyDatabase()
          const folder = dataDir()
          const CLOCK_FILE = join(folder, "clock")
          const move = (toMs: number): void => writeFileSync(CLOCK_FILE, String(toMs - Date.now()), { mode: 0o600 })
          move(mondayMs - beforeMs)
          const shared = {
            CLOCK_FILE,
            NODE_OPTIONS: `--import ${new URL("../support/movedClock.mjs", import.meta.url).href}`,
            GATEWAY_DATABASE_URL: database.url,
            GATEWAY_ADMIN_KEY: adminKey,
            GATEWAY_ENCRYPTION_KEY: "one-key-of-all-nodes-of-more-than-32-characters",
            ...besideOthers
          }
          const first = await serve({ ...shared, DATA_DIR: folder })
          await manage(first, "POST", "/api/providers", upstream.connection())
          await manage(first, "POST", "/api/webhooks", {
            url: channel.url,
            events: ["report.weekly", "report.monthly"]
          })
          assert.strictEqual(await first.stop("SIGTERM"), 0)
          move(mondayMs - beforeMs)
          const one = await serve({ ...shared, DATA_DIR: folder })
          const two = await serve({ ...shared, DATA_DIR: dataDir() })
          const served = (server: Serving) => until(async () => (await ask(server)) === 200, "it has the connection")
          await served(one)
          await served(two)
          assert.isEmpty(told())
          const calls = upstream.calls()

          // Both wait for the end of the week and of the month.
          await until(() => told().length >= 2, "both reports have come", 200)
          assert.deepStrictEqual(told(), ["report.monthly", "report.weekly"])
          for (const { data } of channel.alerts) assert.closeTo(Number(data["cost_usd"]), calls * costUsd, 1e-9)

          // Who starts looks at once: the one that told is killed, and comes back; the other one does its work meanwhile.
          await one.stop("SIGKILL")
          const again = await serve({ ...shared, DATA_DIR: folder })
          await served(again)
          assert.strictEqual(await two.stop("SIGTERM"), 0)
          const third = await serve({ ...shared, DATA_DIR: dataDir() })
          await served(third)
          const rows = await database.rows("SELECT COUNT(*) AS waiting FROM webhook_outbox")
          assert.strictEqual(Number(rows[0]?.["waiting"]), 0)
          assert.deepStrictEqual(told(), ["report.monthly", "report.weekly"])
          for (const server of [again, third]) await server.stop("SIGTERM")
        })
      }),
    300_000
  )
})
