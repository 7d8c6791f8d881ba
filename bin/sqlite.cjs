/**
 * The database driver of the built program: Node's own SQLite where this Node has it whole (22.16, 24 and later), better-sqlite3 elsewhere.
 * The build copies this file to dist/sqlite.cjs, which stands for "better-sqlite3" there. The former needs no compiler; what the program uses of
 * the latter's interface is here, with the same rows, errors and settings (docs/contributing/sqlite.md).
 */
const { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } = require("node:fs")
const { createRequire } = require("node:module")
const { tmpdir } = require("node:os")
const { join } = require("node:path")

/** Loads Node's SQLite without its warning of being experimental; null where this Node has none, or one without backups. */
const loadNative = () => {
  const { emitWarning } = process
  process.emitWarning = (warning, ...rest) => {
    if (!/\bSQLite is an experimental feature\b/.test(String(warning))) emitWarning.call(process, warning, ...rest)
  }
  try {
    const native = require("node:sqlite")
    return typeof native.backup === "function" ? native : null
  } catch (error) {
    if (error?.code === "ERR_UNKNOWN_BUILTIN_MODULE") return null
    throw error
  } finally {
    process.emitWarning = emitWarning
  }
}

const primary = [
  ["OK", "ERROR", "INTERNAL", "PERM", "ABORT", "BUSY", "LOCKED", "NOMEM", "READONLY", "INTERRUPT", "IOERR", "CORRUPT"],
  ["NOTFOUND", "FULL", "CANTOPEN", "PROTOCOL", "EMPTY", "SCHEMA", "TOOBIG", "CONSTRAINT", "MISMATCH", "MISUSE"],
  ["NOLFS", "AUTH", "FORMAT", "RANGE", "NOTADB", "NOTICE", "WARNING"]
].flat()

/** Names of extended codes, by primary code, in the order of their numbers (https://www.sqlite.org/rescode.html). */
const extended = {
  ERROR: ["MISSING_COLLSEQ", "RETRY", "SNAPSHOT"],
  ABORT: [null, "ROLLBACK"],
  BUSY: ["RECOVERY", "SNAPSHOT", "TIMEOUT"],
  LOCKED: ["SHAREDCACHE", "VTAB"],
  READONLY: ["RECOVERY", "CANTLOCK", "ROLLBACK", "DBMOVED", "CANTINIT", "DIRECTORY"],
  IOERR: [
    ["READ", "SHORT_READ", "WRITE", "FSYNC", "DIR_FSYNC", "TRUNCATE", "FSTAT", "UNLOCK", "RDLOCK", "DELETE", "BLOCKED"],
    ["NOMEM", "ACCESS", "CHECKRESERVEDLOCK", "LOCK", "CLOSE", "DIR_CLOSE", "SHMOPEN", "SHMSIZE", "SHMLOCK", "SHMMAP"],
    ["SEEK", "DELETE_NOENT", "MMAP", "GETTEMPPATH", "CONVPATH", "VNODE", "AUTH", "BEGIN_ATOMIC", "COMMIT_ATOMIC"],
    ["ROLLBACK_ATOMIC", "DATA", "CORRUPTFS"]
  ].flat(),
  CORRUPT: ["VTAB", "SEQUENCE", "INDEX"],
  CANTOPEN: ["NOTEMPDIR", "ISDIR", "FULLPATH", "CONVPATH", "DIRTYWAL", "SYMLINK"],
  CONSTRAINT: [
    ["CHECK", "COMMITHOOK", "FOREIGNKEY", "FUNCTION", "NOTNULL", "PRIMARYKEY", "TRIGGER", "UNIQUE", "VTAB", "ROWID"],
    ["PINNED", "DATATYPE"]
  ].flat(),
  AUTH: ["USER"]
}

/** Returns the name of a result code of SQLite, such as `SQLITE_CONSTRAINT_UNIQUE` of 2067. */
const codeName = (number) => {
  const name = primary[number & 0xff]
  if (name === undefined) return `SQLITE_UNKNOWN_${number}`
  const more = number >> 8 === 0 ? null : extended[name]?.[(number >> 8) - 1]
  return more === null || more === undefined ? `SQLITE_${name}` : `SQLITE_${name}_${more}`
}

class SqliteError extends Error {
  constructor(message, code) {
    super(message)
    this.code = code
  }
}
SqliteError.prototype.name = "SqliteError"

const failing = (error) =>
  error?.code === "ERR_SQLITE_ERROR" && typeof error.errcode === "number"
    ? new SqliteError(error.message, codeName(error.errcode))
    : error

const attempt = (run) => {
  try {
    return run()
  } catch (error) {
    throw failing(error)
  }
}

/** Bytes are a Buffer over the same memory. */
const shown = (value) =>
  value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value

/** Rows come as arrays, of which an object like any other is made sooner than of Node's, which have no prototype and no shape. */
const objectOf = (row, names) => {
  const made = {}
  for (let at = 0; at < names.length; at++) made[names[at]] = shown(row[at])
  return made
}

const valuesOf = (row) => {
  for (let at = 0; at < row.length; at++) row[at] = shown(row[at])
  return row
}

const firstOf = (row) => shown(row[0])

class Statement {
  #database
  #statement
  #names
  #form = objectOf

  constructor(database, statement, source) {
    this.#database = database
    this.#statement = statement
    this.#names = statement.columns().map(({ name }) => name)
    this.source = source
    this.reader = this.#names.length > 0
    statement.setReturnArrays(true)
  }

