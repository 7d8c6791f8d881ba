/** Makes backups by itself, as the settings say (`backup`): when one is due, and only if the database has changed since the last. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { claimed } from "../../plane/state/Claims.ts"
import type { GatewaySettings as Settings } from "../settings/entity.ts"
import { GatewaySettings } from "../flags/StoredFlags.ts"
import { announced, Events } from "../../observe/Events.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { Backup, reasons } from "../../store/Backup.ts"
import { isSame } from "../../store/BackupContent.ts"
import { describeStoreFailure } from "../../store/Errors.ts"

const hourMs = 3_600_000

export const periodMs: Readonly<Record<Settings["backup"]["frequency"], number>> = {
  hourly: hourMs,
  daily: 24 * hourMs,
  weekly: 7 * 24 * hourMs
}

/** A gateway that was just started is not yet busy with a copy. */
export const firstAfterMs = 600_000
const lookEvery = "1 minute"

/**
 * Decides whether one is due. `lastMs` is the time of the last one that was made or found not needed, null when there was none. A last
 * one in the future comes from a clock that was set back, and counts as none.
 */
export const isDue = (nowMs: number, startedMs: number, lastMs: number | null, everyMs: number): boolean =>
  lastMs === null || lastMs > nowMs ? nowMs - startedMs >= firstAfterMs : nowMs - lastMs >= everyMs

/** The last time that a scheduled backup was due. */
export interface BackupAttempt {
  readonly atMs: number
  /** Reason for which it failed, as a sentence; null: it was made, or not needed. */
  readonly problem: string | null
}

/** Goes with the service whose backups they are. */
const attempts = new WeakMap<typeof Backup.Service, BackupAttempt>()

/** Returns the last attempt since the start; null: there was none. */
export const lastAttempt = (backup: typeof Backup.Service): BackupAttempt | null => attempts.get(backup) ?? null

export const layer: Layer.Layer<never, never, AppConfig | Backup | Events | GatewaySettings> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const backup = yield* Backup
    const events = yield* Events
    const settings = yield* GatewaySettings
    const { databaseUrl } = yield* AppConfig
    const startedMs = yield* Clock.currentTimeMillis
    let lookedMs: number | null = null

    const once = Effect.gen(function* () {
      const { autoBackupEnabled, frequency, keepLast } = settings.current().backup
      if (!autoBackupEnabled || databaseUrl !== null) return
      const nowMs = yield* Clock.currentTimeMillis
      const latest = (yield* backup.list).find(({ reason }) => reason === reasons.scheduled)
      const lastMs = Math.max(latest?.createdAtMs ?? 0, lookedMs ?? 0)
      if (!isDue(nowMs, startedMs, lastMs === 0 ? null : lastMs, periodMs[frequency])) return
      // Also when it fails: a full disk is not tried every minute.
      lookedMs = nowMs
      const made = yield* announced(events, { kind: "backup", id: reasons.scheduled }, backup.make(reasons.scheduled))
      attempts.set(backup, { atMs: nowMs, problem: null })
      if (latest !== undefined && (yield* isSame(made, latest))) {
        return yield* backup.remove(made)
      }
      yield* backup.trim(reasons.scheduled, keepLast)
      yield* Effect.logInfo(`Backup ${made.id} was made (${made.sizeBytes} bytes).`)
    }).pipe(
      Effect.catchAll((failure) => {
        const problem = describeStoreFailure(failure)
        const noted = Effect.map(Clock.currentTimeMillis, (atMs) => void attempts.set(backup, { atMs, problem }))
        return Effect.zipRight(noted, Effect.logError(`The scheduled backup failed: ${problem}`))
      })
    )
    yield* Effect.forkScoped(claimed("backups", Effect.repeat(once, Schedule.spaced(lookEvery))))
  })
)
