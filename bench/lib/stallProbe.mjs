/**
 * Loaded into the gateway before its program: tells over IPC how long its event loop stood still since it was asked last. Of each turn of the loop the
 * smaller of two times counts, what passed and what CPU the process took: on a busy machine the loop also waits for its turn. It goes round and
 * round from the first question on.
 */
let worstMs = 0
let isGoing = false
let lastMs = 0
let lastCpu = 0

const cpuMs = () => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1_000
}

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
