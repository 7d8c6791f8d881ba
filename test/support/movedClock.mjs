// Imported by a program under test before its own code: its clock is off by the milliseconds in CLOCK_FILE, which a test changes while it runs.
import { readFileSync } from "node:fs"

const file = process.env["CLOCK_FILE"] ?? ""
const Own = globalThis.Date
const lookEveryMs = 20
let offsetMs = 0
let lookedMs = -Infinity

const nowMs = () => {
  const passedMs = performance.now()
  if (passedMs - lookedMs >= lookEveryMs) {
    lookedMs = passedMs
    const read = Number(readFileSync(file, "utf8"))
    // A file that is being written is empty for a moment.
    if (read !== 0) offsetMs = read
  }
  return Own.now() + offsetMs
}

globalThis.Date = class extends Own {
  /** @param {ReadonlyArray<any>} args */
  constructor(...args) {
    if (args.length === 0) super(nowMs())
    else super(.../** @type {[number]} */ (args))
  }
  static now() {
    return nowMs()
  }
}
