/**
 * Outlines of large bodies. An outline has the members of its body, with long strings cut, with what closed members hold left out, and with items
 * of a list left out that have the form of one before them: the same members with values of the same kinds. Whatever asks what a request has and
 * lacks, and of no place or number, gets the same answer of the outline as of the body, for a small part of the work. The body's own
 * long members are parsed when they are asked for.
 *
 * `native/outline/outline.ts` makes them, in one pass over the bytes that also says whether they are JSON of one reading.
 */
import { isUtf8 } from "node:buffer"
import { isArray, type Json, type JsonObject } from "../Json.ts"
import { moduleBase64 } from "./module.generated.ts"

/** The members of a wire's requests, as outlines take them. */
export interface OutlineRules {
  /** The list that the conversation is in. */
  readonly list: string
  /** Members whose insides no check of a request looks at, in the items of lists. */
  readonly closed: ReadonlyArray<string>
}

interface Outline {
  readonly body: JsonObject
  /** Items of the lists among the outermost members. */
  readonly items: ReadonlyMap<string, number>
}

/** Smaller bodies are parsed in the time that an outline takes. */
export const outlinedFromBytes = 8_192

/** The numbers of the kinds in `native/outline/outline.ts`. */
const kinds = { word: 1, text: 2, id: 3, closed: 4 } as const

const words = ["type", "role"]
const texts = ["text", "content", "thinking", "arguments", "description", "output", "reasoning", "reasoning_content"]
const ids = ["id", "tool_use_id", "tool_call_id", "call_id"]

/** Exports of the module: `native/outline/outline.ts` says what each does. */
interface Scanner {
  readonly memory: { readonly buffer: ArrayBuffer; readonly grow: (pages: number) => number }
  readonly seed: { value: bigint }
  readonly scan: (length: number) => 0 | 1
  readonly classify: (length: number, kind: number) => void
  readonly declassify: () => void
  readonly inputAt: () => number
  readonly outlineAt: (length: number) => number
  readonly outlineLength: (length: number) => number
  readonly topsAt: () => number
  readonly topMembers: () => number
}

const pageBytes = 65_536
/** Behind the text and behind its outline. */
const slackBytes = 256

/** The part of https://webassembly.github.io/spec/js-api/ that is used: types of Node have none of it. */
const { Instance, Module } = WebAssembly as unknown as {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}

/** Null where the machine has no instructions for it. */
const scannerOf = (seed: bigint): Scanner | null => {
  try {
    const scanner = new Instance(new Module(Buffer.from(moduleBase64, "base64"))).exports as Scanner
    scanner.seed.value = BigInt.asIntN(64, seed)
    return scanner
  } catch {
    return null
  }
}

/** The place of an outline in its body, which no copy of the body has. A weak map would keep what is in it until a full collection. */
const outlineKey = Symbol("outline")

const known = (body: JsonObject): Outline | undefined =>
  (body as { readonly [outlineKey]?: Outline })[outlineKey]

/** The outline of a body that was read with one, else the body itself. For checks that ask what there is, not where or how often. */
export const outlineOf = (body: JsonObject): JsonObject => known(body)?.body ?? body

/** Items of a list among the outermost members of a body. */
export const itemsIn = (body: JsonObject, list: string): number | null => {
  const count = known(body)?.items.get(list)
  if (count !== undefined) return count
  const own = body[list]
  return isArray(own) ? own.length : null
}

/** Sets members of a body, and of its outline. */
export const withMembers = (body: JsonObject, members: JsonObject): JsonObject => {
  const outline = known(body)
  if (outline !== undefined) Object.assign(outline.body, members)
  return Object.assign(body, members)
}

/** No member has this name: a body with it is read by other means, as names with escapes are. */
const scratch = "\0"

/**
 * A copy that V8 keeps as a dictionary. In another object getters belong to its hidden class, which lives until a full collection, with all that
 * they refer to.
 */
const ownDictionary = (object: JsonObject): JsonObject => {
  const copy: Record<string, Json | undefined> = { [scratch]: null, ...object }
  delete copy[scratch]
  return copy
}

/** Gives the member its whole value, parsed when it is asked for. */
const setLazily = (body: JsonObject, name: string, read: () => Json): void => {
  let value: Json | undefined
  Object.defineProperty(body, name, {
    configurable: true,
    enumerable: true,
    get: () => (value ??= read()),
    set: (other: Json) => {
      value = other
    }
  })
}

/** Reads a body of one kind of requests; null where it has to be read by other means, as when it is not JSON. */
export type ReadOutlined = (body: Buffer, rules: OutlineRules) => JsonObject | null

const topWords = 6

/** Makes the reader. Forms are compared by hashes: `seed` keeps what a caller writes from being made to have the hash of something else. */
export const makeReadOutlined = (seed: () => bigint): ReadOutlined => {
  let scanner: Scanner | null | undefined
  let memory = Buffer.alloc(0)
  let learned: OutlineRules | null = null

  const grow = (to: Scanner, bytes: number): void => {
    const missing = to.outlineAt(bytes) + bytes + slackBytes - to.memory.buffer.byteLength
    if (missing > 0) to.memory.grow(Math.ceil(missing / pageBytes))
    if (memory.buffer !== to.memory.buffer) memory = Buffer.from(to.memory.buffer)
  }

  const classify = (to: Scanner, names: ReadonlyArray<string>, kind: number): void => {
    for (const name of names) to.classify(memory.write(name, to.inputAt()), kind)
  }

  const learn = (to: Scanner, rules: OutlineRules): void => {
    if (learned === rules) return
    to.declassify()
    classify(to, words, kinds.word)
    classify(to, texts, kinds.text)
    classify(to, ids, kinds.id)
    classify(to, rules.closed, kinds.closed)
    learned = rules
  }

  const taken = (from: Scanner, body: Buffer): JsonObject => {
    const start = from.outlineAt(body.length)
    const outline = JSON.parse(memory.toString("utf8", start, start + from.outlineLength(body.length))) as JsonObject
    const whole = ownDictionary(outline)
    const items = new Map<string, number>()
    const tops = new Uint32Array(from.memory.buffer, from.topsAt(), topWords * from.topMembers())
    for (let at = 0; at < tops.length; at += topWords) {
      const [nameStart = 0, nameEnd = 0, start = 0, end = 0, count = 0, isCut] = tops.subarray(at, at + topWords)
      if (isCut !== 1) continue
      const name = body.toString("latin1", nameStart, nameEnd)
      if (count > 0) items.set(name, count)
      setLazily(whole, name, () => JSON.parse(body.toString("utf8", start, end)) as Json)
    }
    const value: Outline = { body: outline, items }
    Object.defineProperty(whole, outlineKey, { value })
    return whole
  }

  return (body, rules) => {
    if (scanner === undefined) scanner = scannerOf(seed())
    if (scanner === null || !isUtf8(body)) return null
    grow(scanner, body.length)
    learn(scanner, rules)
    body.copy(memory, scanner.inputAt())
    return scanner.scan(body.length) === 1 ? taken(scanner, body) : null
  }
}
