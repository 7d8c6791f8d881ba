/**
 * Loaded into the gateway before its program: tells over IPC how long its event loop stood still since it was asked last. Of each turn of the loop the
 * smaller of two times counts, what passed and what CPU the event loop's thread took: on a busy machine the loop also waits for its turn, and other
 * threads work beside it. It goes round and round from the first question on.
 */
import { openSync, readSync } from "node:fs"

let worstMs = 0
let isGoing = false
let lastMs = 0
let lastCpu = 0

/** CPU of the first thread to the nanosecond, where the system tells it (Linux); else of the process. */
const makeCpuMs = () => {
  const text = Buffer.alloc(64)
  try {
    const file = openSync(`/proc/self/task/${process.pid}/schedstat`, "r")
    return () => Number(text.toString("latin1", 0, readSync(file, text, 0, text.length, 0)).split(" ", 1)[0]) / 1e6
  } catch {
    return () => {
      const { system, user } = process.cpuUsage()
      return (system + user) / 1_000
    }
  }
}

const cpuMs = makeCpuMs()

const turn = () => {
  const nowMs = performance.now()
  const cpu = cpuMs()
  worstMs = Math.max(worstMs, Math.min(nowMs - lastMs, cpu - lastCpu))
  lastMs = nowMs
  lastCpu = cpu
  setImmediate(turn)
}

process.on("message", (message) => {
  if (message !== "stall") return
  if (!isGoing) {
    isGoing = true
    lastMs = performance.now()
    lastCpu = cpuMs()
    turn()
  }
  // The turn that this message came in is over by then.
  setImmediate(() => {
    process.send(worstMs)
    worstMs = 0
  })
})
process.channel?.unref()
