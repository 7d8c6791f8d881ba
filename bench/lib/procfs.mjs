/** What Linux tells about processes and the machine. */
import { execFileSync } from "node:child_process"
import fs from "node:fs"

const ticksPerSecond = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }))

const secondsIn = (file) => {
  const stat = fs.readFileSync(file, "utf8")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** A thread may end meanwhile. */
const nanoseconds = (file) => (fs.existsSync(file) ? Number(fs.readFileSync(file, "utf8").split(" ", 1)[0]) : 0)

/** User and system time of a process, all its threads, in seconds. */
export const cpuSeconds = (pid) => secondsIn(`/proc/${pid}/stat`)

/** The same of its first thread alone: in Node that of the event loop. */
export const mainThreadSeconds = (pid) => secondsIn(`/proc/${pid}/task/${pid}/stat`)

/** User and system time of a process, all threads that it has now, in seconds, to the nanosecond. */
export const threadsSeconds = (pid) =>
  fs
    .readdirSync(`/proc/${pid}/task`)
    .reduce((sum, thread) => sum + nanoseconds(`/proc/${pid}/task/${thread}/schedstat`), 0) / 1e9

/** Resident memory of a process in KB. */
export const residentKb = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0)

/** Seconds the machine's cores were busy since boot, time taken by other guests of the host included. */
export const busySeconds = () => {
  const [, user, nice, system, , , irq, softirq, steal] = fs
    .readFileSync("/proc/stat", "utf8")
    .split("\n", 1)[0]
    .split(/\s+/)
  return [user, nice, system, irq, softirq, steal].reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond
}
