/** Installs plugins: packages that are given, and folders that are found. A refused plugin leaves nothing behind. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { FieldProblem } from "../../../contract/domain/Errors.ts"
import {
  type ConfigValues,
  maxPlugins,
  type PluginManifest,
  type PluginSource,
  type PluginStatus
} from "../../../subjects/plugins/entity.ts"
import { version as gatewayVersion } from "../../../platform/Version.ts"
import type { StoreError } from "../../../store/Errors.ts"
import type { StoredPlugin } from "../../../subjects/plugins/repo.ts"
import { isObject, type JsonObject } from "../../../wire/json/Json.ts"
import * as ConfigRules from "../ConfigRules.ts"
import { type Files, filesProblems, integrityOf, manifestPath, withManifest } from "../files/PluginFiles.ts"
import { type FolderFailed, isPluginName } from "../files/PluginFolder.ts"
import { readManifest, storedManifest } from "../manifest/Manifest.ts"
import * as Errors from "../PluginErrors.ts"
import { missingHooks, warningsOf } from "./Code.ts"
import { type Core, type Plugin, refuse, valuesOf, without } from "./Core.ts"
import type { Opened } from "./Running.ts"

export interface PluginPackage {
  /** Manifest as JSON gave it. */
  readonly manifest: unknown
  readonly files: Readonly<Record<string, unknown>>
}

export interface Installed {
  readonly plugin: Plugin
  readonly warnings: ReadonlyArray<string>
}

export interface Scanned {
  readonly name: string
  readonly status: "installed" | "changed" | "invalid"
  readonly errors: ReadonlyArray<FieldProblem>
}

export type InstallFailure =
  | Errors.PluginInvalid
  | Errors.PluginExists
  | Errors.TooManyPlugins
  | FolderFailed
  | StoreError

const asksForMore = "its new version asks for permissions that were not granted; activate it to grant them"

/** A plugin in `error` was active before it failed. */
const wasOn = ({ status }: StoredPlugin): boolean => status === "active" || status === "error"

/** A guard that may not start yet refuses requests; other plugins that may not are off. */
const statusAfter = (before: StoredPlugin | null, isGranted: boolean, failClosed: boolean): PluginStatus => {
  if (before === null) return "installed"
  if (!wasOn(before)) return before.status
  return isGranted ? "active" : failClosed ? "error" : "inactive"
}

/** Rules out the absence of a plugin that was stored just now, while no other change can run. */
const stillThere = <A, E>(
  effect: Effect.Effect<A, E | Errors.PluginNotFound>
): Effect.Effect<A, Exclude<E, Errors.PluginNotFound>> =>
  Effect.catchAll(effect, (error) =>
    error instanceof Errors.PluginNotFound ? Effect.die(error) : Effect.fail(error as Exclude<E, Errors.PluginNotFound>)
  )

interface Checked {
  readonly manifest: PluginManifest
  readonly written: JsonObject
  readonly files: Files
  readonly warnings: ReadonlyArray<string>
}

const check = Effect.fnUntraced(function* ({ files: given, manifest: written }: PluginPackage) {
  const read = readManifest(written, gatewayVersion)
  const all = new Map(Object.entries(given))
  const hasManifest = all.delete(manifestPath)
  const problems = [...read.problems, ...filesProblems(all, read.manifest?.main ?? null)]
  yield* refuse(problems)
  if (read.manifest === null || !isObject(written)) return yield* Effect.dieMessage("a manifest without problems")
  const warnings = hasManifest
    ? [...read.warnings, `files.${manifestPath} is left out: 'manifest' has it.`]
    : read.warnings
  return { manifest: read.manifest, written, files: all as Files, warnings } satisfies Checked
})

interface RowFacts {
  readonly integrity: string
  readonly source: PluginSource
  /** The row that it replaces. */
  readonly before: StoredPlugin | null
  readonly nowMs: number
}

