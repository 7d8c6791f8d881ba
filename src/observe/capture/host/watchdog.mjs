// @ts-check
// Outlives the gateway that started it, also when that is killed, and undoes the changes on the machine. Its input is a pipe
// that only the gateway holds: it ends with the gateway, however that ends. Nothing is polled.
//
// It also runs the programs that make the changes, one line {id, argv, stdin?, timeoutMs?, elevate?, environment} each, answered by a
// line {id, ok, stdout, problem?}: a program that the gateway had started itself would go on when the gateway is killed, and could
// finish its change after that was undone. For the same reason it undoes single changes, {id, undo}, answered by {id, report}.
// Started as: node watchdog.mjs <folder of the journal> <session>
import { createInterface } from "node:readline"
import { setTimeout as delay } from "node:timers/promises"
import { isAlive } from "./undo/owner.mjs"
import { restoreWhere } from "./undo/restore.mjs"
import { runProgram } from "./undo/run.mjs"

const [, , folder = "", session = ""] = process.argv

// A service manager signals every process of a service when it stops it. Settings that are to be restored are still to be restored then.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {})

/** Work that runs now. @type {Set<Promise<unknown>>} */
const running = new Set()
let isOrphaned = false

/** @param {string} line */
const handle = async (line) => {
  const { argv, end, id, undo, ...options } = JSON.parse(line)
  // Nothing is left to undo; a later change has a watchdog of its own.
  if (end === true) process.exit(0)
  if (undo !== undefined) {
    const undone = restoreWhere(folder, (entry) => entry.id === undo)
    running.add(undone)
    const report = await undone
    running.delete(undone)
    if (!isOrphaned) process.stdout.write(`${JSON.stringify({ id, report })}\n`)
    return
  }
  const ran = runProgram(argv, options)
  running.add(ran)
  const result = await ran
  running.delete(ran)
  if (!isOrphaned) process.stdout.write(`${JSON.stringify({ id, ...result })}\n`)
}

/** Pauses in ms before further tries: a failed step may be held by a lock of the package manager. */
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
  // Not killed: update-ca-certificates would leave links out that it does not make again. Each has its own time limit.
  await Promise.allSettled(running)
  await restore().catch(() => {})
  process.exit(0)
})
