// Loaded into a gateway before its program: on SIGUSR2 it writes how long the event loop has stood still at most since it was asked last. Of each turn of
// the loop the smaller of two times counts, what passed and what processor time the process took: on a busy machine the loop also waits for its turn. It
// goes round and round for a minute after each question.
import { writeFileSync } from "node:fs"
import { isMainThread } from "node:worker_threads"

const watchedMs = 60_000

if (isMainThread) {
  let worstMs = 0
  let untilMs = 0
  let isGoing = false
  let lastMs = 0
  let lastCpuMs = 0

  const look = () => {
    const nowMs = performance.now()
    const { system, user } = process.cpuUsage()
    const cpuMs = (system + user) / 1_000
    if (isGoing) worstMs = Math.max(worstMs, Math.min(nowMs - lastMs, cpuMs - lastCpuMs))
    lastMs = nowMs
    lastCpuMs = cpuMs
  }
  const turn = () => {
    look()
    isGoing = lastMs < untilMs
    if (isGoing) setImmediate(turn)
  }
  process.on("SIGUSR2", () => {
    // What arrived last is over by then.
    setTimeout(() => {
      look()
      writeFileSync(process.env.STALL_FILE, `${worstMs}\n`)
      worstMs = 0
      untilMs = lastMs + watchedMs
      if (!isGoing) {
        isGoing = true
        setImmediate(turn)
      }
    }, 5)
  })
}
