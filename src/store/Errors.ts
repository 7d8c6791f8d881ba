/**
 * Errors of the store. `StoreError` and `AlreadyStored` belong to single operations; `StoreFailure` is everything that can keep the
 * store from opening, and `describeStoreFailure` words it as one sentence a person can act on.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { asSentence } from "../kernel/text/Sentence.ts"
import { statSync } from "node:fs"
import { dirname } from "node:path"
import { firstProblem } from "../platform/files/PathAccess.ts"

/** A statement failed, or a stored row no longer fits its schema. `operation` is `Service.method`. */
export class StoreError extends Data.TaggedError("StoreError")<{
  readonly operation: string
  readonly cause: unknown
}> {
  override get message(): string {
    return `${this.operation} failed: ${reasonOf(this.cause)}`
  }
}

/** Another row already has this value. `what` names the field or fields: `name`, `provider, modelId`. */
export class AlreadyStored extends Data.TaggedError("AlreadyStored")<{ readonly what: string }> {}

/** Another gateway serves this data folder. */
export class GatewayRunning extends Data.TaggedError("GatewayRunning")<{ readonly lockFile: string }> {}

/** Another program holds a write lock on the database. */
export class DatabaseLocked extends Data.TaggedError("DatabaseLocked")<{ readonly file: string }> {}

/** The database was written by a newer gateway. */
export class SchemaNewer extends Data.TaggedError("SchemaNewer")<{
  readonly file: string
  readonly found: number
  readonly supported: number
}> {}

export class DatabaseCorrupt extends Data.TaggedError("DatabaseCorrupt")<{
  readonly file: string
  readonly detail: string
}> {}

/** A file or folder cannot be made or written, or the disk is full. */
export class DataUnwritable extends Data.TaggedError("DataUnwritable")<{
  readonly path: string
  readonly reason: string
}> {}

/** The addon of better-sqlite3 is missing, or was built for another Node. */
export class DriverMissing extends Data.TaggedError("DriverMissing")<{ readonly reason: "not built" | "other Node" }> {}

export class MigrationFailed extends Data.TaggedError("MigrationFailed")<{
  readonly file: string
  readonly reason: string
}> {}

/** The server of the database cannot be reached, or has ended the connection. What was being written may be stored or not. */
export class DatabaseUnreachable extends Data.TaggedError("DatabaseUnreachable")<{
  /** Host, port and name of the database, without user and password. */
  readonly address: string
  readonly reason: string
}> {
  override get message(): string {
    return `the database at ${this.address} cannot be reached: ${this.reason}`
  }
}

/** Backups of a database on a server are made by the server's own tools. */
export class BackedUpElsewhere extends Data.TaggedError("BackedUpElsewhere")<{ readonly what: string }> {}

/** The master key is not the one the encrypted columns were written with. `keyFile` is null when it came from the environment. */
export class WrongKey extends Data.TaggedError("WrongKey")<{
  readonly keyFile: string | null
  readonly reason: "mismatch" | "missing" | "malformed"
}> {}

export type StoreFailure =
  | GatewayRunning
  | DatabaseLocked
  | SchemaNewer
  | DatabaseCorrupt
  | DataUnwritable
  | MigrationFailed
  | DriverMissing
  | WrongKey
  | DatabaseUnreachable
  | BackedUpElsewhere
  | StoreError

const remedy =
  "give the former key, or run 'gateway reset-encrypted-columns' to drop the stored credentials and start with the new key"

const wrongKey = ({ keyFile, reason }: WrongKey): string => {
  if (keyFile === null) return `GATEWAY_ENCRYPTION_KEY is not the key this database was encrypted with: ${remedy}.`
  switch (reason) {
    case "mismatch":
      return `The key file ${keyFile} is not the key this database was encrypted with (GATEWAY_ENCRYPTION_KEY is not set): ${remedy}.`
    case "missing":
      return `The key file ${keyFile} is missing and GATEWAY_ENCRYPTION_KEY is not set, but the database holds encrypted columns: ${remedy}.`
    case "malformed":
      return `The key file ${keyFile} does not hold a key: restore it from a backup, or remove it if nothing was stored yet.`
  }
}

const driverProblem = ({ reason }: DriverMissing): string =>
  reason === "not built"
    ? `The database driver (better-sqlite3) was not built, as after 'npm ci --ignore-scripts': run 'npm rebuild better-sqlite3' in the folder of the program`
    : `The database driver (better-sqlite3) was built for another version or platform of Node.js than this one (${process.version}): run 'npm rebuild better-sqlite3' in the folder of the program with this Node.js`

/** One sentence for people: what is wrong, with which file, and what to do. Never a stack, never a secret. */
export const describeStoreFailure = (failure: StoreFailure): string => {
  switch (failure._tag) {
    case "GatewayRunning":
      return `Another gateway is using this data folder (it holds ${failure.lockFile}): stop it, or set DATA_DIR to another folder.`
    case "DatabaseLocked":
      return `The database ${failure.file} is locked by another process: close the program that uses it and try again.`
    case "SchemaNewer":
      return `The database ${failure.file} has schema version ${failure.found}, but this gateway knows versions up to ${failure.supported}: upgrade the gateway. The file was not changed.`
    case "DatabaseCorrupt":
      return `The database ${failure.file} is damaged (${failure.detail}): put a backup in its place, or move it away to start empty. The file was not changed.`
    case "DataUnwritable":
      return `The gateway cannot write to ${failure.path}: ${asSentence(failure.reason)}`
    case "MigrationFailed":
      return `The database ${failure.file} could not be brought to this gateway's schema and was left as it was: ${asSentence(failure.reason)}`
    case "DriverMissing":
      return `${driverProblem(failure)}.`
    case "WrongKey":
      return wrongKey(failure)
    case "DatabaseUnreachable":
      return `The database at ${failure.address} cannot be reached: ${asSentence(failure.reason)}`
    case "BackedUpElsewhere":
      return `${failure.what} is not possible here, because the database is on a server of Postgres: make backups with 'pg_dump' and put them back with 'pg_restore' (docs/cluster.md).`
    case "StoreError":
      return `The database refused an operation: ${asSentence(failure.message)}`
  }
}

