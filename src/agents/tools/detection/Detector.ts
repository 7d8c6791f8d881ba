/**
 * Detects which tools are installed, and whether they use this gateway. Programs are asked for their version at most
 * once a minute.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { existsSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { makeLane } from "../../../kernel/Lane.ts"
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { askVersion } from "../../../platform/programs/AskVersion.ts"
import * as ConfigFile from "../../../platform/files/ConfigFile.ts"
import { programEnvironment } from "../../../platform/programs/ProgramEnvironment.ts"
import { Timers } from "../../../platform/Timers.ts"
import type { Tool } from "../catalogue/Tools.ts"
import { toolSetups } from "../config/tools/index.ts"
import { type Gateway, placesOf, type ToolFile } from "../config/ToolSetup.ts"
import { find } from "./Find.ts"
import { versionIn } from "./Version.ts"

export interface Detection {
  readonly installed: boolean
  /** True when it answered. */
  readonly runnable: boolean
  readonly version: string | null
  readonly command: string | null
  readonly commandPath: string | null
  /** Reason for which it is not installed or not runnable. */
  readonly reason: string | null
}

export interface ToolConfig {
  readonly status: "configured" | "not_configured" | "not_installed" | "unknown" | "other"
  /** The address in its file, where it is this gateway's. */
  readonly endpoint: string | null
  /** Time at which its file was changed, in milliseconds since 1970. */
  readonly configuredAtMs: number | null
}

export interface ToolStatus {
  readonly detection: Detection
  readonly config: ToolConfig
  readonly error: string | null
}

export class Detector extends Context.Tag("gateway/agents/tools/detection/Detector")<
  Detector,
  {
    /** `fresh`: the program is asked again. */
    readonly detect: (id: string, binary: string | null, fresh?: boolean) => Effect.Effect<Detection>
    /** `origin` is the address of this gateway. */
    readonly status: (tool: Tool, origin: string) => Effect.Effect<ToolStatus>
    readonly forget: Effect.Effect<void>
  }
>() {}

const keptMs = 60_000
const mostAtOnce = 4

/** Gateway for plans of which only the paths matter. */
const nothing: Gateway = (() => {
  const model = { id: "auto", contextLength: null, maxOutputTokens: null, vision: null, reasoning: null, price: null }
  return { origin: "", apiKey: "", models: [model], model, small: model }
})()

const notKnown: ToolConfig = { status: "unknown", endpoint: null, configuredAtMs: null }

/** An address on this machine or its network, wherever it is: it is not the vendor's. */
const localAddress = /https?:\/\/(?:localhost|127\.|10\.|192\.168\.|\[::1\])/

/**
 * Pattern of a member that holds the address of an API, with an address in it. It is not this gateway's, whatever its
 * origin.
 */
const givenAddress =
  /(?:base[-_]?url|api[-_]?base|api[-_]?(?:url|host)|_host|endpoint)["']?[ \t]{0,20}[:=][ \t]{0,20}["']?https?:\/\/[^\s"']/i

const isElsewhere = (text: string): boolean => localAddress.test(text) || givenAddress.test(text)

export const make = Effect.gen(function* () {
  const { environment } = yield* AppConfig
  const timers = yield* Timers
  const home = environment.get("HOME") || homedir()
  const kept = new LruMap<string, Detection>({ capacity: 500, ttlMs: keptMs })
  const configs = new LruMap<string, { readonly stamp: string; readonly config: ToolConfig }>({ capacity: 500 })
  const permits = makeLane(mostAtOnce)
  const passed = programEnvironment(environment)

  const asked = Effect.fnUntraced(function* (id: string, binary: string | null) {
    const missing = (reason: string): Detection => ({
      installed: false,
      runnable: false,
      version: null,
      command: binary,
      commandPath: null,
      reason
    })
    if (binary === null) return missing("has no program that can be found")
    const found = find(id, binary, environment, home)
    if (found._tag === "Missing") return missing(found.reason)
    const answer = yield* permits.inTurn(askVersion(found.path, passed))
    const version = answer._tag === "Answered" ? versionIn(answer.text) : null
    return {
      installed: true,
      runnable: answer._tag === "Answered",
      version,
      command: binary,
      commandPath: found.path,
      reason: answer._tag === "Failed" ? answer.problem : version === null ? "says no version" : null
    } satisfies Detection
  })

  const detect = Effect.fn("Detector.detect")(function* (id: string, binary: string | null, fresh = false) {
    const key = `${id} ${binary ?? ""}`
    const known = fresh ? undefined : kept.get(key, timers.nowMs())
    if (known !== undefined) return known
    const detection = yield* asked(id, binary)
    kept.set(key, detection, timers.nowMs())
    return detection
  })

  const filesOf = (tool: Tool): ReadonlyArray<ToolFile> =>
    toolSetups.find(({ id }) => id === tool.setup)?.plan(placesOf(home, environment, existsSync), nothing).files ?? []

  const readConfig = Effect.fnUntraced(function* (file: ToolFile, origin: string) {
    const stat = statSync(file.path, { throwIfNoEntry: false })
    if (stat === undefined)
      return { status: "not_configured", endpoint: null, configuredAtMs: null } satisfies ToolConfig
    const stamp = `${origin} ${stat.mtimeMs} ${stat.size}`
    const known = configs.get(file.path)
    if (known?.stamp === stamp) return known.config
    const { text } = yield* ConfigFile.read(file.path, home)
    const isOurs = origin !== "" && (text ?? "").includes(origin)
    const config: ToolConfig = isOurs
      ? { status: "configured", endpoint: origin, configuredAtMs: stat.mtimeMs }
      : { status: isElsewhere(text ?? "") ? "other" : "not_configured", endpoint: null, configuredAtMs: null }
    configs.set(file.path, { stamp, config })
    return config
  })

  const ranks: Readonly<Record<ToolConfig["status"], number>> = {
    configured: 4,
    other: 3,
    not_configured: 2,
    unknown: 1,
    not_installed: 0
  }

  const status = Effect.fn("Detector.status")(function* (tool: Tool, origin: string) {
    const detection = yield* detect(tool.id, tool.command)
    const files = filesOf(tool)
    if (files.length === 0) {
      return {
        detection,
        config: detection.installed ? notKnown : { ...notKnown, status: "not_installed" as const },
        error: null
      }
    }
    const read = yield* Effect.either(Effect.forEach(files, (file) => readConfig(file, origin)))
    if (read._tag === "Left") return { detection, config: notKnown, error: read.left.message }
    const best = read.right.reduce((one, other) => (ranks[other.status] > ranks[one.status] ? other : one), {
      ...notKnown,
      status: "not_installed" as ToolConfig["status"]
    })
    const isMissing = !detection.installed && best.status === "not_configured"
    return { detection, config: isMissing ? { ...best, status: "not_installed" as const } : best, error: null }
  })

  return Detector.of({
    detect,
    status,
    forget: Effect.sync(() => {
      for (const [key] of kept) kept.delete(key)
    })
  })
})

export const layer: Layer.Layer<Detector, never, AppConfig | Timers> = Layer.effect(Detector, make)
