/** The time of day on this machine's clock, for lines that people read. */

const two = (value: number): string => String(value).padStart(2, "0")

export class LocalTimes {
  #second = Number.NaN
  #text = ""

  /** `14:03:22` for epoch milliseconds. */
  of(epochMs: number): string {
    const second = Math.floor(epochMs / 1_000)
    if (second !== this.#second) {
      const date = new Date(second * 1_000)
      this.#text = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
      this.#second = second
    }
    return this.#text
  }
}
