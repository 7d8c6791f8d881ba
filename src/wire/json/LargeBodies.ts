/** Facts of bodies that were read in slices before they are asked for. Small bodies are read when they are asked for. */
import { readForeignJson, Unreadable } from "./Bounds.ts"
import { isObject, type Json } from "./Json.ts"
import type { BodyFacts, SlicedJson } from "./SlicedJson.ts"

/** Bodies from this size on are read in slices. */
export const slicedFromBytes = 1_048_576

interface Read {
  readonly topMembers: number
  readonly value: Json | Unreadable
}

const readings = new WeakMap<Buffer, Read>()
const facts = new WeakMap<Buffer, BodyFacts>()

export const isRead = (body: Buffer): boolean => readings.has(body)

/** Keeps what a finished reading has found, as long as the bytes are there. */
export const keepReading = (body: Buffer, topMembers: number, value: Json | Unreadable, reading: SlicedJson): void => {
  readings.set(body, { topMembers, value })
  if (isObject(value) && !(value instanceof Unreadable)) facts.set(body, reading.facts())
}

/** Null for bodies that were not read in slices. */
export const factsOf = (body: Buffer): BodyFacts | null =>
  body.length < slicedFromBytes ? null : (facts.get(body) ?? null)

/** Hot: `readForeignJson` of the bytes of a body. A value that was read before is given once: it belongs to who has taken it. */
export const readForeignBody = (body: Buffer, topMembers = Number.POSITIVE_INFINITY): Json | Unreadable => {
  if (body.length >= slicedFromBytes) {
    const read = readings.get(body)
    readings.delete(body)
    if (read?.topMembers === topMembers) return read.value
  }
  return readForeignJson(body.toString("utf8"), topMembers)
}
