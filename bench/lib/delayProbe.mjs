/** Loaded into the gateway before its program: at SIGUSR2 it writes how late its event loop's timers were since it was asked last, in milliseconds. */
import fs from "node:fs"
import { monitorEventLoopDelay } from "node:perf_hooks"

const resolutionMs = 5
const delay = monitorEventLoopDelay({ resolution: resolutionMs })
delay.enable()

process.on("SIGUSR2", () => {
  const late = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - resolutionMs)
  const file = process.env.BENCH_DELAY_FILE
  fs.writeFileSync(
    `${file}.new`,
    JSON.stringify({ p50Ms: late(delay.percentile(50)), p99Ms: late(delay.percentile(99)) })
  )
  fs.renameSync(`${file}.new`, file)
  delay.reset()
})
