/** Shared state of all parts of capture: the stored switches, the settings of the environment, and the open ports. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { AuditLog } from "../../subjects/auth/AuditLog.ts"
import type { AuditRow } from "../../subjects/audit/entity.ts"
import { type CaptureChange, type CaptureThing, Events } from "../Events.ts"
import { Flags } from "../../subjects/flags/service.ts"
import type { Inspector } from "../inspector/Inspector.ts"
import { LazyInspector } from "../inspector/LazyInspector.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { Timers } from "../../platform/Timers.ts"
import type { StoreError } from "../../store/Errors.ts"
import type { SettingsRepo } from "../../subjects/settings/repo.ts"
import { CaptureParts } from "./CaptureParts.ts"
import * as CaptureSettings from "./CaptureSettings.ts"
import { makeInspectorSink } from "./InspectorSink.ts"
import { neverDecrypt } from "./NeverDecrypt.ts"

export interface OpenPorts {
  proxy: number | null
  server: number | null
}

export class CaptureState extends Context.Tag("gateway/observe/capture/CaptureState")<
  CaptureState,
  {
    readonly settings: CaptureSettings.CaptureSettings
    readonly ports: OpenPorts
    readonly inspector: typeof Inspector.Service
    /** `MITM_PORT`. */
    readonly serverPort: number
    /** Returns the timeout in force, in ms: that of a person, else `MITM_IDLE_TIMEOUT_MS`. */
    readonly idleTimeoutMs: () => number
  }
>() {}

const usualServerPort = 443
const usualIdleTimeoutMs = 300_000
export const idleLimits = { least: 1_000, most: 86_400_000 }

const whole = (text: string | undefined, usual: number, least: number, most: number): number | null => {
  const trimmed = text?.trim() ?? ""
  if (trimmed === "") return usual
  const value = /^\d{1,9}$/.test(trimmed) ? Number(trimmed) : Number.NaN
  return value >= least && value <= most ? value : null
}

export const make: Effect.Effect<typeof CaptureState.Service, StoreError, AppConfig | LazyInspector | SettingsRepo> =
  Effect.gen(function* () {
    const { environment } = yield* AppConfig
    const { inspector } = yield* (yield* LazyInspector).get
    const settings = yield* CaptureSettings.make
    const read = (name: string, usual: number, least: number, most: number): Effect.Effect<number> => {
      const value = whole(environment.get(name), usual, least, most)
      if (value !== null) return Effect.succeed(value)
      return Effect.as(
        Effect.logWarning(`${name} must be a whole number from ${least} to ${most}; ${usual} is used.`),
        usual
      )
    }
    const serverPort = yield* read("MITM_PORT", usualServerPort, 0, 65_535)
    const idleMs = yield* read("MITM_IDLE_TIMEOUT_MS", usualIdleTimeoutMs, idleLimits.least, idleLimits.most)
    return CaptureState.of({
      settings,
      inspector,
      serverPort,
      ports: { proxy: null, server: null },
      idleTimeoutMs: () => settings.current().idleTimeoutMs ?? idleMs
    })
  })

export const layer = Layer.effect(CaptureState, make)

/** Makes the audit row of a change by the gateway itself; requests have rows of their own (`entry/management/Management`). */
const automaticRow = (id: string, timestampMs: number, change: CaptureChange, what: CaptureThing): AuditRow => ({
  id,
  timestampMs,
  action: `capture.${change}`,
  actor: "gateway",
  target: what,
  resourceType: "capture",
  status: "success",
  ip: "gateway",
  details: { httpStatus: 200 }
})

/** The rules of all sources, over the stored switches. */
export const partsLayer: Layer.Layer<CaptureParts, never, CaptureState | Flags | Events | AuditLog | IdGen | Timers> =
  Layer.effect(
    CaptureParts,
    Effect.gen(function* () {
      const { idleTimeoutMs, inspector, ports, settings } = yield* CaptureState
      const flags = yield* Flags
      const events = yield* Events
      const audit = yield* AuditLog
      const ids = yield* IdGen
      const timers = yield* Timers
      const runFork = Runtime.runFork(yield* Effect.runtime())
      let patterns: ReadonlyArray<string> | null = null
      let fits = neverDecrypt([])
      return CaptureParts.of({
        sink: makeInspectorSink({
          inspector,
          kindOf: (host) => settings.current().hosts.find((custom) => custom.host === host)?.kind ?? null,
          recordsPassthrough: () => settings.current().recordPassthrough,
          portOf: (source) => {
            if (source === "http-proxy" || source === "system-proxy") return ports.proxy
            return source === "custom-host" || source === "agent-bridge" ? ports.server : null
          }
        }),
        isNeverDecrypted: (host) => {
          const { bypass } = settings.current()
          if (bypass !== patterns) {
            patterns = bypass
            fits = neverDecrypt(bypass)
          }
          return fits(host)
        },
        verifiesServers: () => !flags.isOn("MITM_DISABLE_TLS_VERIFY"),
        extraAuthority: () => settings.current().upstreamCa,
        get idleTimeoutMs() {
          return idleTimeoutMs()
        },
        maxBodyBytes: inspector.settings.maxBodyBytes,
        changed: (change, what, automatic = false) => {
          const atMs = timers.nowMs()
          events.publish({ type: "capture.changed", atMs, change, what, automatic })
          if (automatic) runFork(audit.record(automaticRow(ids.next(atMs), atMs, change, what)))
        }
      })
    })
  )
