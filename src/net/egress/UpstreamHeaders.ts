/** Response headers as they came off the socket: decoded, copied and lower-cased only on access. */

/** Names are compared without regard to case; values are latin1 text. */
export interface UpstreamHeaders {
  /** Value of the first header of that name, null when there is none. `name` must be lower-case. */
  readonly get: (name: string) => string | null
  /** Headers whose names start with one of the prefixes, as a flat name–value list with names in lower case. `prefixes` must be lower-case. */
  readonly startingWith: (prefixes: ReadonlyArray<string>) => ReadonlyArray<string>
  /** Every header in order, repeated ones repeatedly, names in lower case. */
  readonly [Symbol.iterator]: () => IterableIterator<readonly [name: string, value: string]>
}

const beginsWith = (bytes: Buffer, name: string): boolean => {
  if (bytes.length < name.length) return false
  for (let i = 0; i < name.length; i++) {
    const byte = bytes[i] ?? 0
    if ((byte >= 65 && byte <= 90 ? byte + 32 : byte) !== name.charCodeAt(i)) return false
  }
  return true
}

const isNamed = (bytes: Buffer, name: string): boolean => bytes.length === name.length && beginsWith(bytes, name)

class RawHeaders implements UpstreamHeaders {
  readonly #raw: ReadonlyArray<Buffer>

  constructor(raw: ReadonlyArray<Buffer>) {
    this.#raw = raw
  }

  get(name: string): string | null {
    const raw = this.#raw
    for (let i = 0; i + 1 < raw.length; i += 2) {
      const field = raw[i]
      if (field !== undefined && isNamed(field, name)) return raw[i + 1]?.toString("latin1") ?? null
    }
    return null
  }

  startingWith(prefixes: ReadonlyArray<string>): ReadonlyArray<string> {
    const raw = this.#raw
    const found: Array<string> = []
    for (let i = 0; i + 1 < raw.length; i += 2) {
      const field = raw[i]
      if (field === undefined || !prefixes.some((prefix) => beginsWith(field, prefix))) continue
      found.push(field.toString("latin1").toLowerCase(), raw[i + 1]?.toString("latin1") ?? "")
    }
    return found
  }

  *[Symbol.iterator](): IterableIterator<readonly [string, string]> {
    for (let i = 0; i + 1 < this.#raw.length; i += 2) {
      yield [this.#raw[i]?.toString("latin1").toLowerCase() ?? "", this.#raw[i + 1]?.toString("latin1") ?? ""]
    }
  }
}

/** Wraps `[name, value, name, value, …]`. */
export const fromRaw = (raw: ReadonlyArray<Buffer>): UpstreamHeaders => new RawHeaders(raw)

/** The same without the headers that describe the encoded body. */
export const withoutEncoding = (raw: ReadonlyArray<Buffer>): UpstreamHeaders =>
  fromRaw(
    raw.filter((_, i) => {
      const field = raw[i - (i % 2)]
      return field === undefined || !(isNamed(field, "content-encoding") || isNamed(field, "content-length"))
    })
  )
