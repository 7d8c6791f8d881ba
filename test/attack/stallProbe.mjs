// Loaded into a gateway before its program: on SIGUSR2 it writes how long the event loop has stood still at most since it was asked last. The
// processor time of the process bounds that: on a busy machine the loop also waits for its turn.
import { writeFileSync } from "node:fs"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { isMainThread } from "node:worker_threads"

if (isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  let before = process.cpuUsage()
  process.on("SIGUSR2", () => {
    // What arrived last is seen by the next tick of the histogram's timer.
    setTimeout(() => {
      const { system, user } = process.cpuUsage(before)
      writeFileSync(process.env.STALL_FILE, `${Math.min(delay.max / 1e6, (system + user) / 1_000)}\n`)
      delay.reset()
      before = process.cpuUsage()
    }, 5)
  })
}
