/** A plugin on the author's disk: `plugin.json`, its files, and its tests. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { lstatSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { FieldProblem } from "../../../contract/domain/Errors.ts"
import { version as gatewayVersion } from "../../../platform/Version.ts"
import { codeOf } from "../../../store/Errors.ts"
import { isObject, type JsonObject } from "../../../wire/json/Json.ts"
import {
  filesProblems,
  integrityOf,
  manifestPath,
  maxFiles,
  maxTotalBytes,
  withManifest
} from "../files/PluginFiles.ts"
import { readManifest, type ReadManifest } from "../manifest/Manifest.ts"

export class ProjectUnreadable extends Data.TaggedError("ProjectUnreadable")<{ readonly message: string }> {}

export interface Project {
  readonly written: JsonObject
  readonly read: ReadManifest
  /** Files without the manifest, tests, types and others that the sandbox has no use for. */
  readonly files: ReadonlyMap<string, string>
  readonly problems: ReadonlyArray<FieldProblem>
  /** Hash as the gateway will compute it. */
  readonly integrity: string
}

/** Names of files that authors have beside their plugin. Names with a dot in front are left out as well. */
const besides: ReadonlySet<string> = new Set([
  "tests",
  "node_modules",
  "gateway-plugin.d.ts",
  "jsconfig.json",
  "README.md"
])
const isPackage = (name: string): boolean => name.endsWith(".gateway-plugin.json")

const unreadable = (message: string) => new ProjectUnreadable({ message })

const on = <A>(path: string, run: () => A): Effect.Effect<A, ProjectUnreadable> =>
  Effect.try({
    try: run,
    catch: (error) =>
      error instanceof ProjectUnreadable
        ? error
        : unreadable(`${path} cannot be read: ${codeOf(error) ?? String(error)}`)
  })

const walk = (folder: string, prefix: string, files: Map<string, string>, left: { bytes: number }): void => {
  for (const { name } of readdirSync(folder, { withFileTypes: true })) {
    if (name.startsWith(".") || (prefix === "" && (besides.has(name) || name === manifestPath || isPackage(name))))
      continue
    const full = join(folder, name)
    const stat = lstatSync(full)
    if (stat.isSymbolicLink()) throw unreadable(`${prefix}${name} is a link; a plugin has plain files only.`)
    if (stat.isDirectory()) {
      walk(full, `${prefix}${name}/`, files, left)
      continue
    }
    left.bytes -= stat.size
    if (files.size > maxFiles) throw unreadable(`There are more than ${maxFiles} files.`)
    if (left.bytes < 0) throw unreadable(`The files have more than ${maxTotalBytes} bytes together.`)
    files.set(`${prefix}${name}`, readFileSync(full, "utf8"))
  }
}

const parse = (path: string, text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw unreadable(`${path} is not valid JSON: ${error instanceof Error ? error.message : "it cannot be read"}`)
  }
}

const projectOf = (written: unknown, files: ReadonlyMap<string, string>): Project => {
  const read = readManifest(written, gatewayVersion)
  const object = isObject(written) ? written : {}
  return {
    written: object,
    read,
    files,
    problems: [...read.problems, ...filesProblems(files, read.manifest?.main ?? null)],
    integrity: integrityOf(withManifest(files, object))
  }
}

/** Reads a folder, or a file that `plugin pack` wrote. */
export const readProject = (path: string): Effect.Effect<Project, ProjectUnreadable> =>
  on(path, () => {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat === undefined) throw unreadable(`There is no folder or file '${path}'.`)
    if (stat.isDirectory()) {
      const manifest = join(path, manifestPath)
      if (lstatSync(manifest, { throwIfNoEntry: false }) === undefined) {
        throw unreadable(`There is no '${manifest}'; 'gateway plugin new <name>' makes a plugin.`)
      }
      const files = new Map<string, string>()
      walk(path, "", files, { bytes: maxTotalBytes })
      return projectOf(parse(manifest, readFileSync(manifest, "utf8")), files)
    }
    if (stat.size > 4 * maxTotalBytes) throw unreadable(`${path} is too large.`)
    const packed = parse(path, readFileSync(path, "utf8"))
    if (!isObject(packed) || !isObject(packed["files"])) {
      throw unreadable(`${path} is no packed plugin; 'gateway plugin pack <folder>' makes one.`)
    }
    const files = Object.entries(packed["files"]).map(([name, text]) => {
      if (typeof text !== "string") throw unreadable(`${path} has a file that is no text: ${name.slice(0, 100)}`)
      return [name, text] as const
    })
    return projectOf(packed["manifest"], new Map(files))
  })

export interface Fixture {
  readonly name: string
  readonly given: JsonObject
}

/** The tests of a folder, by name; none where there is no folder `tests`. */
export const readFixtures = (path: string): Effect.Effect<ReadonlyArray<Fixture>, ProjectUnreadable> =>
  on(path, () => {
    const folder = join(path, "tests")
    if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return []
    return readdirSync(folder)
      .filter((name) => name.endsWith(".json"))
      .toSorted()
      .slice(0, 500)
      .map((name) => {
        const given = parse(join(folder, name), readFileSync(join(folder, name), "utf8"))
        if (!isObject(given)) throw unreadable(`${join(folder, name)} must be an object`)
        return { name: name.replace(/\.json$/, ""), given }
      })
  })

/** Finds where a value differs from the expected one: members that are not named are not looked at. Null: nowhere. */
export const difference = (expected: unknown, actual: unknown, path = ""): string | null => {
  if (isObject(expected)) {
    if (!isObject(actual)) return `${path === "" ? "it" : path} is ${JSON.stringify(actual) ?? "not there"}`
    for (const [name, value] of Object.entries(expected)) {
      const found = difference(value, actual[name], path === "" ? name : `${path}.${name}`)
      if (found !== null) return found
    }
    return null
  }
  const [wanted, is] = [JSON.stringify(expected), JSON.stringify(actual)]
  return wanted === is ? null : `${path === "" ? "it" : path} is ${is ?? "not there"}, not ${wanted}`
}
