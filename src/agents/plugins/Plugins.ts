/**
 * Installed plugins and their life. Changes run one after the other; each leaves files and row so that a process that is killed at any moment
 * finds a state of docs/plugins.md at its next start.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import type { ChangedRows } from "../../store/Snapshots.ts"
import type { AuditLog } from "../../subjects/auth/AuditLog.ts"
import type { ConfigValue, PluginPermission, PluginSource, PluginStatus } from "../../subjects/plugins/entity.ts"
import type { Events } from "../../observe/Events.ts"
import type { AppConfig } from "../../platform/AppConfig.ts"
import type { IdGen } from "../../platform/IdGen.ts"
import type { Timers } from "../../platform/Timers.ts"
import type { RouterStrategies } from "../../plane/routing/auto/RouterStrategies.ts"
import type { StoreError } from "../../store/Errors.ts"
import type { PluginRepo, StoredPlugin } from "../../subjects/plugins/repo.ts"
import * as ConfigRules from "./ConfigRules.ts"
import type { FolderFailed } from "./files/PluginFolder.ts"
import type { Hooks } from "./hooks/Hooks.ts"
import { storedManifest } from "./manifest/Manifest.ts"
import type * as Errors from "./PluginErrors.ts"
import { makeCore, type Plugin, refuse, valuesOf, without, type Core } from "./registry/Core.ts"
import {
  type Installed,
  type InstallFailure,
  makeInstalling,
  type PluginPackage,
  type Scanned
} from "./registry/Installing.ts"
import { LogRing } from "./registry/LogRing.ts"
import { readTest, runTest, type TestResult } from "./registry/TestCall.ts"
import type { LogLine, Sandbox } from "./sandbox/Sandbox.ts"

export type { Plugin } from "./registry/Core.ts"
export type { Installed, PluginPackage, Scanned } from "./registry/Installing.ts"

export interface PluginConfig {
  readonly schema: ConfigRules.ConfigSchema
  readonly values: Readonly<Record<string, ConfigValue | null>>
}

export interface Tested extends TestResult {
  readonly logs: ReadonlyArray<LogLine>
}

type Missing = Errors.PluginNotFound | StoreError
export class Plugins extends Context.Tag("gateway/agents/plugins/Plugins")<
  Plugins,
  {
    /** Lists by name. `status` null: all. */
    readonly list: (status: PluginStatus | null) => Effect.Effect<ReadonlyArray<Plugin>, StoreError>
    readonly get: (name: string) => Effect.Effect<Plugin, Missing>
    /** Loads the code once without permissions. Nothing is left of one that is refused. */
    readonly install: (
      given: PluginPackage,
      replace: boolean,
      source: PluginSource
    ) => Effect.Effect<Installed, InstallFailure>
    /** Takes over folders that were put beside the others, and looks for changed files. */
    readonly scan: Effect.Effect<ReadonlyArray<Scanned>, FolderFailed | StoreError>
    /** `grant` is added to what was granted before. */
    readonly activate: (
      name: string,
      grant: ReadonlyArray<PluginPermission>
    ) => Effect.Effect<
      Plugin,
      | Errors.PermissionsNotGranted
      | Errors.ExecNotAllowed
      | Errors.PluginInvalid
      | Errors.PluginNotStarted
      | FolderFailed
      | Missing
    >
    readonly deactivate: (name: string) => Effect.Effect<Plugin, Missing>
    /** Removes a plugin with its files, data and configuration. */
    readonly remove: (name: string) => Effect.Effect<void, FolderFailed | Missing>
    readonly config: (name: string) => Effect.Effect<PluginConfig, Missing>
    /** Sets values; they are in force from the next call. */
    readonly setConfig: (
      name: string,
      values: Readonly<Record<string, unknown>>
    ) => Effect.Effect<PluginConfig, Errors.PluginInvalid | Missing>
    /** The newest last. */
    readonly logs: (name: string, limit: number) => Effect.Effect<ReadonlyArray<LogLine>, Missing>
    /** In a worker: starts, restarts and stops plugins as the owner has stored them. */
    readonly follow: (rows: ChangedRows) => Effect.Effect<void, StoreError>
    /** Calls a function in a sandbox of its own. */
    readonly test: (
      name: string,
      input: unknown
    ) => Effect.Effect<Tested, Errors.PluginInvalid | Errors.PluginNotStarted | FolderFailed | Missing>
  }
>() {}

/** Time in ms that a start waits for plugins that are no guards. */
const startWaitMs = 2_000
const loadingAtOnce = 4

