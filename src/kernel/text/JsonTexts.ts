/** The JSON of texts that recur (names of models, providers, wires), made once for each. */

/** Most texts that are kept; beyond it all are dropped. */
const capacity = 1_000
/** Characters of a text that is kept. */
const maxChars = 128

export class JsonTexts {
  readonly #known = new Map<string, string>()
  readonly #encode: (text: string) => string

  constructor(encode: (text: string) => string = JSON.stringify) {
    this.#encode = encode
  }

  /** Hot. */
  of(text: string | null): string {
    if (text === null) return "null"
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const json = this.#encode(text)
    if (text.length > maxChars) return json
    if (this.#known.size >= capacity) this.#known.clear()
    this.#known.set(text, json)
    return json
  }
}

/** A number as JSON writes it: what is no number is null. */
export const jsonNumber = (value: number | null): string => (Number.isFinite(value) ? String(value) : "null")
