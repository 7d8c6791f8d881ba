// @ts-check
// Outlives the gateway that started it, also when that is killed, and takes back what was changed on the machine. Its input is a pipe
// that only the gateway holds: it ends with the gateway, however that ends. Nothing is polled.
//
// It also runs the programs that make the changes, one line {id, argv, stdin?, timeoutMs?, elevate?, environment} each, answered by a
// line {id, ok, stdout, problem?}: a program that the gateway had started itself would go on when the gateway is killed, and could
// finish its change after that was taken back.
// Started as: node watchdog.mjs <folder of the journal> <session>
import { createInterface } from "node:readline"
import { setTimeout as delay } from "node:timers/promises"
import { isAlive } from "./undo/owner.mjs"
import { restoreWhere } from "./undo/restore.mjs"
import { runProgram } from "./undo/run.mjs"

const [, , folder = "", session = ""] = process.argv

// A service manager signals every process of a service when it stops it. What is to be given back is then still to be given back.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {})

/** What runs: how to end it, and its end. @type {Map<() => void, Promise<unknown>>} */
const running = new Map()
let isOrphaned = false

/** @param {string} line */
const handle = async (line) => {
  const { argv, id, ...options } = JSON.parse(line)
  /** @type {() => void} */
  let kill = () => {}
  const ran = runProgram(argv, { ...options, onStart: (end) => (kill = end) })
  running.set(kill, ran)
  const result = await ran
  running.delete(kill)
  if (!isOrphaned) process.stdout.write(`${JSON.stringify({ id, ...result })}\n`)
}

/** What failed once may be held by a lock of the package manager. */
const pausesMs = [500, 2_000, 5_000, 15_000]

const restore = async () => {
  for (const pauseMs of [...pausesMs, null]) {
    const { failed } = await restoreWhere(folder, (entry) => entry.session === session || !isAlive(entry.owner))
    if (failed.length === 0 || pauseMs === null) return
    await delay(pauseMs)
  }
}

process.stdin.on("error", () => {})
process.stdout.on("error", () => {})
const lines = createInterface({ input: process.stdin, crlfDelay: Infinity })
lines.on("line", (line) => {
  if (!isOrphaned) handle(line).catch(() => {})
})
lines.once("close", async () => {
  isOrphaned = true
  const ends = [...running.values()]
  for (const kill of running.keys()) kill()
  await Promise.all(ends)
  await restore().catch(() => {})
  process.exit(0)
})
