// Imported by a gateway under test before its program: its clock is ahead by CLOCK_AHEAD_MS, or behind where that is negative.
const aheadMs = Number(process.env["CLOCK_AHEAD_MS"] ?? 0)
const Own = globalThis.Date

globalThis.Date = class extends Own {
  /** @param {ReadonlyArray<any>} args */
  constructor(...args) {
    if (args.length === 0) super(Own.now() + aheadMs)
    else super(.../** @type {[number]} */ (args))
  }
  static now() {
    return Own.now() + aheadMs
  }
}
