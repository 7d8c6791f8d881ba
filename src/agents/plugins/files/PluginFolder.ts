/**
 * Files of plugins on disk: `DATA_DIR/plugins/<name>`, and their data beside them in `DATA_DIR/plugin-data/<name>`.
 *
 * A set of files is written under `.new`, and takes its place by a rename after the row of the database names its hash. The leftovers of a
 * killed process are finished or undone by `recover`: of all folders that may be meant, the one with the hash of the row counts.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { maxPluginNameChars, pluginNamePattern } from "../../../subjects/plugins/entity.ts"
import { codeOf } from "../../../store/Errors.ts"
import { type Files, integrityOf, maxFiles, maxTotalBytes } from "./PluginFiles.ts"

/** The disk refused. `reason` is for the log and the owner. */
export class FolderFailed extends Data.TaggedError("PluginFolderFailed")<{
  readonly path: string
  readonly reason: string
}> {
  override get message(): string {
    return `${this.path}: ${this.reason}`
  }
}

/** Result for files that cannot be those of a plugin. */
export interface NotReadable {
  readonly _tag: "NotReadable"
  readonly problem: string
}
export type Found = { readonly _tag: "Files"; readonly files: Files } | { readonly _tag: "Missing" } | NotReadable

export const pluginsFolder = (dataDir: string): string => join(dataDir, "plugins")
export const dataFolderOf = (dataDir: string, name: string): string => join(dataDir, "plugin-data", name)

const notReadable = (problem: string): NotReadable => ({ _tag: "NotReadable", problem })

const decoder = () => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

interface Budget {
  files: number
  bytes: number
}

const readInto = (folder: string, prefix: string, files: Map<string, string>, left: Budget): NotReadable | null => {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = `${prefix}${entry.name}`
    const full = join(folder, entry.name)
    if (entry.isDirectory()) {
      if (prefix.split("/").length > 16) return notReadable(`${path} is nested too deeply`)
      const problem = readInto(full, `${path}/`, files, left)
      if (problem !== null) return problem
      continue
    }
    if (!entry.isFile()) return notReadable(`${path} is no plain file`)
    left.files -= 1
    left.bytes -= lstatSync(full).size
    if (left.files < 0) return notReadable(`there are more than ${maxFiles} files`)
    if (left.bytes < 0) return notReadable(`the files have more than ${maxTotalBytes} bytes`)
    try {
      files.set(path, decoder().decode(readFileSync(full)))
    } catch (error) {
      if (error instanceof TypeError) return notReadable(`${path} is no text in UTF-8`)
      throw error
    }
  }
  return null
}

/** The files below a folder. Links are refused: what they lead to is no part of the plugin. */
export const readFolder = (folder: string): Found => {
  const stat = lstatSync(folder, { throwIfNoEntry: false })
  if (stat === undefined) return { _tag: "Missing" }
  if (!stat.isDirectory()) return notReadable("it is no folder")
  const files = new Map<string, string>()
  // The manifest is one more file, and may be as long as all others.
  const problem = readInto(folder, "", files, { files: maxFiles + 1, bytes: maxTotalBytes + 1_048_576 })
  return problem ?? { _tag: "Files", files }
}

const hashAt = (folder: string): string | null => {
  const found = readFolder(folder)
  return found._tag === "Files" ? integrityOf(found.files) : null
}

