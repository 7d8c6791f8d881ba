/** When backups are made without being asked for, and which are kept. The copies are real. */
import * as Events from "../../../src/observe/Events.ts"
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import type { GatewaySettings as Settings } from "../../../src/subjects/settings/entity.ts"
import { GatewaySettings } from "../../../src/subjects/flags/StoredFlags.ts"
import * as BackupSchedule from "../../../src/subjects/backups/BackupSchedule.ts"
import * as Backup from "../../../src/store/Backup.ts"
import { DataUnwritable } from "../../../src/store/Errors.ts"
import { eventually } from "../../support/eventually.ts"
import { mocked } from "../../support/Mocked.ts"
import { onDisk, temporaryFolder } from "../store/fixtures.ts"

const settingsOf = (backup: Settings["backup"]) => mocked(GatewaySettings, { current: () => ({ backup }) as Settings })

/** The schedule over a store on disk; `tries` counts the copies that were begun. */
const scheduled = <A, E>(
  backup: Settings["backup"],
  test: (tries: () => number) => Effect.Effect<A, E, Backup.Backup | SqlClient.SqlClient>,
  isFull = false
) =>
  Effect.flatMap(temporaryFolder, (dataDir) => {
    let tries = 0
    const counted = Backup.layer.pipe(
      Layer.flatMap((context) =>
        Layer.effect(
          Backup.Backup,
          Effect.map(Effect.provide(Backup.Backup, context), (real) => ({
            ...real,
            make: (reason: string) =>
              Effect.suspend(() => {
                tries += 1
                return isFull ? new DataUnwritable({ path: dataDir, reason: "ENOSPC" }) : real.make(reason)
              })
          }))
        )
      )
    )
    return test(() => tries).pipe(
      Effect.provide(
        BackupSchedule.layer.pipe(
          Layer.provide(Events.layer),
          Layer.provideMerge(counted),
          Layer.provideMerge(onDisk(dataDir)),
          Layer.provide(settingsOf(backup))
        )
      )
    )
  })

const hourly = { autoBackupEnabled: true, frequency: "hourly", keepLast: 2 } as const

const change = (n: number) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`INSERT INTO meta ${sql.insert({ key: `n${n}`, value: "x" })}`)

describe("the backup schedule", () => {
  it.scoped(
    "makes the first one ten minutes after the start, then one each hour if something changed, and keeps the newest",
    () =>
      scheduled(hourly, (tries) =>
        Effect.gen(function* () {
          const backup = yield* Backup.Backup
          const listed = (wanted: (reasons: ReadonlyArray<number>) => boolean) =>
            Effect.promise(() =>
              eventually(
                "the backups",
                () => Effect.runPromise(Effect.map(backup.list, (all) => all.map(({ createdAtMs }) => createdAtMs))),
                wanted
              )
            )
          yield* TestClock.adjust("9 minutes")
          assert.strictEqual(tries(), 0)
          yield* TestClock.adjust("1 minute")
          yield* listed((times) => times.length === 1)
          yield* TestClock.adjust("59 minutes")
          assert.strictEqual(tries(), 1)
          yield* TestClock.adjust("1 minute")
          yield* Effect.promise(() => eventually("the second copy", tries, (begun) => begun === 2))
          const [first] = yield* listed((times) => times.length === 1)
          for (const n of [1, 2, 3]) {
            yield* change(n)
            // The round before ends by itself, and only then waits for the clock.
            yield* Effect.repeat(TestClock.adjust("1 minute"), { while: () => tries() < n + 2, times: 10_000 })
            yield* listed((times) => times.length === Math.min(n + 1, 2) && times[0] !== first)
          }
          assert.strictEqual(tries(), 5)
          assert.notInclude(yield* listed((times) => times.length === 2), first)
        })
      )
  )

  it.scoped("tries a full disk again after its hour, not each minute", () =>
    scheduled(
      hourly,
      (tries) =>
        Effect.gen(function* () {
          yield* TestClock.adjust("30 minutes")
          assert.strictEqual(tries(), 1)
          yield* TestClock.adjust("40 minutes")
          assert.strictEqual(tries(), 2)
        }),
      true
    )
  )

  it.scoped("makes none when it is switched off", () =>
    scheduled({ ...hourly, autoBackupEnabled: false }, (tries) =>
      Effect.map(TestClock.adjust("3 hours"), () => assert.strictEqual(tries(), 0))
    )
  )
})
