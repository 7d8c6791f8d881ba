/** Time stamps in ISO 8601, for lines that are written many times a second. */

const digits = Array.from({ length: 1_000 }, (_, ms) => String(ms).padStart(3, "0"))

export class IsoTimes {
  #second = Number.NaN
  /** Text of that second, up to its decimal point. */
  #begin = ""

  /** Hot: writes whole epoch milliseconds as `Date.prototype.toISOString` does. */
  of(epochMs: number): string {
    const wholeMs = Math.trunc(epochMs)
    const second = Math.floor(wholeMs / 1_000)
    if (second !== this.#second) {
      this.#begin = new Date(second * 1_000).toISOString().slice(0, -4)
      this.#second = second
    }
    return `${this.#begin}${digits[wholeMs - second * 1_000] ?? ""}Z`
  }
}
