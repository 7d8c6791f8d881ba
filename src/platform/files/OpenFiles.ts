/** Finds the number of files and sockets that the process may have open. */
import { readFileSync } from "node:fs"

/** Reads `/proc/self/limits`; null when there is no such line or no limit. Pure. */
export const openFilesIn = (limits: string): number | null => {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
  return soft === undefined ? null : Number(soft)
}

/** The limit in force (Node raises it to the hard one at its start); null when it is unknown or there is none. */
export const openFiles = (): number | null => {
  try {
    return openFilesIn(readFileSync("/proc/self/limits", "utf8"))
  } catch {
    return null
  }
}

/** Number of files open besides sockets of requests: the database, files, listeners, idle connections. */
const besides = 256
const perRequest = 2

/** Requests at once that a number of open files is enough for. */
export const requestsWithin = (files: number): number => Math.max(1, Math.floor((files - besides) / perRequest))

/** Open files that a number of requests at once needs. */
export const filesFor = (requests: number): number => requests * perRequest + besides
