/**
 * Processor time of this thread. A machine under load gives a thread little of it, so a limit on the clock alone would hit plugins that did
 * nothing wrong. Null where it is not available (an old Node on any system but Linux): then the clock is the limit.
 */
import { closeSync, openSync, readSync } from "node:fs"

export interface CpuTime {
  /** Milliseconds, from an arbitrary start. */
  readonly readMs: () => number | null
  readonly close: () => void
}

/** Reads it as newer versions of Node report it on every system. */
const ofNode = (): number | null => {
  if (!("threadCpuUsage" in process) || typeof process.threadCpuUsage !== "function") return null
  const { system, user } = process.threadCpuUsage() as NodeJS.CpuUsage
  return (user + system) / 1_000
}

export const makeCpuTime = (): CpuTime => {
  let file: number
  try {
    // Opened by the thread itself, so it is about this thread.
    file = openSync("/proc/thread-self/schedstat", "r")
  } catch {
    return { readMs: ofNode, close: () => {} }
  }
  const bytes = Buffer.alloc(96)
  const readMs = (): number | null => {
    try {
      const length = readSync(file, bytes, 0, bytes.length, 0)
      const nanoseconds = Number.parseInt(bytes.toString("latin1", 0, length), 10)
      return Number.isFinite(nanoseconds) && nanoseconds > 0 ? nanoseconds / 1e6 : null
    } catch {
      return null
    }
  }
  return { readMs, close: () => closeSync(file) }
}
