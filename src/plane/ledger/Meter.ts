/** One limit of a key, or one that keys of a person or team share, and what was used and reserved of it in each window. State of the process; plain and synchronous. */
import type { LimitThreshold, ResetRule } from "../../subjects/limits/entity.ts"
import { type LimitWindow, windowAt } from "./Windows.ts"

/** Unit of a limit: nano-USD, tokens of prompt and answer, or requests. */
export type MeterUnit = "usd" | "tokens" | "requests"

/** The person or team whose limit it is; its keys share the meter. */
export interface MeterOwner {
  readonly kind: "user" | "team"
  readonly id: string
  readonly name: string
}

export interface MeterSpec {
  /** Stable as long as the limit exists. */
  readonly id: string
  readonly unit: MeterUnit
  readonly rule: ResetRule
  /** Limit in the unit; nano-USD for money. */
  readonly limit: number
  /** Part of the limit, from 0 to 1, at which a warning is sent. */
  readonly warningThreshold: number
  /** Provider, and model of it where one is named, whose calls count; null: all of them. */
  readonly scope: { readonly provider: string; readonly model: string | null } | null
  /** Absent: the limit is the key's own. */
  readonly owner?: MeterOwner
}

export interface MeterWindow extends LimitWindow {
  used: number
  reserved: number
  /** Last report of it (`quota.exceeded`); null: none. */
  notified: LimitThreshold | null
}

/** Amounts of one call, in each unit. */
export interface Amounts {
  readonly nanoUsd: number
  readonly tokens: number
}

/**
 * A window as a meter has it. Its numbers stand in one array of doubles: as members of an object each would be a heap object of its own, which a request of
 * one key among many has to fetch from memory.
 */
class OpenWindow implements MeterWindow {
  notified: LimitThreshold | null = null
  readonly #numbers: [startMs: number, endMs: number, used: number, reserved: number]

  constructor({ endMs, startMs }: LimitWindow) {
    this.#numbers = [startMs, endMs, 0, 0]
  }

  get startMs(): number {
    return this.#numbers[0]
  }

  get endMs(): number {
    return this.#numbers[1]
  }

  get used(): number {
    return this.#numbers[2]
  }

  set used(used: number) {
    this.#numbers[2] = used
  }

  get reserved(): number {
    return this.#numbers[3]
  }

  set reserved(reserved: number) {
    this.#numbers[3] = reserved
  }
}

/** Requests that began in earlier windows still run, and clocks are set back. */
const mostWindows = 16

export class Meter {
  readonly spec: MeterSpec
  #windows: Array<MeterWindow> = []
  #latest: MeterWindow | null = null

  constructor(spec: MeterSpec) {
    this.spec = spec
  }

  /** Hot: the window of an instant, epoch milliseconds. */
  at(atMs: number): MeterWindow {
    const latest = this.#latest
    if (latest !== null && latest.startMs <= atMs && atMs < latest.endMs) return latest
    const known = this.#windows.find(({ endMs, startMs }) => startMs <= atMs && atMs < endMs)
    return (this.#latest = known ?? this.#open(atMs))
  }

  /** Hot: checks whether a call of this model counts. */
  counts(provider: string, model: string): boolean {
    const { scope } = this.spec
    return scope === null || (scope.provider === provider && (scope.model === null || scope.model === model))
  }

  /** Hot: returns the amount in the unit of the limit. A request is counted when it is admitted, not by its calls. */
  amountOf({ nanoUsd, tokens }: Amounts): number {
    switch (this.spec.unit) {
      case "usd":
        return nanoUsd
      case "tokens":
        return tokens
      case "requests":
        return 0
    }
  }

  /** Hot: returns the threshold that was reached in a window; null: none. */
  reached({ used }: Pick<MeterWindow, "used">): LimitThreshold | null {
    const { limit, warningThreshold } = this.spec
    if (used >= limit) return "limit"
    return used >= limit * warningThreshold ? "warning" : null
  }

  /** The same windows under a limit of another size. */
  resized({ limit, owner, warningThreshold }: Pick<MeterSpec, "limit" | "warningThreshold" | "owner">): Meter {
    const meter = new Meter({ ...this.spec, limit, warningThreshold, ...(owner === undefined ? {} : { owner }) })
    meter.#windows = this.#windows
    meter.#latest = this.#latest
    return meter
  }

  /** Checks whether the other has the same windows. */
  isResized(other: Meter): boolean {
    return this.#windows === other.#windows
  }

  #open(atMs: number): MeterWindow {
    const opened = new OpenWindow(windowAt(this.spec.rule, atMs))
    this.#windows.push(opened)
    if (this.#windows.length > mostWindows) {
      const oldest = this.#windows.findIndex(({ reserved }) => reserved === 0)
      this.#windows.splice(Math.max(0, oldest), 1)
    }
    return opened
  }
}