  #row(values) {
    // After a change of a table, `*` has other columns.
    if (values.length !== this.#names.length) this.#names = this.#statement.columns().map(({ name }) => name)
    return this.#form(values, this.#names)
  }

  get database() {
    return this.#database
  }

  run(...parameters) {
    return attempt(() => {
      const { changes, lastInsertRowid } = this.#statement.run(...parameters)
      return { changes, lastInsertRowid }
    })
  }

  get(...parameters) {
    return attempt(() => {
      const row = this.#statement.get(...parameters)
      return row === undefined ? undefined : this.#row(row)
    })
  }

  all(...parameters) {
    return attempt(() => {
      const rows = this.#statement.all(...parameters)
      for (let at = 0; at < rows.length; at++) rows[at] = this.#row(rows[at])
      return rows
    })
  }

  *iterate(...parameters) {
    const rows = attempt(() => this.#statement.iterate(...parameters))
    try {
      for (let next = attempt(() => rows.next()); !next.done; next = attempt(() => rows.next()))
        yield this.#row(next.value)
    } finally {
      rows.return?.()
    }
  }

  /** Rows as arrays; with false as objects again. */
  raw(isRaw = true) {
    this.#form = isRaw ? valuesOf : objectOf
    return this
  }

  /** The first column of each row alone. */
  pluck(isPlucked = true) {
    this.#form = isPlucked ? firstOf : objectOf
    return this
  }

  safeIntegers(isSafe = true) {
    this.#statement.setReadBigInts(isSafe)
    return this
  }

  columns() {
    return this.#statement.columns()
  }
}

const usualBusyTimeoutMs = 5000
const usualPagesAtOnce = 100

/** What better-sqlite3 sets when it is compiled, and Node does not. */
const usual = ["cache_size = -16000"]

const native = loadNative()

class Database {
  #database

  /** The folder of the file that bytes were written into; null for a database with a file of its own. */
  #scratch = null

  /** Opens a file, or the bytes of one. */
  constructor(given = "", options = {}) {
    const { fileMustExist = false, readonly = false, timeout = usualBusyTimeoutMs } = options
    const name = typeof given === "string" ? given : this.#written(given)
    this.name = name
    this.readonly = readonly
    this.memory = name === "" || name === ":memory:"
    if (fileMustExist && !this.memory && !existsSync(name)) {
      throw new SqliteError("unable to open database file", "SQLITE_CANTOPEN")
    }
    this.#database = attempt(() => new native.DatabaseSync(name, { readOnly: readonly, timeout }))
    for (const setting of usual) attempt(() => this.#database.exec(`PRAGMA ${setting}`))
  }

  #written(bytes) {
    this.#scratch = mkdtempSync(join(tmpdir(), "gateway-sqlite-"))
    const file = join(this.#scratch, "copy.sqlite")
    writeFileSync(file, bytes)
    return file
  }

  get open() {
    return this.#database.isOpen
  }

  get inTransaction() {
    return this.#database.isTransaction
  }

  prepare(source) {
    return new Statement(
      this,
      attempt(() => this.#database.prepare(source)),
      source
    )
  }

  exec(source) {
    attempt(() => this.#database.exec(source))
    return this
  }

  pragma(source, { simple = false } = {}) {
    const statement = this.prepare(`PRAGMA ${source}`)
    return simple ? statement.pluck().get() : statement.all()
  }

  /** Returns the function as one that runs in a transaction, or in a savepoint of one that has begun. */
  transaction(run) {
    const within =
      (begin) =>
      (...given) => {
        const [before, after, undo] = this.inTransaction
          ? ["SAVEPOINT gateway", "RELEASE gateway", "ROLLBACK TO gateway; RELEASE gateway"]
          : [begin, "COMMIT", "ROLLBACK"]
        this.exec(before)
        try {
          const result = run(...given)
          this.exec(after)
          return result
        } catch (error) {
          if (this.inTransaction) this.exec(undo)
          throw error
        }
      }
    return Object.assign(within("BEGIN"), {
      default: within("BEGIN"),
      deferred: within("BEGIN DEFERRED"),
      immediate: within("BEGIN IMMEDIATE"),
      exclusive: within("BEGIN EXCLUSIVE")
    })
  }

  /** Copies all into a file, some pages at a time on a thread of Node's. */
  async backup(file, { progress } = {}) {
    const rate = progress?.({ totalPages: 0, remainingPages: 0 }) ?? usualPagesAtOnce
    try {
      const totalPages = await native.backup(this.#database, file, { rate })
      return { totalPages, remainingPages: 0 }
    } catch (error) {
      throw failing(error)
    }
  }

  /** Returns the bytes of the database's file. */
  serialize() {
    if (typeof this.#database.serialize === "function") return Buffer.from(attempt(() => this.#database.serialize()))
    const folder = mkdtempSync(join(tmpdir(), "gateway-sqlite-"))
    try {
      const file = join(folder, "copy.sqlite")
      this.prepare("VACUUM INTO ?").run(file)
      return readFileSync(file)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  loadExtension(file) {
    this.#database.loadExtension(file)
    return this
  }

  close() {
    if (this.#database.isOpen) this.#database.close()
    if (this.#scratch !== null) rmSync(this.#scratch, { recursive: true, force: true })
    return this
  }
}

Database.SqliteError = SqliteError

module.exports = native === null ? createRequire(__filename)("better-sqlite3") : Database
