/**
 * Ids of rows and requests: UUIDv7, so that text order is time order and pages need no other key.
 * A service, so that tests can have predictable ids; the method is synchronous because the request path calls it.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { randomFillSync } from "node:crypto"

export class IdGen extends Context.Tag("gateway/platform/IdGen")<
  IdGen,
  {
    /** A new id for something created at `nowMs`. Ids of one process never repeat and rise with time. */
    readonly next: (nowMs: number) => string
    /** 32 random bits, the seed of one routing decision. */
    readonly seed: () => number
  }
>() {}

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))
const poolBytes = 4096

const make = () => {
  const pool = new Uint8Array(poolBytes)
  let used = poolBytes
  let lastMs = 0
  let sequence = 0
  /** The part of an id that `lastMs` makes: many are made in one millisecond. */
  let timeText = ""

  const beginMs = (ms: number): void => {
    const time = ms.toString(16).padStart(12, "0")
    timeText = `${time.slice(0, 8)}-${time.slice(8)}-`
    lastMs = ms
    sequence = 0
  }

  const take = (bytes: number): number => {
    if (used + bytes > poolBytes) {
      randomFillSync(pool)
      used = 0
    }
    const at = used
    used += bytes
    return at
  }

  const next = (nowMs: number): string => {
    const at = take(8)
    // A clock that stands still or jumps back must not break the order: the sequence carries on in the last millisecond.
    if (nowMs > lastMs) beginMs(nowMs)
    else if (++sequence > 0xfff) beginMs(lastMs + 1)
    const order = (0x7000 | sequence).toString(16)
    let tail = hex[0x80 | ((pool[at] ?? 0) & 0x3f)] ?? ""
    tail += `${hex[pool[at + 1] ?? 0]}-`
    for (let i = 2; i < 8; i++) tail += hex[pool[at + i] ?? 0]
    return `${timeText}${order}-${tail}`
  }
  const view = new DataView(pool.buffer)
  return IdGen.of({ next, seed: () => view.getUint32(take(4)) })
}

export const layer: Layer.Layer<IdGen> = Layer.sync(IdGen, make)

/** Counts up: `prefix-1`, `prefix-2`, … */
export const layerCounting = (prefix: string): Layer.Layer<IdGen> =>
  Layer.sync(IdGen, () => {
    let count = 0
    return IdGen.of({ next: () => `${prefix}-${++count}`, seed: () => count })
  })