const sync = (path: string): void => {
  const descriptor = openSync(path, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const writeFolder = (folder: string, files: Files): void => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const folders = new Set([folder])
  for (const [path, text] of files) {
    const full = join(folder, ...path.split("/"))
    for (let parent = dirname(full); !folders.has(parent) && parent !== folder; parent = dirname(parent)) {
      folders.add(parent)
    }
    mkdirSync(dirname(full), { recursive: true, mode: 0o700 })
    writeFileSync(full, text, { flag: "wx", mode: 0o600 })
    sync(full)
  }
  // The deepest first, so that each is on disk before the name it has in its parent.
  for (const each of [...folders].toSorted((a, b) => b.length - a.length)) sync(each)
}

export interface PluginFolder {
  readonly read: (name: string) => Effect.Effect<Found, FolderFailed>
  /** Names of folders that may be plugins, in order; at most 200. */
  readonly names: Effect.Effect<ReadonlyArray<string>, FolderFailed>
  /** Writes files beside, before the row names their hash. */
  readonly stage: (name: string, files: Files) => Effect.Effect<void, FolderFailed>
  /** Removes the staged files. */
  readonly unstage: (name: string) => Effect.Effect<void, FolderFailed>
  /** Puts what was staged in its place, after the row was written. */
  readonly commit: (name: string) => Effect.Effect<void, FolderFailed>
  /** Takes the files out of their place, before the row is removed. */
  readonly setAside: (name: string) => Effect.Effect<void, FolderFailed>
  /** Removes what was set aside and the data, after the row was removed. */
  readonly discard: (name: string) => Effect.Effect<void, FolderFailed>
  /**
   * Repairs the folders after a process that was killed: `stored` has the hash of each row. Files in the place of their row stay; those that
   * were staged or set aside are moved there where the row names them. Files that no row names are removed, but not folders that the operator
   * put into `plugins`.
   */
  readonly recover: (stored: ReadonlyMap<string, string>) => Effect.Effect<void, FolderFailed>
  readonly dataFolder: (name: string) => string
}

export const isPluginName = (name: string): boolean => name.length <= maxPluginNameChars && pluginNamePattern.test(name)

const maxNames = 200

export const makePluginFolder = (dataDir: string): PluginFolder => {
  const root = pluginsFolder(dataDir)
  const placeOf = (name: string): string => join(root, name)
  const newOf = (name: string): string => join(root, ".new", name)
  const oldOf = (name: string): string => join(root, ".old", name)

  const on = <A>(path: string, run: () => A): Effect.Effect<A, FolderFailed> =>
    Effect.try({
      try: run,
      catch: (error) => new FolderFailed({ path, reason: codeOf(error) ?? String(error) })
    })

  const ensure = (): void => {
    for (const folder of [root, join(root, ".new"), join(root, ".old")]) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
    }
  }
  const drop = (path: string): void => rmSync(path, { recursive: true, force: true })

  const commitNow = (name: string): void => {
    if (existsSync(placeOf(name))) {
      drop(oldOf(name))
      renameSync(placeOf(name), oldOf(name))
    }
    renameSync(newOf(name), placeOf(name))
    sync(root)
    drop(oldOf(name))
  }

  const listed = (folder: string): ReadonlyArray<string> => (existsSync(folder) ? readdirSync(folder) : [])

  const settle = (name: string, integrity: string): void => {
    if (hashAt(placeOf(name)) === integrity) return
    if (hashAt(newOf(name)) === integrity) return commitNow(name)
    if (hashAt(oldOf(name)) !== integrity) return
    drop(placeOf(name))
    renameSync(oldOf(name), placeOf(name))
    sync(root)
  }

  return {
    read: (name) => on(placeOf(name), () => readFolder(placeOf(name))),
    names: on(root, () =>
      listed(root)
        .filter((name) => !name.startsWith("."))
        .toSorted()
        .slice(0, maxNames)
    ),
    stage: (name, files) =>
      on(newOf(name), () => {
        ensure()
        drop(newOf(name))
        writeFolder(newOf(name), files)
        sync(join(root, ".new"))
      }),
    unstage: (name) => on(newOf(name), () => drop(newOf(name))),
    commit: (name) => on(placeOf(name), () => commitNow(name)),
    setAside: (name) =>
      on(placeOf(name), () => {
        ensure()
        drop(oldOf(name))
        if (existsSync(placeOf(name))) renameSync(placeOf(name), oldOf(name))
        sync(root)
      }),
    discard: (name) =>
      on(oldOf(name), () => {
        drop(oldOf(name))
        drop(newOf(name))
        drop(dataFolderOf(dataDir, name))
      }),
    recover: (stored) =>
      on(root, () => {
        if (!existsSync(root)) return
        for (const [name, integrity] of stored) if (isPluginName(name)) settle(name, integrity)
        for (const folder of [join(root, ".new"), join(root, ".old")]) {
          for (const name of listed(folder)) drop(join(folder, name))
        }
        for (const name of listed(join(dataDir, "plugin-data"))) {
          if (!stored.has(name) && !existsSync(placeOf(name))) drop(join(dataDir, "plugin-data", name))
        }
      }),
    dataFolder: (name) => dataFolderOf(dataDir, name)
  }
}
