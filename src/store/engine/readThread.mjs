// Runs long reads on a thread and a connection of its own, which cannot write.
// Plain JavaScript: Node runs this very file from source, and the build copies it as it is.
// In: {id, statements: [{sql, parameters}]}. Out: {id, results} with the rows of each statement, or {id, problem}.
import { parentPort, workerData } from "node:worker_threads"
// oxlint-disable-next-line no-restricted-imports -- the main thread's connection cannot be used here
import Sqlite from "better-sqlite3"

const { file, busyTimeoutMs, maxRows } = workerData
const database = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs })
database.pragma("query_only = 1")
database.pragma("cache_size = -8000")

/** Statements are the program's own texts, of which there are few; those with a list of conditions vary. */
const mostPrepared = 50
const prepared = new Map()

const prepare = (sql) => {
  const known = prepared.get(sql)
  if (known !== undefined) return known
  if (prepared.size >= mostPrepared) prepared.clear()
  const statement = database.prepare(sql)
  prepared.set(sql, statement)
  return statement
}

const rowsOf = ({ parameters, sql }) => {
  const rows = []
  for (const row of prepare(sql).iterate(...parameters)) {
    if (rows.push(row) > maxRows) throw new Error(`The answer has more than ${maxRows} rows.`)
  }
  return rows
}

/** Reads in one transaction, so that all statements see the same state. */
const read = database.transaction((statements) => statements.map(rowsOf))

parentPort.on("message", ({ id, statements }) => {
  let answer
  try {
    answer = { id, results: read(statements) }
  } catch (error) {
    answer = { id, problem: error instanceof Error ? error.message : String(error) }
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort.postMessage(answer)
})
