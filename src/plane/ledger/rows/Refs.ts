/** Rows of limits: which one a limit of a key has, and what a node knows of it. Plain and synchronous. */
import type { KeyAccount } from "../KeyAccount.ts"
import type { Meter, MeterSpec, MeterWindow } from "../Meter.ts"
import { windowId } from "./Books.ts"
import type { WindowRef } from "./Rows.ts"

const names = new WeakMap<MeterSpec, string>()

/** Name of a meter's rows: another one where it counts something else. */
const nameOf = (spec: MeterSpec): string => {
  const known = names.get(spec)
  if (known !== undefined) return known
  const { id, rule, scope } = spec
  const { interval, resetTime, timeZone } = rule
  const of = scope === null ? "" : ` ${scope.provider}/${scope.model ?? "*"}`
  const name = `${id} ${interval} ${resetTime} ${timeZone}${of}`
  names.set(spec, name)
  return name
}

export const refOfMeter = (
  { spec }: Meter,
  window: Pick<MeterWindow, "startMs" | "endMs" | "used" | "notified">,
  version: number,
  isAdded = false
): WindowRef => ({
  name: nameOf(spec),
  startMs: window.startMs,
  endMs: window.endMs,
  size: spec.limit,
  version,
  warnAt: Math.ceil(spec.limit * spec.warningThreshold),
  floor: window.used,
  isAdded,
  notified: window.notified === null ? 0 : window.notified === "warning" ? 1 : 2,
  rateMs: 0
})

export const refOfRate = (apiKeyId: string, { limit, windowMs }: KeyAccount["rates"][number]): WindowRef => ({
  name: `rate/${apiKeyId} ${limit} ${windowMs}`,
  startMs: 0,
  endMs: 0,
  size: limit,
  version: 0,
  warnAt: limit,
  floor: 0,
  isAdded: false,
  notified: 0,
  rateMs: windowMs
})

/** The row by which nodes take turns in letting sessions of a key in. */
export const refOfSessions = (apiKeyId: string): WindowRef => ({
  name: `sessions/${apiKeyId}`,
  startMs: 0,
  endMs: 0,
  size: 0,
  version: 0,
  warnAt: 0,
  floor: 0,
  isAdded: false,
  notified: 0,
  rateMs: 0
})

/** The windows of a turn, each once. */
export class WindowList {
  readonly refs: Array<WindowRef> = []
  readonly #places = new Map<string, number>()

  place(ref: WindowRef): number {
    const id = windowId(ref)
    const known = this.#places.get(id)
    if (known !== undefined) {
      // The latest that is known of the limit.
      const floor = Math.min(ref.floor, this.refs[known]?.floor ?? ref.floor)
      this.refs[known] = { ...ref, floor }
      return known
    }
    this.#places.set(id, this.refs.length)
    this.refs.push(ref)
    return this.refs.length - 1
  }
}
