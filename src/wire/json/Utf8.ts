/**
 * Reads long JSON texts from bytes, and writes long requests as bytes. `Buffer.toString("utf8")` goes over letters beyond ASCII one by one, and a
 * string of some hundred kilobytes takes new pages of memory, which costs more than what is done with it: `docs/contributing/speed.md`.
 */
import { isAscii, transcode } from "node:buffer"
import { isArray, type JsonObject } from "./Json.ts"

/** Shorter texts are quicker by the plain ways. */
const longFrom = 4_096

/** Hot: the text of some bytes. They are known to be UTF-8. */
export const textOf = (bytes: Buffer, start: number, end: number): string => {
  if (end - start < longFrom) return bytes.toString("utf8", start, end)
  const part = bytes.subarray(start, end)
  return isAscii(part) ? part.toString("latin1") : transcode(part, "utf8", "ucs2").toString("ucs2")
}

const firstScratchBytes = 65_536
const mostScratchBytes = 4_194_304
/** Bytes of a letter of a string, at most. */
const letterBytes = 3

/** Writes texts one behind the other. Its memory is kept for the next request. */
class Scratch {
  #memory = Buffer.alloc(0)
  #length = 0

  clear(): void {
    this.#length = 0
  }

  /** Returns false when it is full. */
  put(text: string): boolean {
    const most = this.#length + letterBytes * text.length
    if (most > this.#memory.length && !this.#grow(most)) return false
    this.#length += this.#memory.write(text, this.#length)
    return true
  }

  taken(): Buffer {
    return Buffer.from(this.#memory.subarray(0, this.#length))
  }

  #grow(toBytes: number): boolean {
    if (toBytes > mostScratchBytes) return false
    let length = Math.max(firstScratchBytes, this.#memory.length)
    while (length < toBytes) length *= 2
    const grown = Buffer.alloc(length)
    this.#memory.copy(grown, 0, 0, this.#length)
    this.#memory = grown
    return true
  }
}

const scratch = new Scratch()

const putItems = (items: ReadonlyArray<unknown>): boolean => {
  let before = "["
  for (const item of items) {
    if (!scratch.put(`${before}${JSON.stringify(item) ?? "null"}`)) return false
    before = ","
  }
  return scratch.put(before === "[" ? "[]" : "]")
}

const putMembers = (body: JsonObject): boolean => {
  let before = "{"
  for (const name of Object.keys(body)) {
    const value = body[name]
    if (value === undefined) continue
    const isPut = isArray(value)
      ? scratch.put(`${before}${JSON.stringify(name)}:`) && putItems(value)
      : scratch.put(`${before}${JSON.stringify(name)}:${JSON.stringify(value)}`)
    if (!isPut) return false
    before = ","
  }
  return scratch.put(before === "{" ? "{}" : "}")
}

/** Hot: the bytes of `JSON.stringify(body)`, written item by item. */
export const bytesOfJson = (body: JsonObject): Buffer => {
  scratch.clear()
  return putMembers(body) ? scratch.taken() : Buffer.from(JSON.stringify(body))
}