/** Makes the row of a plugin that was checked and whose code was loaded. */
const rowOf = ({ manifest, written }: Checked, { defined }: Opened, { before, integrity, nowMs, source }: RowFacts) => {
  const set = ConfigRules.kept(manifest.configSchema, before === null ? {} : valuesOf(before))
  const { plain, secret } = ConfigRules.parted(manifest.configSchema, set)
  const granted = manifest.permissions.filter((permission) => before?.granted.includes(permission) ?? false)
  const isGranted = without(granted, manifest.permissions).length === 0
  const status = statusAfter(before, isGranted, manifest.failClosed)
  return {
    name: manifest.name,
    version: manifest.version,
    manifest: written as unknown,
    integrity,
    source,
    status,
    granted,
    defined: {
      priority: defined.priority,
      enabled: defined.enabled,
      hooks: [...defined.hooks],
      strategies: [...defined.strategies]
    },
    plain,
    secret: Redacted.make(secret),
    installedAtMs: before?.installedAtMs ?? nowMs,
    updatedAtMs: nowMs,
    lastError: status === "error" ? asksForMore : null
  }
}

/** A folder that no row knows, as a package. */
const packageOf = (files: Files): PluginPackage | FieldProblem => {
  const text = files.get(manifestPath)
  if (text === undefined) return { field: manifestPath, message: "is missing" }
  try {
    return {
      manifest: JSON.parse(text) as unknown,
      files: Object.fromEntries([...files].filter(([path]) => path !== manifestPath))
    }
  } catch {
    return { field: manifestPath, message: "is not valid JSON" }
  }
}

const invalid = (name: string, errors: ReadonlyArray<FieldProblem>): Scanned => ({ name, status: "invalid", errors })

/** Stores what was checked, for plugins that are given and for folders that are found. */
const makeStoring = ({ find, folder, logOf, repo, running, startStored }: Core) => {
  /** Evaluates the code without permissions and compares it with the manifest. */
  const tryCode = Effect.fnUntraced(function* ({ files, manifest, written }: Checked, config: ConfigValues) {
    const opened = yield* Effect.mapError(
      running.open({ manifest, written, files, granted: [], config, withStrategies: true }, logOf(manifest.name)),
      ({ message }) => new Errors.PluginInvalid({ problems: [{ field: "main", message }] })
    )
    const problems = missingHooks(manifest, opened.defined)
    if (problems.length > 0) yield* opened.close
    yield* refuse(problems)
    return opened
  })

  /** Files that are staged take their place with the row; of a failure nothing is left. */
  const store = Effect.fnUntraced(function* (
    checked: Checked,
    opened: Opened,
    source: PluginSource,
    before: StoredPlugin | null
  ) {
    const { name } = checked.manifest
    const files = withManifest(checked.files, checked.written)
    const row = rowOf(checked, opened, {
      integrity: integrityOf(files),
      source,
      before,
      nowMs: yield* Clock.currentTimeMillis
    })
    yield* folder.stage(name, files)
    yield* (
      before === null
        ? Effect.catchTag(repo.insert(row), "AlreadyStored", () => new Errors.PluginExists({ name, by: "plugin" }))
        : repo.replace(row)
    ).pipe(Effect.tapError(() => Effect.ignore(folder.unstage(name))))
    yield* folder.commit(name)
    return yield* stillThere(find(name))
  })

  /** A replaced plugin that was active goes on with its new code, or stops where it may not or cannot. */
  const goOn = Effect.fnUntraced(function* (stored: StoredPlugin, before: StoredPlugin) {
    if (!wasOn(before)) return
    if (stored.status === "active") return yield* startStored(stored)
    const manifest = storedManifest(stored)
    yield* running.stop(stored.name, stored.status === "error" ? { manifest, reason: asksForMore } : null)
  })

  return { goOn, store, tryCode }
}

type Storing = ReturnType<typeof makeStoring>