/** The SQLite or system error code somewhere down the causes, such as `SQLITE_BUSY` or `ENOSPC`; null when there is none. */
export const codeOf = (error: unknown): string | null => {
  let current = error
  for (let depth = 0; depth < 5 && Predicate.isObject(current); depth++) {
    if (Predicate.hasProperty(current, "code") && typeof current.code === "string") return current.code
    current = Predicate.hasProperty(current, "cause") ? current.cause : null
  }
  return null
}

/** The message of the innermost error. */
export const reasonOf = (error: unknown): string => {
  let words = String(error)
  let current = error
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    if (current.message !== "") words = current.message
    current = current.cause
  }
  return words
}

const unwritable: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  SQLITE_FULL: "the disk is full",
  EACCES: "permission denied",
  EPERM: "permission denied",
  SQLITE_PERM: "permission denied",
  EROFS: "the file system is read-only",
  SQLITE_READONLY: "the file or its folder is read-only",
  EEXIST: "a file is in the place of the folder",
  ENOTDIR: "a part of the path is not a folder",
  EISDIR: "a folder is in the place of the file",
  SQLITE_CANTOPEN: "the file cannot be opened"
}

/** Null: the error is not about loading the driver's addon. */
export const driverFailure = (error: unknown): DriverMissing | null => {
  const reason = reasonOf(error)
  const code = codeOf(error)
  if (reason.startsWith("Could not locate the bindings file")) return new DriverMissing({ reason: "not built" })
  // A file that is no library of this platform fails to load as well.
  return code === "ERR_DLOPEN_FAILED" || code === "ERR_DLOPEN_DISABLED"
    ? new DriverMissing({ reason: "other Node" })
    : null
}

/** Codes behind which there may be a matter of users and modes, about which more can be said. */
const ofAccess: ReadonlySet<string> = new Set([
  "EACCES",
  "EPERM",
  "EROFS",
  "SQLITE_PERM",
  "SQLITE_READONLY",
  "SQLITE_CANTOPEN",
  "ENOTDIR"
])

/** SQLite keeps a log and an index beside a database, in its folder. */
const besides = (path: string, code: string): ReadonlyArray<string> =>
  code.startsWith("SQLITE_") ? [path, `${path}-wal`, `${path}-shm`, `${path}-journal`, dirname(path)] : [path]

const unusable = (path: string, code: string): DataUnwritable | null => {
  if (!ofAccess.has(code)) return null
  const problem = firstProblem(besides(path, code))
  if (problem !== null) return new DataUnwritable(problem)
  if (code === "SQLITE_CANTOPEN" && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    return new DataUnwritable({ path, reason: "a folder is in the place of the file; move it away" })
  }
  return null
}

const failures = [
  GatewayRunning,
  DatabaseLocked,
  SchemaNewer,
  DatabaseCorrupt,
  DataUnwritable,
  MigrationFailed,
  DriverMissing,
  WrongKey,
  DatabaseUnreachable,
  BackedUpElsewhere,
  StoreError
]

const isStoreFailure = (error: unknown): error is StoreFailure => failures.some((failure) => error instanceof failure)

/** Maps an error met while opening `path` to the union; null when it is neither SQLite's nor the system's, hence a bug. */
export const failureAt = (path: string, error: unknown): StoreFailure | null => {
  // One that was sorted already, further down.
  if (isStoreFailure(error)) return error
  const driver = driverFailure(error)
  if (driver !== null) return driver
  const code = codeOf(error)
  if (code === null) return null
  // Extended codes such as SQLITE_BUSY_RECOVERY or SQLITE_READONLY_DIRECTORY start with the plain one.
  const plain = code.startsWith("SQLITE_") ? code.split("_", 2).join("_") : code
  if (plain === "SQLITE_BUSY" || plain === "SQLITE_LOCKED") return new DatabaseLocked({ file: path })
  if (plain === "SQLITE_NOTADB") return new DatabaseCorrupt({ file: path, detail: "it is not a SQLite database" })
  if (plain === "SQLITE_CORRUPT") return new DatabaseCorrupt({ file: path, detail: reasonOf(error) })
  const problem = unusable(path, plain)
  if (problem !== null) return problem
  const reason = unwritable[plain]
  if (reason !== undefined) return new DataUnwritable({ path, reason })
  if (plain === "SQLITE_IOERR") return new DataUnwritable({ path, reason: reasonOf(error) })
  if (plain.startsWith("SQLITE_")) return new StoreError({ operation: `Opening ${path}`, cause: error })
  // Node's errors about wrong arguments are bugs, not system errors.
  return plain.startsWith("ERR_") ? null : new DataUnwritable({ path, reason: reasonOf(error) })
}

/** Fails with the result of `failureAt`; a bug stays a defect. For `catchAll` and `catchAllDefect`. */
export const refusedAt =
  (path: string) =>
  (error: unknown): Effect.Effect<never, StoreFailure> => {
    const failure = failureAt(path, error)
    return failure === null ? Effect.die(error) : Effect.fail(failure)
  }
