/** The transparent mode with all that it needs, for a process of the tests. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CaptureParts } from "../../src/observe/capture/CaptureParts.ts"
import type { CaptureSink } from "../../src/observe/capture/CaptureSink.ts"
import * as HostJournal from "../../src/observe/capture/host/HostJournal.ts"
import { defaultSettings, type TransparentSettings } from "../../src/observe/capture/transparent/Settings.ts"
import { SessionTrust } from "../../src/observe/capture/transparent/SessionTrust.ts"
import * as Transparent from "../../src/observe/capture/transparent/Transparent.ts"
import * as AppConfig from "../../src/platform/AppConfig.ts"
import * as Timers from "../../src/platform/Timers.ts"

export interface ModeOptions {
  readonly sink: CaptureSink
  /** PEM of what signs the certificates of servers. */
  readonly internet: string
  /** Put in front of `PATH`. */
  readonly programs?: string
  readonly dataDir?: string
  readonly idleTimeoutMs?: number
}

export const makeMode = ({
  dataDir = mkdtempSync(join(tmpdir(), "gateway-native-")),
  idleTimeoutMs = 300_000,
  internet,
  programs,
  sink
}: ModeOptions) => {
  const path = process.env["PATH"] ?? ""
  /** Where clients find the session's authority. */
  const caFile = join(dataDir, "session-ca.pem")
  const parts = Layer.succeed(CaptureParts, {
    sink,
    isNeverDecrypted: () => false,
    verifiesServers: () => true,
    extraAuthority: () => internet,
    idleTimeoutMs,
    maxBodyBytes: 1_048_576,
    changed: () => {}
  })
  const trust = Layer.succeed(SessionTrust, {
    install: (certificate) =>
      Effect.acquireRelease(
        Effect.sync(() => writeFileSync(caFile, certificate)),
        () => Effect.sync(() => rmSync(caFile, { force: true }))
      )
  })
  const config = AppConfig.layerOf({
    dataDir,
    environment: new Map([["PATH", programs === undefined ? path : `${programs}:${path}`]])
  })
  const runtime = ManagedRuntime.make(
    Transparent.layer.pipe(
      Layer.provideMerge(HostJournal.layer),
      Layer.provide(Layer.mergeAll(parts, trust, config, Timers.layer))
    )
  )
  const started = (settings: Partial<TransparentSettings> = {}) =>
    Effect.flatMap(Transparent.Transparent, (mode) =>
      mode.start({ settings: { ...defaultSettings, ...settings }, sudoPassword: null })
    )
  return {
    caFile,
    dataDir,
    start: (settings?: Partial<TransparentSettings>) => runtime.runPromise(started(settings)),
    /** The tag of the error. */
    refused: (settings?: Partial<TransparentSettings>) => runtime.runPromise(Effect.flip(started(settings))),
    status: () => runtime.runPromise(Effect.flatMap(Transparent.Transparent, (mode) => mode.status)),
    stop: () => runtime.runPromise(Effect.flatMap(Transparent.Transparent, (mode) => mode.stop)),
    entries: () => runtime.runPromise(Effect.flatMap(HostJournal.HostJournal, (journal) => journal.entries)),
    dispose: () => runtime.dispose()
  }
}

export type Mode = ReturnType<typeof makeMode>
