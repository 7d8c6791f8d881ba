/**
 * Shared parts of every change of plugins: rows and files, sandboxes that are opened from them, and the stopping of a
 * plugin that failed.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { makeLane } from "../../../kernel/Lane.ts"
import type { ContentPermission } from "../../../contract/domain/ContentPermission.ts"
import { AuditLog } from "../../../subjects/auth/AuditLog.ts"
import type { FieldProblem } from "../../../contract/domain/Errors.ts"
import type { ConfigValues, PluginManifest, PluginPermission } from "../../../subjects/plugins/entity.ts"
import { Events } from "../../../observe/Events.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { IdGen } from "../../../platform/IdGen.ts"
import { Timers } from "../../../platform/Timers.ts"
import { version as gatewayVersion } from "../../../platform/Version.ts"
import { RouterStrategies } from "../../../plane/routing/auto/RouterStrategies.ts"
import { PluginRepo, type StoredPlugin } from "../../../subjects/plugins/repo.ts"
import { objectOr } from "../../../wire/json/Json.ts"
import * as ConfigRules from "../ConfigRules.ts"
import { integrityOf } from "../files/PluginFiles.ts"
import { isPluginName, makePluginFolder, type PluginFolder } from "../files/PluginFolder.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { type HookStats, summed } from "../hooks/HookStats.ts"
import { storedManifest } from "../manifest/Manifest.ts"
import { Claims } from "../../../plane/state/Claims.ts"
import { isInRange } from "../../../kernel/text/Versions.ts"
import { allowsExec as doesAllowExec } from "../AllowExec.ts"
import * as Errors from "../PluginErrors.ts"
import { type LogLine, Sandbox } from "../sandbox/Sandbox.ts"
import { LogRing } from "./LogRing.ts"
import { makeRunning, type Running } from "./Running.ts"
import { SharedPlugins, type StatsByName } from "./SharedPlugins.ts"
import { makeStrategies } from "./Strategies.ts"

export interface Plugin {
  readonly stored: StoredPlugin
  readonly manifest: PluginManifest
  readonly stats: HookStats
  /** Names of the router strategies that combos may name as long as it runs. */
  readonly strategies: ReadonlyArray<string>
}

export const refuse = ([first, ...others]: ReadonlyArray<FieldProblem>): Effect.Effect<void, Errors.PluginInvalid> =>
  first === undefined ? Effect.void : new Errors.PluginInvalid({ problems: [first, ...others] })

export const valuesOf = ({ plain, secret }: Pick<StoredPlugin, "plain" | "secret">): ConfigValues => ({
  ...plain,
  ...Redacted.value(secret)
})

/** Selects those of `wanted` that are not among `granted`. */
export const without = (
  granted: ReadonlyArray<PluginPermission>,
  wanted: ReadonlyArray<PluginPermission>
): ReadonlyArray<PluginPermission> => wanted.filter((permission) => !granted.includes(permission))

/** The files as they were installed; they are checked each time they are loaded. */
const filesOf = Effect.fnUntraced(function* (folder: PluginFolder, stored: StoredPlugin) {
  const { name } = stored
  const read = yield* folder.read(name)
  const refused = (reason: string) => new Errors.PluginNotStarted({ name, reason, changed: true })
  if (read._tag === "Missing") return yield* refused("its files are missing")
  if (read._tag === "NotReadable") return yield* refused(`its files were changed: ${read.problem}`)
  if (integrityOf(read.files) !== stored.integrity) {
    return yield* refused("its files were changed since it was installed; install it again to accept that")
  }
  return read.files
})

