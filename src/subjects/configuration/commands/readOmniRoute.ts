/**
 * Reads OmniRoute's database (`storage.sqlite` in its data folder) or its JSON export. A database is copied first: to read a SQLite file
 * that another program writes makes files beside it.
 */
import * as Effect from "effect/Effect"
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isOmniRoute, omniRouteNamespaces, omniRouteTables } from "../../declared/imports/OmniRouteRecords.ts"
import { type Json, type JsonObject, objectOr, parseJson } from "../../declared/Values.ts"
import type { Database } from "../../../store/engine/Handle.ts"
import { BadArgument, type CliFailure } from "../../../cli/Failure.ts"
import { loadModule } from "../../../cli/lazy.ts"
import { readText } from "./DocumentFile.ts"

/** Logs make such files large; copying this much takes some seconds. */
const maxDatabaseBytes = 8 * 1_073_741_824
/** OmniRoute itself keeps no more of a kind in its own repairs. */
const maxRows = 10_000
const maxValueLength = 1_048_576
const copies = 3

const hint = "Name OmniRoute's storage.sqlite, its data folder, or its JSON export."

const bad = (file: string, what: string, more = hint): BadArgument =>
  new BadArgument({ message: `<file>: '${file}' ${what}.`, hint: more })

/** The first bytes of a file; none where it is shorter. */
const beginning = (path: string): string => {
  const descriptor = openSync(path, "r")
  try {
    const bytes = Buffer.alloc(16)
    return bytes.subarray(0, readSync(descriptor, bytes, 0, 16, 0)).toString("latin1")
  } finally {
    closeSync(descriptor)
  }
}

/** Makes a stamp that changes when a file is written. */
const stampOf = (path: string): string => {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined ? "" : `${found.size} ${found.mtimeMs}`
}

/** Copies a database with what is not yet written into it; false: it was written meanwhile. */
const copied = (from: string, to: string): boolean => {
  const stamps = (): string => `${stampOf(from)} ${stampOf(`${from}-wal`)}`
  const before = stamps()
  rmSync(`${to}-wal`, { force: true })
  copyFileSync(from, to, constants.COPYFILE_FICLONE)
  if (existsSync(`${from}-wal`)) copyFileSync(`${from}-wal`, `${to}-wal`, constants.COPYFILE_FICLONE)
  return stamps() === before
}

/** The column, without what is no text or number, or is too long. */
const bounded = (column: string): string =>
  `iif(typeof("${column}") = 'blob' OR length("${column}") > ${maxValueLength}, NULL, "${column}")`

const objectsOf = (rows: ReadonlyArray<unknown>): ReadonlyArray<JsonObject> => rows.map(objectOr)

const namesOf = (rows: ReadonlyArray<unknown>): ReadonlySet<string> => new Set(rows.map(String))

/** The tables in the form of the JSON export. */
const contentOf = (database: Database): JsonObject => {
  // What the file itself defines must not run.
  database.pragma("trusted_schema = OFF")
  const tables = namesOf(
    database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
      .pluck()
      .all()
  )
  const rowsOf = (table: string, wanted: ReadonlyArray<string>): ReadonlyArray<JsonObject> => {
    const there = namesOf(database.prepare("SELECT name FROM pragma_table_info(?)").pluck().all(table))
    const columns = wanted.filter((column) => there.has(column))
    if (columns.length === 0) return []
    const given = columns.map((column) => `${bounded(column)} AS "${column}"`)
    return objectsOf(database.prepare(`SELECT ${given.join(", ")} FROM "${table}" LIMIT ${maxRows}`).all())
  }
  const valuesOf = (namespace: string): JsonObject =>
    Object.fromEntries(
      (tables.has("key_value")
        ? objectsOf(
            database
              .prepare(`SELECT "key", ${bounded("value")} AS value FROM key_value WHERE namespace = ? LIMIT ${maxRows}`)
              .all(namespace)
          )
        : []
      ).map(({ key, value }) => [String(key), value ?? null])
    )
  const settings = valuesOf("settings")
  return {
    ...Object.fromEntries(
      omniRouteTables.flatMap(({ columns, member, table }) =>
        tables.has(table) ? [[member, rowsOf(table, columns)]] : []
      )
    ),
    ...Object.fromEntries(omniRouteNamespaces.map((namespace) => [namespace, valuesOf(namespace)])),
    // Among the others are secrets.
    settings: Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [name, name === "modelAliases" ? (value ?? null) : null])
    )
  }
}

const readDatabase = (path: string, file: string, sizeBytes: number): Effect.Effect<JsonObject, CliFailure> =>
  Effect.gen(function* () {
    const { open } = yield* loadModule(() => import("../../../store/engine/Handle.ts"))
    if (sizeBytes > maxDatabaseBytes) {
      return yield* bad(file, `is larger than ${maxDatabaseBytes} bytes`, "Import OmniRoute's JSON export instead.")
    }
    const folder = yield* Effect.acquireRelease(
      Effect.try({
        // Of this user only: it holds keys for a moment.
        try: () => mkdtempSync(join(tmpdir(), "gateway-import-")),
        catch: () => bad(file, "cannot be copied", `Make room in ${tmpdir()}.`)
      }),
      (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
    )
    const copy = join(folder, "storage.sqlite")
    const isWhole = yield* Effect.try({
      try: () => Array.from({ length: copies }).some(() => copied(path, copy)),
      catch: () => bad(file, "cannot be copied", `Make room in ${tmpdir()}.`)
    })
    if (!isWhole) return yield* bad(file, "is being written", "Stop OmniRoute, or import its JSON export.")
    return yield* open(copy, { readonly: false, busyTimeoutMs: 0 }).pipe(
      Effect.flatMap((database) => Effect.try(() => contentOf(database))),
      Effect.scoped,
      Effect.mapError(() => bad(file, "is no database that can be read"))
    )
  }).pipe(Effect.scoped)

const archive = "\u001f\u008b"
const inFolder = "storage.sqlite"

/** The content in the form of the JSON export, for `readOmniRoute`. */
export const readOmniRouteFile = (file: string): Effect.Effect<Json, CliFailure> =>
  Effect.gen(function* () {
    const { path, sizeBytes, start } = yield* Effect.try({
      try: () => {
        const found = file !== "-" && statSync(file).isDirectory() ? join(file, inFolder) : file
        return found === "-"
          ? { path: found, start: "", sizeBytes: 0 }
          : { path: found, start: beginning(found), sizeBytes: statSync(found).size }
      },
      catch: () => bad(file, "cannot be read")
    })
    if (start.startsWith(archive)) {
      return yield* bad(file, "is an archive", "Unpack it, and name the storage.sqlite in it.")
    }
    const content = start.startsWith("SQLite format 3")
      ? yield* readDatabase(path, file, sizeBytes)
      : parseJson(yield* readText(path, "<file>", hint))
    if (content === undefined) return yield* bad(file, "is neither a SQLite database nor JSON")
    return isOmniRoute(content) ? content : yield* bad(file, "has no providers, nodes or combos of OmniRoute")
  })
