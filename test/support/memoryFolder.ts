/**
 * A folder in memory for all that the tests write. Most of them make a database with its journal, sync it and remove it again: on a disk
 * that is a third of their time.
 */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const memory = "/dev/shm"
/** The largest test writes half of it. */
const enoughBytes = 4 * 1_073_741_824

const hasRoom = (): boolean => {
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize >= enoughBytes
}

/** Some tests write programs. A folder may forbid to start them. */
const mayStartPrograms = (folder: string): boolean => {
  const program = join(folder, "probe")
  try {
    writeFileSync(program, "#!/bin/sh\nexit 0\n", { mode: 0o700 })
    execFileSync(program)
    return true
  } catch {
    return false
  } finally {
    rmSync(program, { force: true })
  }
}

const prefix = "gateway-tests-"

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Removes the folders of runs that were killed. */
const sweep = (): void => {
  for (const name of readdirSync(memory)) {
    if (!name.startsWith(prefix) || isRunning(Number(name.slice(prefix.length)))) continue
    rmSync(join(memory, name), { recursive: true, force: true })
  }
}

/**
 * Puts temporary files of this process, and of those it starts, there from now on; where there is no such place nothing
 * changes.
 */
export const useMemoryFolder = (): void => {
  if (!existsSync(memory)) return
  sweep()
  if (!hasRoom()) return
  const folder = join(memory, `${prefix}${process.pid}`)
  mkdirSync(folder, { mode: 0o700, recursive: true })
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
  if (mayStartPrograms(folder)) process.env["TMPDIR"] = folder
}