const mayStart = (
  allowsExec: boolean,
  stored: StoredPlugin,
  manifest: PluginManifest,
  granted: ReadonlyArray<PluginPermission>
) =>
  Effect.gen(function* () {
    const { name } = stored
    const missing = without(granted, manifest.permissions)
    if (missing.length > 0) return yield* new Errors.PermissionsNotGranted({ name, missing })
    if (manifest.permissions.includes("exec") && !allowsExec) return yield* new Errors.ExecNotAllowed({ name })
    const { gateway } = manifest
    if (gateway !== null && isInRange(gatewayVersion, gateway) === false) {
      const reason = `it needs a gateway of ${gateway}; this one is ${gatewayVersion}`
      return yield* new Errors.PluginNotStarted({ name, reason, changed: false })
    }
  })

/** Stops a plugin that was active: row, event, audit. A guard refuses requests from now on. */
const makeFail = ({ running, setState }: { readonly running: Running; readonly setState: SetState }) =>
  Effect.gen(function* () {
    const events = yield* Events
    const audit = yield* AuditLog
    const ids = yield* IdGen
    const { holds } = yield* Claims
    return Effect.fnUntraced(function* (stored: StoredPlugin, reason: string) {
      const manifest = storedManifest(stored)
      yield* running.stop(stored.name, manifest.failClosed ? { manifest, reason } : null)
      yield* Effect.logWarning(`The plugin ${stored.name} was stopped: ${reason}`)
      // In a worker it is stopped for that worker; the row is the owner's.
      if (!holds("plugins")) return
      if (stored.status === "error" && stored.lastError === reason) return
      yield* setState(stored, { status: "error", lastError: reason.slice(0, 2_000) })
      const nowMs = yield* Clock.currentTimeMillis
      events.publish({
        type: "plugin.error",
        atMs: nowMs,
        plugin: stored.name,
        reason,
        failClosed: manifest.failClosed
      })
      yield* audit.record({
        id: ids.next(nowMs),
        timestampMs: Math.trunc(nowMs),
        action: "plugins.stopped",
        actor: "gateway",
        target: stored.name,
        resourceType: "plugins",
        status: "failure",
        ip: "",
        details: { httpStatus: 0, code: "plugin_error" }
      })
    })
  })

const setStateIn =
  (repo: typeof PluginRepo.Service) =>
  (stored: StoredPlugin, state: Partial<Pick<StoredPlugin, "status" | "granted" | "lastError">>) =>
    Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
      repo.setState(
        stored.name,
        { status: stored.status, granted: stored.granted, lastError: stored.lastError, ...state },
        nowMs
      )
    )

type SetState = ReturnType<typeof setStateIn>

const withCounts = (plugin: Plugin, others: ReadonlyArray<StatsByName>): Plugin => {
  const elsewhere = others.flatMap((stats) => stats[plugin.stored.name] ?? [])
  return elsewhere.length === 0 ? plugin : { ...plugin, stats: summed([plugin.stats, ...elsewhere]) }
}