/** Activates and deactivates plugins. */
const makeActivation = ({ activateNow, find, found, oneAtATime, running, setState, view }: Core) => {
  const activate = Effect.fn("Plugins.activate")(
    function* (name: string, grant: ReadonlyArray<PluginPermission>) {
      const stored = yield* find(name)
      const manifest = storedManifest(stored)
      yield* refuse(
        without(manifest.permissions, grant).map((permission) => ({
          field: "grant",
          message: `${permission} is not asked for by the plugin`
        }))
      )
      const granted = manifest.permissions.filter(
        (permission) => stored.granted.includes(permission) || grant.includes(permission)
      )
      const isRunning = stored.status === "active" && running.get(name) !== null
      if (isRunning && without(stored.granted, granted).length === 0) return view(stored)
      return yield* activateNow(stored, granted)
    },
    Effect.uninterruptible,
    oneAtATime
  )

  const deactivate = Effect.fn("Plugins.deactivate")(
    function* (name: string) {
      const stored = yield* find(name)
      if (stored.status === "inactive" || stored.status === "installed") return view(stored)
      const problem = (yield* running.get(name)?.lifecycle("onDeactivate") ?? Effect.succeed(null)) ?? null
      const lastError = problem === null ? stored.lastError : `onDeactivate failed: ${problem}`
      yield* setState(stored, { status: "inactive", lastError })
      yield* running.stop(name, null)
      return yield* found(name)
    },
    Effect.uninterruptible,
    oneAtATime
  )

  return { activate, deactivate }
}

const makeRemove = ({ find, folder, logOf, oneAtATime, openStored, repo, rings, running }: Core) => {
  /** Runs the `onUninstall` event; a plugin that does not run, or whose files were changed, gets none. */
  const uninstalling = (stored: StoredPlugin) =>
    Effect.gen(function* () {
      const manifest = storedManifest(stored)
      if (manifest.hooks.onUninstall?.enabled !== true) return
      const current = running.get(stored.name)
      if (current !== null) return yield* current.lifecycle("onUninstall")
      const opened = yield* openStored(stored, manifest, stored.granted, logOf(stored.name), false)
      yield* Effect.ensuring(opened.lifecycle("onUninstall"), opened.close)
    }).pipe(Effect.catchTag("PluginNotStarted", () => Effect.void))

  return Effect.fn("Plugins.remove")(
    function* (name: string) {
      const stored = yield* find(name)
      yield* uninstalling(stored)
      yield* folder.setAside(name)
      yield* repo.remove(name)
      yield* running.stop(name, null)
      rings.delete(name)
      running.forget(name)
      // A call that is in progress may use its files, and must not bring them back.
      yield* Effect.exit(Effect.interruptible(running.closed(name)))
      yield* folder.discard(name)
    },
    Effect.uninterruptible,
    oneAtATime
  )
}

const makeConfig = ({ find, oneAtATime, repo, running }: Core) => {
  const shownConfig = (stored: StoredPlugin): PluginConfig => {
    const { configSchema } = storedManifest(stored)
    return { schema: configSchema, values: ConfigRules.shown(configSchema, valuesOf(stored)) }
  }

  const setConfig = Effect.fn("Plugins.setConfig")(
    function* (name: string, given: Readonly<Record<string, unknown>>) {
      const stored = yield* find(name)
      const manifest = storedManifest(stored)
      const changed = ConfigRules.change(manifest.configSchema, valuesOf(stored), given)
      if (changed._tag === "Wrong") {
        yield* refuse(changed.problems)
        return shownConfig(stored)
      }
      const { plain, secret } = ConfigRules.parted(manifest.configSchema, changed.values)
      yield* repo.setValues(name, plain, secret, yield* Clock.currentTimeMillis)
      const config = ConfigRules.effective(manifest.configSchema, changed.values)
      yield* running.get(name)?.sandbox.configure({ ...config }) ?? Effect.void
      return shownConfig(yield* find(name))
    },
    Effect.uninterruptible,
    oneAtATime
  )

  return {
    config: Effect.fn("Plugins.config")((name: string) => Effect.map(find(name), shownConfig)),
    setConfig
  }
}

const makeTest = ({ allowsExec, find, openStored }: Core) =>
  Effect.fn("Plugins.test")(function* (name: string, input: unknown) {
    const stored = yield* find(name)
    const read = readTest(input)
    if ("problems" in read) {
      yield* refuse(read.problems)
      return yield* Effect.dieMessage("a test without problems")
    }
    const ring = new LogRing()
    const manifest = storedManifest(stored)
    const granted =
      manifest.permissions.includes("exec") && !allowsExec
        ? stored.granted.filter((permission) => permission !== "exec")
        : stored.granted
    const opened = yield* openStored(stored, manifest, granted, (permission, line) => ring.add(permission, line), false)
    const result = yield* Effect.ensuring(runTest(opened.sandbox, read.input, Clock.currentTimeMillis), opened.close)
    return { ...result, logs: ring.last(200) }
  })

