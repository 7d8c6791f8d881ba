/**
 * Reports once when a combo changes the target that serves it, and once more when it comes back. Requests in between are not reported, and
 * neither is a target that was preferred for one request, such as that of a session. Plain and synchronous.
 */
import { LruMap } from "../../kernel/collections/LruMap.ts"

/** One target of a combo. */
export interface Place {
  /** Two places with the same key are the same account and model. */
  readonly key: string
  /** `provider/model` */
  readonly name: string
}

/** Result of one request of a combo. */
export interface Served {
  readonly combo: string
  /** True when the combo asks its targets in one order for all requests. */
  readonly isOrdered: boolean
  /** The first of that order; else the one that this request asked first. */
  readonly first: Place
  readonly served: Place
  /** Checks whether a target was asked and did not serve, or was left out because of its state. */
  readonly wasMissed: (key: string) => boolean
}

export interface ComboSwitch {
  readonly from: string
  readonly to: string
  readonly isReturn: boolean
}

/** Combos, and targets of one combo that others serve for, kept at most. */
const maxCombos = 1_000
const maxAway = 100

export class ComboSwitches {
  /** Targets, by combo, that serve for another one, by the key of the target that does not serve. */
  readonly #away = new LruMap<string, LruMap<string, Place>>({ capacity: maxCombos })

  /** The changes that an answer shows, in their order. */
  note({ combo, first, isOrdered, served, wasMissed }: Served): ReadonlyArray<ComboSwitch> {
    const away = this.#away.get(combo)
    const changes: Array<ComboSwitch> = []
    const before = away?.get(served.key)
    if (before !== undefined) {
      away?.delete(served.key)
      changes.push({ from: before.name, to: served.name, isReturn: true })
    }
    if (served.key === first.key || !wasMissed(first.key)) return changes
    const standIn = away?.get(first.key)
    if (standIn === undefined) changes.push({ from: first.name, to: served.name, isReturn: false })
    else if (isOrdered && standIn.key !== served.key && wasMissed(standIn.key)) {
      changes.push({ from: standIn.name, to: served.name, isReturn: false })
    } else return changes
    const kept = away ?? new LruMap<string, Place>({ capacity: maxAway })
    kept.set(first.key, served)
    if (away === undefined) this.#away.set(combo, kept)
    return changes
  }
}
