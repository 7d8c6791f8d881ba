/** Numbers in ascending order that come and go one at a time: a place is found by halving, and what lies behind it is moved. */
export class Sorted {
  #values: Float64Array
  #length = 0

  constructor(room: number) {
    this.#values = new Float64Array(room)
  }

  get length(): number {
    return this.#length
  }

  at(index: number): number {
    return this.#values[index] ?? 0
  }

  clear(): void {
    this.#length = 0
  }

  /** Puts a number behind the others; `sort` brings them into order. */
  push(value: number): void {
    if (this.#length === this.#values.length) this.#grow()
    this.#values[this.#length] = value
    this.#length += 1
  }

  sort(): void {
    this.#values.subarray(0, this.#length).sort()
  }

  insert(value: number): void {
    if (this.#length === this.#values.length) this.#grow()
    const place = this.#placeOf(value)
    this.#values.copyWithin(place + 1, place, this.#length)
    this.#values[place] = value
    this.#length += 1
  }

  /** One of those equal to it; it must be there. */
  remove(value: number): void {
    const place = this.#placeOf(value)
    this.#values.copyWithin(place, place + 1, this.#length)
    this.#length -= 1
  }

  /** Percentile by nearest rank. */
  percentile(fraction: number): number {
    return this.at(Math.max(0, Math.ceil(fraction * this.#length) - 1))
  }

  deviation(): number {
    const values = this.#values
    const length = this.#length
    let sum = 0
    for (let index = 0; index < length; index += 1) sum += values[index] ?? 0
    const mean = sum / length
    let squares = 0
    for (let index = 0; index < length; index += 1) squares += ((values[index] ?? 0) - mean) ** 2
    return Math.sqrt(squares / length)
  }

  /** The first place whose number is not smaller. */
  #placeOf(value: number): number {
    let low = 0
    let high = this.#length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#values[middle] ?? 0) < value) low = middle + 1
      else high = middle
    }
    return low
  }

  #grow(): void {
    const larger = new Float64Array(this.#values.length * 2)
    larger.set(this.#values)
    this.#values = larger
  }
}