const makeInstall = ({ activateNow, find, folder, found, oneAtATime, repo }: Core, { goOn, store, tryCode }: Storing) =>
  Effect.fn("Plugins.install")(
    function* (given: PluginPackage, replace: boolean, source: PluginSource) {
      const checked = yield* check(given)
      const { name, permissions } = checked.manifest
      const before = yield* repo.get(name)
      if (before !== null && !replace) return yield* new Errors.PluginExists({ name, by: "plugin" })
      if (before === null) {
        if ((yield* repo.list).length >= maxPlugins) return yield* new Errors.TooManyPlugins({ limit: maxPlugins })
        if ((yield* folder.read(name))._tag !== "Missing") return yield* new Errors.PluginExists({ name, by: "folder" })
      }
      const opened = yield* tryCode(checked, ConfigRules.effective(checked.manifest.configSchema, {}))
      const problem = yield* Effect.ensuring(
        Effect.zipLeft(Effect.succeed(null), store(checked, opened, source, before)).pipe(
          Effect.zipRight(opened.lifecycle("onInstall"))
        ),
        opened.close
      )
      const stored = yield* stillThere(find(name))
      if (before !== null) yield* goOn(stored, before)
      else if (checked.manifest.enabledByDefault && permissions.length === 0) {
        yield* Effect.catchTags(activateNow(stored, []), {
          PluginNotStarted: () => Effect.void,
          PermissionsNotGranted: () => Effect.void,
          ExecNotAllowed: () => Effect.void,
          PluginNotFound: (error) => Effect.die(error)
        })
      }
      const asksAgain = before === null ? [] : without(stored.granted, permissions)
      return {
        plugin: yield* stillThere(found(name)),
        warnings: [
          ...checked.warnings,
          ...warningsOf(checked.manifest, opened.defined),
          ...(problem === null ? [] : [`onInstall failed: ${problem}`]),
          ...(asksAgain.length > 0 && before !== null && wasOn(before)
            ? [`It was stopped: the new version asks for ${asksAgain.join(", ")}. Activate it to grant that.`]
            : [])
        ]
      }
    },
    Effect.uninterruptible,
    oneAtATime
  )

const makeScan = ({ fail, folder, oneAtATime, repo }: Core, { tryCode }: Storing) => {
  const takeOver = Effect.fnUntraced(function* (name: string, files: Files) {
    const given = packageOf(files)
    if ("field" in given) return invalid(name, [given])
    const checked = yield* Effect.either(check(given))
    if (checked._tag === "Left") return invalid(name, checked.left.problems)
    const { manifest } = checked.right
    if (manifest.name !== name) return invalid(name, [{ field: "name", message: `must be '${name}', as the folder` }])
    if ((yield* repo.list).length >= maxPlugins) {
      return invalid(name, [{ field: "name", message: `there are ${maxPlugins} plugins already, the limit` }])
    }
    const opened = yield* Effect.either(tryCode(checked.right, ConfigRules.effective(manifest.configSchema, {})))
    if (opened._tag === "Left") return invalid(name, opened.left.problems)
    // The files are in their place already, as they were written.
    const row = rowOf(checked.right, opened.right, {
      integrity: integrityOf(files),
      source: "local",
      before: null,
      nowMs: yield* Clock.currentTimeMillis
    })
    yield* Effect.ensuring(
      Effect.zipRight(
        Effect.catchTag(repo.insert(row), "AlreadyStored", (error) => Effect.die(error)),
        opened.right.lifecycle("onInstall")
      ),
      opened.right.close
    )
    return { name, status: "installed", errors: [] } satisfies Scanned
  })

  const scanOne = Effect.fnUntraced(function* (name: string) {
    if (!isPluginName(name)) return invalid(name.slice(0, 100), [{ field: "name", message: "is no name of a plugin" }])
    const stored = yield* repo.get(name)
    const read = yield* folder.read(name)
    if (read._tag === "Missing") return invalid(name, [{ field: "files", message: "are missing" }])
    const problem = read._tag === "NotReadable" ? read.problem : null
    if (stored === null) {
      return read._tag === "Files"
        ? yield* takeOver(name, read.files)
        : invalid(name, [{ field: "files", message: problem ?? "" }])
    }
    if (read._tag === "Files" && integrityOf(read.files) === stored.integrity) {
      return { name, status: "installed", errors: [] } satisfies Scanned
    }
    const message = problem ?? "were changed since the plugin was installed; install it again to accept that"
    if (stored.status === "active") yield* fail(stored, `its files ${message}`)
    return { name, status: "changed", errors: [{ field: "files", message }] } satisfies Scanned
  })

  return Effect.gen(function* () {
    const names = new Set([...(yield* folder.names), ...(yield* repo.list).map(({ name }) => name)])
    return yield* Effect.forEach([...names].toSorted(), scanOne)
  }).pipe(Effect.uninterruptible, oneAtATime, Effect.withSpan("Plugins.scan"))
}

export const makeInstalling = (core: Core) => {
  const storing = makeStoring(core)
  return { install: makeInstall(core, storing), scan: makeScan(core, storing) }
}
