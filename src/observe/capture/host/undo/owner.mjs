// @ts-check
// Which process made a change, so that it is recognised after its end, when another process may have its number.
// Plain JavaScript, as all of this folder: the watchdog runs it without the gateway.
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"

/**
 * @typedef {object} Owner
 * @property {number} pid
 * @property {string | null} startTime when the process began, in the system's own unit; null where the system does not report it
 * @property {string | null} bootId of the running system; null where it has none
 */

/** @param {string} path */
const textOf = (path) => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return null
  }
}

/** Changes with each start of the machine. Linux only; null elsewhere. */
export const bootId = () => textOf("/proc/sys/kernel/random/boot_id")?.trim() ?? null

/**
 * State and start of a process. Fields 3 and 22 of https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html, counted behind the name,
 * which may contain spaces and brackets.
 * @param {number} pid
 * @returns {{ isEnded: boolean, startTime: string | null } | null} null: there is no such process
 */
const facts = (pid) => {
  if (process.platform === "linux") {
    const stat = textOf(`/proc/${pid}/stat`)
    if (stat === null) return null
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    // Ended, and not yet collected by its parent.
    return { isEnded: fields[0] === "Z" || fields[0] === "X", startTime: fields[19] ?? null }
  }
  try {
    process.kill(pid, 0)
  } catch (error) {
    // A process of another user cannot be signalled, but it is there.
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) return null
  }
  if (process.platform === "win32") return { isEnded: false, startTime: null }
  try {
    const started = execFileSync("/bin/ps", ["-o", "lstart=", "-p", String(pid)], {
      encoding: "utf8",
      timeout: 2_000,
      stdio: ["ignore", "pipe", "ignore"],
      env: { LC_ALL: "C" }
    })
    return { isEnded: false, startTime: started.trim() || null }
  } catch {
    return { isEnded: false, startTime: null }
  }
}

/** @returns {Owner} */
export const thisProcess = () => ({
  pid: process.pid,
  startTime: facts(process.pid)?.startTime ?? null,
  bootId: bootId()
})

/** @param {Owner} owner */
export const isAlive = (owner) => {
  if (owner.bootId !== null && owner.bootId !== bootId()) return false
  const found = facts(owner.pid)
  if (found === null || found.isEnded) return false
  return owner.startTime === null || found.startTime === null || owner.startTime === found.startTime
}