/** The plugins as they are stored, and the opening of their code. */
const makeStored = Effect.gen(function* () {
  const repo = yield* PluginRepo
  const hooks = yield* Hooks
  const { dataDir, environment } = yield* AppConfig
  const folder = makePluginFolder(dataDir)
  const running = yield* makeRunning({
    hooks,
    sandboxes: yield* Sandbox,
    strategies: makeStrategies(yield* RouterStrategies, yield* Timers),
    dataFolder: folder.dataFolder
  })
  const oneAtATime = makeLane(1).inTurn
  const rings = new Map<string, LogRing>()
  const allowsExec = doesAllowExec(environment)

  const ringOf = (name: string): LogRing => {
    const ring = rings.get(name) ?? new LogRing()
    rings.set(name, ring)
    return ring
  }
  const shared = yield* SharedPlugins
  yield* Effect.acquireRelease(
    Effect.sync(() => shared.listen((name, permission, line) => ringOf(name).add(permission, line))),
    (stop) => Effect.sync(stop)
  )
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      shared.answer(() => Object.fromEntries([...rings.keys()].map((name) => [name, running.statsOf(name)])))
    ),
    (stop) => Effect.sync(stop)
  )
  const logOf = (name: string) => {
    const ring = ringOf(name)
    return (permission: ContentPermission, line: LogLine): void => {
      ring.add(permission, line)
      shared.write(name, permission, line)
    }
  }

  const view = (stored: StoredPlugin): Plugin => ({
    stored,
    manifest: storedManifest(stored),
    stats: running.statsOf(stored.name),
    strategies: running.strategiesOf(stored.name)
  })
  /** With the counts of all processes. */
  const viewAll = (all: ReadonlyArray<StoredPlugin>): Effect.Effect<ReadonlyArray<Plugin>> =>
    Effect.map(shared.gather, (others) => all.map((stored) => withCounts(view(stored), others)))
  const find = Effect.fnUntraced(function* (name: string) {
    const stored = isPluginName(name) ? yield* repo.get(name) : null
    return stored ?? (yield* new Errors.PluginNotFound({ name, where: "installed" }))
  })
  const found = (name: string) => Effect.map(find(name), view)

  const configOf = (stored: StoredPlugin, manifest: PluginManifest): ConfigValues =>
    ConfigRules.effective(manifest.configSchema, valuesOf(stored))

  const setState = setStateIn(repo)

  const openStored = Effect.fnUntraced(function* (
    stored: StoredPlugin,
    manifest: PluginManifest,
    granted: ReadonlyArray<PluginPermission>,
    log: (permission: ContentPermission, line: LogLine) => void,
    withStrategies: boolean
  ) {
    const files = yield* filesOf(folder, stored)
    const config = configOf(stored, manifest)
    const written = objectOr(stored.manifest)
    return yield* Effect.mapError(
      running.open({ manifest, written, files, granted, config, withStrategies }, log),
      ({ message }) => new Errors.PluginNotStarted({ name: stored.name, reason: message, changed: false })
    )
  })

  const fail = yield* makeFail({ running, setState })
  return {
    repo,
    hooks,
    folder,
    running,
    rings,
    allowsExec,
    oneAtATime,
    logOf,
    view,
    viewAll,
    find,
    found,
    setState,
    openStored,
    fail
  }
})

/** Starts plugins that may start. */
const makeStarting = ({ allowsExec, fail, found, logOf, openStored, running, setState }: Stored) => {
  /** Starts a plugin whose row says that it is active. */
  const startStored = (stored: StoredPlugin) =>
    Effect.gen(function* () {
      const manifest = storedManifest(stored)
      yield* mayStart(allowsExec, stored, manifest, stored.granted)
      const opened = yield* openStored(stored, manifest, stored.granted, logOf(stored.name), true)
      yield* running.start(manifest, opened)
    }).pipe(Effect.catchAll((error) => fail(stored, error._tag === "PluginNotStarted" ? error.reason : error.message)))

  const activateNow = Effect.fnUntraced(function* (stored: StoredPlugin, granted: ReadonlyArray<PluginPermission>) {
    const manifest = storedManifest(stored)
    yield* mayStart(allowsExec, stored, manifest, granted)
    const opened = yield* openStored(stored, manifest, granted, logOf(stored.name), true).pipe(
      Effect.tapErrorTag("PluginNotStarted", ({ reason }) => setState(stored, { lastError: reason }))
    )
    yield* setState(stored, { status: "active", granted, lastError: null }).pipe(Effect.tapError(() => opened.close))
    yield* running.start(manifest, opened)
    const problem = yield* opened.lifecycle("onActivate")
    if (problem !== null) {
      yield* setState(stored, { status: "active", granted, lastError: `onActivate failed: ${problem}` })
    }
    return yield* found(stored.name)
  })

  return { activateNow, startStored }
}

type Stored = Effect.Effect.Success<typeof makeStored>

export const makeCore = Effect.map(makeStored, (stored) => ({ ...stored, ...makeStarting(stored) }))
export type Core = Effect.Effect.Success<typeof makeCore>
