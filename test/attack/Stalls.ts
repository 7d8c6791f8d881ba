/** How long the event loop of a gateway stands still for one request. */
import { existsSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { Verdict } from "./Attempt.ts"
import type { Gateway } from "./Arena.ts"

/** Most milliseconds, whatever is sent. In a run of all tests, which share the machine, only what takes seconds is told. */
const limitMs = (process.env["ATTACK"] ?? "") === "" ? 1_000 : 100
/** Of several tries the best counts: other work on the machine only ever adds. */
const tries = 6
const patienceMs = 60_000

export const stallFile = "stall.txt"

let longestMs = 0
let longestOf = ""

/** Of all that was measured: the best try of each. */
export const longestStall = (): string => `Longest stall: ${longestMs.toFixed(1)} ms (${longestOf})`

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))

const worstOf = async ({ program }: Gateway): Promise<number> => {
  const file = join(program.dataDir, stallFile)
  rmSync(file, { force: true })
  program.signal("SIGUSR2")
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += 10) {
    await pause(10)
    if (!existsSync(file)) continue
    const text = readFileSync(file, "utf8")
    if (text.endsWith("\n")) return Number(text)
  }
  throw new Error("The gateway does not say how long it stood still.")
}

/** Runs what `act` does several times. `act`: what is wrong beside the time; null: nothing is. */
export const stalls = async (name: string, gateway: Gateway, act: () => Promise<Verdict>): Promise<Verdict> => {
  let bestMs = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < tries && bestMs > limitMs; turn += 1) {
    await worstOf(gateway)
    const wrong = await act()
    if (wrong !== null) return wrong
    bestMs = Math.min(bestMs, await worstOf(gateway))
  }
  if (bestMs > longestMs) [longestMs, longestOf] = [bestMs, name]
  return bestMs > limitMs ? `the event loop stood still for ${bestMs.toFixed(0)} ms` : null
}
