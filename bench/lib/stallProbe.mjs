/**
 * Loaded into the gateway before its program: tells over IPC how long its event loop stood still since it was asked last, and how much CPU
 * the process took. The smaller of the two bounds the stall: on a busy machine the loop also waits for its turn.
 */
import { monitorEventLoopDelay } from "node:perf_hooks"

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
let cpuBefore = process.cpuUsage()

process.on("message", (message) => {
  if (message !== "stall") return
  // What arrived last is seen by the next tick of the histogram's timer.
  setTimeout(() => {
    const cpu = process.cpuUsage(cpuBefore)
    const worstMs = Math.min(delay.max / 1e6, (cpu.user + cpu.system) / 1000)
    delay.reset()
    // The first tick after a reset only begins to measure: a stall before it would not be seen.
    setTimeout(() => {
      cpuBefore = process.cpuUsage()
      process.send(worstMs)
    }, 5)
  }, 5)
})
process.channel?.unref()
