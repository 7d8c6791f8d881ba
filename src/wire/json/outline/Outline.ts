/**
 * Outlines of large bodies. An outline has the members of its body, with long strings cut, with what closed members hold left out, and with items
 * of a list left out that have the form of one before them: the same members with values of the same kinds. Whatever asks what a request has and
 * lacks, and of no place or number, gets the same answer of the outline as of the body, for a small part of the work. The body's own
 * long members are parsed when they are asked for.
 *
 * `native/outline/outline.ts` makes them, in one pass over the bytes that also says whether they are JSON of one reading.
 */
import { isUtf8 } from "node:buffer"
import { textOf } from "../Utf8.ts"
import { isArray, type Json, type JsonObject } from "../Json.ts"
import { moduleBase64 } from "./module.generated.ts"

/** The members of a wire's requests, as outlines take them. */
export interface OutlineRules {
  /** The list that the conversation is in. */
  readonly list: string
  /** Members whose insides no check of a request looks at, in the items of lists. */
  readonly closed: ReadonlyArray<string>
}

/** Smaller bodies are parsed in the time that an outline takes. */
export const outlinedFromBytes = 8_192

/** The numbers of the kinds in `native/outline/outline.ts`. */
const kinds = { word: 1, text: 2, id: 3, closed: 4 } as const

const words = ["model", "type", "role"]
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
  readonly bordersAt: () => number
  readonly bordersFound: () => number
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

/** Names the outline of a body: no name that JSON has. A weak map would keep what is in it until a full collection. */
const outlineKey = Symbol("outline")

/** A member of a body whose outline has less than the body itself. */
interface CutMember {
  readonly name: string
  /** Bytes of its value. */
  readonly start: number
  readonly end: number
  /** Items of a list. */
  readonly items: number
  /** Places of commas between them, with some thousand bytes between two places: long lists are parsed in parts. */
  readonly borders: ReadonlyArray<number>
  /** The whole value, once it was asked for. */
  whole: Json | undefined
}

/** Parses a list part by part: a string of some hundred kilobytes costs more to make than to parse. */
const parsed = (bytes: Buffer, { borders, end, start }: CutMember): Json => {
  if (borders.length === 0) return JSON.parse(textOf(bytes, start, end)) as Json
  const items: Array<Json> = []
  let from = start
  for (const border of borders) {
    // The bracket, or the comma before, is left behind.
    for (const item of JSON.parse(`[${textOf(bytes, from + 1, border)}]`) as ReadonlyArray<Json>) items.push(item)
    from = border
  }
  for (const item of JSON.parse(`[${textOf(bytes, from + 1, end)}`) as ReadonlyArray<Json>) items.push(item)
  return items
}

/**
 * A body as its outline with the cut members whole, each parsed when it is asked for. A proxy: getters belong to the hidden class of their
 * object, which V8 keeps until a full collection, with all that they refer to. Property descriptors are the outline's: names cost no parse then.
 */
class OutlinedBody implements ProxyHandler<JsonObject> {
  readonly #bytes: Buffer
  readonly #outline: JsonObject
  #cut: ReadonlyArray<CutMember>

  constructor(bytes: Buffer, outline: JsonObject, cut: ReadonlyArray<CutMember>) {
    this.#bytes = bytes
    this.#outline = outline
    this.#cut = cut
  }

  get(outline: JsonObject, name: string | symbol): unknown {
    if (name === outlineKey) return this
    const member = this.#cutMember(name)
    return member === undefined ? Reflect.get(outline, name) : this.#wholeOf(member)
  }

  /** Members that are set are the same in the outline. */
  defineProperty(outline: JsonObject, name: string | symbol, descriptor: PropertyDescriptor): boolean {
    this.#forget(name)
    return Reflect.defineProperty(outline, name, descriptor)
  }

  deleteProperty(outline: JsonObject, name: string | symbol): boolean {
    this.#forget(name)
    return Reflect.deleteProperty(outline, name)
  }

  outline(): JsonObject {
    return this.#outline
  }

  itemsIn(list: string): number | undefined {
    return this.#cutMember(list)?.items
  }

  forget(): void {
    for (const member of this.#cut) member.whole = undefined
  }

  #cutMember(name: string | symbol): CutMember | undefined {
    for (const member of this.#cut) if (member.name === name) return member
    return undefined
  }

  #wholeOf(member: CutMember): Json {
    return (member.whole ??= parsed(this.#bytes, member))
  }

  #forget(name: string | symbol): void {
    if (this.#cutMember(name) !== undefined) this.#cut = this.#cut.filter((member) => member.name !== name)
  }
}

const known = (body: JsonObject): OutlinedBody | undefined =>
  (body as { readonly [outlineKey]?: OutlinedBody })[outlineKey]

/** The outline of a body that was read with one, else the body itself. For checks that ask what there is, not where or how often. */
export const outlineOf = (body: JsonObject): JsonObject => known(body)?.outline() ?? body

/** Forgets the whole members of a body that was read with an outline: who asks for one has it parsed anew. Returns false for any other body. */
export const forgetWhole = (body: JsonObject): boolean => {
  const outlined = known(body)
  outlined?.forget()
  return outlined !== undefined
}

/** Items of a list among the outermost members of a body; null where it has no such list. */
export const itemsIn = (body: JsonObject, list: string): number | null => {
  const count = known(body)?.itemsIn(list)
  if (count !== undefined && count > 0) return count
  const own = body[list]
  return isArray(own) ? own.length : null
}

/** Reads a body of one kind of requests; null where it has to be read by other means, as when it is not JSON. */
export type ReadOutlined = (body: Buffer, rules: OutlineRules) => JsonObject | null

/** Words of an outermost member, and the place of the one that says whether it is cut. */
const topWords = 6
const isCutAt = 5

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

  const cutMembers = (from: Scanner, body: Buffer): ReadonlyArray<CutMember> => {
    const cut: Array<CutMember> = []
    const found = new Uint32Array(from.memory.buffer, from.bordersAt(), from.bordersFound())
    const tops = new Uint32Array(from.memory.buffer, from.topsAt(), topWords * from.topMembers())
    for (let at = 0; at < tops.length; at += topWords) {
      if (tops[at + isCutAt] !== 1) continue
      const [nameStart, nameEnd, start = 0, end = 0, items = 0] = tops.subarray(at, at + isCutAt)
      const name = body.toString("latin1", nameStart, nameEnd)
      const borders = Array.from(found.filter((place) => place > start && place < end))
      cut.push({ name, start, end, items, borders, whole: undefined })
    }
    return cut
  }

  const taken = (from: Scanner, body: Buffer): JsonObject => {
    const start = from.outlineAt(body.length)
    const outline = JSON.parse(memory.toString("utf8", start, start + from.outlineLength(body.length))) as JsonObject
    const cut = cutMembers(from, body)
    return cut.length === 0 ? outline : new Proxy(outline, new OutlinedBody(body, outline, cut))
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