/** Starts the active plugins: guards first, as no request may be served without them. */
const makeStart = ({ folder, oneAtATime, repo, running, startStored }: Core, scope: Scope.Scope) =>
  Effect.gen(function* () {
    const all = yield* repo.list
    yield* folder
      .recover(new Map(all.map(({ integrity, name }) => [name, integrity])))
      .pipe(Effect.catchAll((error) => Effect.logError(`Files of plugins could not be looked after: ${error.message}`)))
    const wanted = all.filter(({ status }) => status === "active")
    for (const stored of all) {
      const manifest = storedManifest(stored)
      if (stored.status === "error" && manifest.failClosed) {
        yield* running.stop(stored.name, { manifest, reason: stored.lastError ?? "it was stopped" })
      }
    }
    const isGuard = (stored: StoredPlugin): boolean => storedManifest(stored).failClosed
    const loaded = (some: ReadonlyArray<StoredPlugin>) =>
      Effect.forEach(some, startStored, { concurrency: loadingAtOnce, discard: true })
    // No request is served before this is over.
    yield* loaded(wanted.filter(isGuard))
    const others = yield* oneAtATime(loaded(wanted.filter((stored) => !isGuard(stored)))).pipe(
      Effect.catchAll((error) => Effect.logError(`Plugins could not be started: ${error.message}`)),
      Effect.forkIn(scope)
    )
    // The plugins' loader builds this without interruption, and the wait that loses is interrupted.
    yield* Effect.interruptible(Effect.raceFirst(Fiber.await(others), Effect.sleep(startWaitMs)))
  })

/** Runs in a worker what the owner has stored. One whose code, rights and values are the same goes on. */
const makeFollow = ({ oneAtATime, repo, running, startStored }: Core) => {
  const codes = new Map<string, string>()
  const codeOf = ({ granted, integrity, plain, secret }: StoredPlugin): string =>
    JSON.stringify([integrity, granted, plain, Redacted.value(secret)])

  const followOne = Effect.fnUntraced(function* (name: string, stored: StoredPlugin | null) {
    if (stored === null || stored.status !== "active") {
      codes.delete(name)
      const manifest = stored === null ? null : storedManifest(stored)
      const refuses = stored?.status === "error" && manifest?.failClosed === true
      return yield* running.stop(
        name,
        refuses && manifest !== null ? { manifest, reason: stored.lastError ?? "it was stopped" } : null
      )
    }
    const code = codeOf(stored)
    if (running.get(name) !== null && codes.get(name) === code) return
    codes.set(name, code)
    yield* startStored(stored)
  })

  return {
    started: (stored: StoredPlugin): void => void codes.set(stored.name, codeOf(stored)),
    follow: Effect.fn("Plugins.follow")(
      function* (rows: ChangedRows) {
        const all = new Map((yield* repo.list).map((stored) => [stored.name, stored]))
        const changed = rows === "all" ? new Set([...all.keys(), ...codes.keys()]) : rows
        for (const name of changed) yield* followOne(name, all.get(name) ?? null)
      },
      Effect.uninterruptible,
      oneAtATime
    )
  }
}

/** Stops plugins that fail too often. */
const stopFailing = ({ fail, hooks, oneAtATime, repo }: Core, scope: Scope.Scope) =>
  Effect.gen(function* () {
    const run = Runtime.runFork(yield* Effect.runtime<never>())
    const stopListening = hooks.onFailing(({ failures, plugin, reason }) => {
      run(
        oneAtATime(
          Effect.flatMap(repo.get(plugin), (stored) =>
            stored === null || stored.status !== "active"
              ? Effect.void
              : fail(stored, `it failed ${failures} times in a row; the last time: ${reason}`)
          )
        ).pipe(Effect.catchAll((error) => Effect.logError(`A failing plugin could not be stopped: ${error.message}`))),
        { scope }
      )
    })
    yield* Effect.addFinalizer(() => Effect.sync(stopListening))
  })

export const make = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const core = yield* makeCore
  const { find, repo, rings, running, viewAll } = core
  yield* Effect.addFinalizer(() => running.closeAll)
  yield* stopFailing(core, scope)
  const { follow, started } = makeFollow(core)
  for (const stored of yield* repo.list) if (stored.status === "active") started(stored)
  yield* makeStart(core, scope)

  return Plugins.of({
    list: Effect.fn("Plugins.list")((status: PluginStatus | null) =>
      Effect.flatMap(repo.list, (all) => viewAll(all.filter((each) => status === null || each.status === status)))
    ),
    get: Effect.fn("Plugins.get")(function* (name: string) {
      const stored = yield* find(name)
      return (yield* viewAll([stored]))[0] ?? core.view(stored)
    }),
    ...makeInstalling(core),
    ...makeActivation(core),
    remove: makeRemove(core),
    ...makeConfig(core),
    logs: Effect.fn("Plugins.logs")((name: string, limit: number) =>
      Effect.map(find(name), () => rings.get(name)?.last(limit) ?? [])
    ),
    follow,
    test: makeTest(core)
  })
})

/** Starts the active ones when it is built. */
export const layer: Layer.Layer<
  Plugins,
  StoreError,
  PluginRepo | Sandbox | Hooks | Events | AuditLog | IdGen | AppConfig | RouterStrategies | Timers
> = Layer.scoped(Plugins, make)
