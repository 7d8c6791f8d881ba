/**
 * Loaded into the gateway before its program. Each SIGUSR2 writes the file of PROBE_FILE: the files of the build that were read since the
 * start and, from the second signal on, the p99 of the event loop's delay since the one before. Between an even signal and the next nothing
 * is measured.
 */
const fs = require("node:fs")
const { monitorEventLoopDelay } = require("node:perf_hooks")

const read = new Set()
const { readFileSync } = fs
fs.readFileSync = (file, ...rest) => {
  read.add(String(file))
  return readFileSync(file, ...rest)
}

const delay = monitorEventLoopDelay({ resolution: 1 })
let isMeasuring = false
let told = 0
process.on("SIGUSR2", () => {
  let p99Ms = null
  if (isMeasuring) {
    p99Ms = delay.percentile(99) / 1e6
    delay.disable()
  } else {
    delay.reset()
    delay.enable()
  }
  isMeasuring = !isMeasuring
  told += 1
  const file = process.env.PROBE_FILE
  fs.writeFileSync(`${file}.new`, JSON.stringify({ told, p99Ms, read: [...read] }))
  fs.renameSync(`${file}.new`, file)
})
