/**
 * Numbers for JSON values: the same number for the same value. Whether two values are the same, members in the same order included, is then one
 * comparison, and all of a document is numbered in one pass. Pure.
 */
import { isArray, type Json } from "../../../wire/json/Json.ts"

export class Numbered {
  readonly #byText = new Map<string, number>()
  readonly #byObject = new Map<object, number>()

  of(value: Json | undefined): number {
    if (typeof value !== "object" || value === null) return this.#numberOf(`${typeof value} ${String(value)}`)
    const known = this.#byObject.get(value)
    if (known !== undefined) return known
    const parts: Array<string> = []
    if (isArray(value)) for (const item of value) parts.push(String(this.of(item)))
    else for (const [key, member] of Object.entries(value)) parts.push(JSON.stringify(key), String(this.of(member)))
    const number = this.#numberOf(`${isArray(value) ? "[" : "{"}${parts.join(",")}`)
    this.#byObject.set(value, number)
    return number
  }

  #numberOf(text: string): number {
    const known = this.#byText.get(text)
    if (known !== undefined) return known
    const number = this.#byText.size
    this.#byText.set(text, number)
    return number
  }
}
