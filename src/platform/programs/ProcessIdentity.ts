/**
 * Identity of a process. Numbers of processes are used again, so a process is its number together with the time when it was started. Linux
 * reads `/proc` (proc_pid_stat(5): fields 5 and 22, https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html), other systems ask `ps`.
 */
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"

export interface ProcessIdentity {
  readonly pid: number
  /** Text of the time when it was started, which equals only itself. */
  readonly startedAt: string
}

const psTimeoutMs = 2_000
const linuxFields = { processGroup: 2, startTicks: 19 }

const readText = (file: string): string | null => {
  try {
    return readFileSync(file, "latin1")
  } catch {
    return null
  }
}

/** Reads the fields behind the name of the program, which may contain spaces and brackets. */
const linuxStat = (pid: number): ReadonlyArray<string> | null => {
  const text = readText(`/proc/${pid}/stat`)
  return text === null ? null : text.slice(text.lastIndexOf(")") + 2).split(" ")
}

const linuxStartedAt = (pid: number): string | null => {
  const fields = linuxStat(pid)
  // A zombie holds its number and nothing else.
  if (fields === null || fields[0] === "Z" || fields[0] === "X") return null
  const ticks = fields[linuxFields.startTicks]
  // Ticks count from the start of the system.
  const boot = readText("/proc/sys/kernel/random/boot_id")
  return ticks === undefined || boot === null ? null : `${boot.trim()} ${ticks}`
}

const ps = (column: string, pid: number): string | null => {
  try {
    const text = execFileSync("/bin/ps", ["-o", `${column}=`, "-p", String(pid)], {
      encoding: "utf8",
      env: { LC_ALL: "C" },
      timeout: psTimeoutMs,
      stdio: ["ignore", "pipe", "ignore"]
    })
    return text.trim() === "" ? null : text.trim()
  } catch {
    return null
  }
}

/** Null: there is no such process, or the system does not say when it was started (Windows). */
export const startedAt = (pid: number): string | null => {
  if (process.platform === "linux") return linuxStartedAt(pid)
  return process.platform === "win32" ? null : ps("lstart", pid)
}

export const isRunning = ({ pid, startedAt: known }: ProcessIdentity): boolean => startedAt(pid) === known

/** Checks whether it leads a process group of its own number, as a program that was started "detached" does. */
const leadsGroup = (pid: number): boolean => {
  if (process.platform === "win32") return false
  const group = process.platform === "linux" ? linuxStat(pid)?.[linuxFields.processGroup] : ps("pgid", pid)
  return group === String(pid)
}

const send = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch {
    // It is gone, or belongs to another user.
  }
}

/** Signals it, with its group when it leads one. Nothing when its number means another process by now. */
export const signalProcess = (identity: ProcessIdentity, signal: NodeJS.Signals): void => {
  if (!isRunning(identity)) return
  send(leadsGroup(identity.pid) ? -identity.pid : identity.pid, signal)
}

/**
 * The processes that were started with a variable in their environment, and what those have started. On Linux only, where `/proc` shows
 * the environment of one's own processes; elsewhere none.
 */
export const processesWith = (name: string, value: string): ReadonlyArray<ProcessIdentity> => {
  if (process.platform !== "linux") return []
  const wanted = `\0${name}=${value}\0`
  return readdirSync("/proc").flatMap((entry) => {
    if (!/^\d{1,10}$/.test(entry)) return []
    const environment = readText(`/proc/${entry}/environ`)
    if (environment === null || !`\0${environment}`.includes(wanted)) return []
    const pid = Number(entry)
    const since = startedAt(pid)
    return since === null ? [] : [{ pid, startedAt: since }]
  })
}
