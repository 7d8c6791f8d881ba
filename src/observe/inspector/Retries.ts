/**
 * Retries of one prompt, counted together: an attempt is a retry where the same was asked of the same host, and the attempt before it has
 * failed a short time ago. Plain and synchronous.
 */
import type { Head } from "../../contract/domain/TrafficRecord.ts"
import { isRefusal } from "./reading/Reason.ts"

/** A prompt that is asked again later than this after a failure is asked anew. */
export const retriedWithinMs = 600_000

export interface Attempt {
  readonly id: string
  /** Key of the same prompt and host. */
  readonly key: string
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly isFailed: boolean
}

/** `retryOf`: the first attempt; null: it is itself. `attempt`: its number, from 1. */
export interface Counted {
  readonly retryOf: string | null
  readonly attempt: number
}

export const countedAlone: Counted = { retryOf: null, attempt: 1 }

export const keyOfAttempt = (host: string, promptKey: string | null | undefined): string | null =>
  promptKey === null || promptKey === undefined ? null : `${promptKey} ${host.toLowerCase()}`

/** Null: it is no request to a model whose prompt is known. */
export const attemptOf = ({
  host,
  id,
  promptKey,
  status,
  timestamp,
  totalLatencyMs
}: Omit<Head, "path">): Attempt | null => {
  const key = keyOfAttempt(host, promptKey)
  if (key === null) return null
  const startedAtMs = Date.parse(timestamp)
  return { id, key, startedAtMs, endedAtMs: startedAtMs + (totalLatencyMs ?? 0), isFailed: isRefusal(status) }
}

/** Counts attempts that are given to it oldest first. */
export const makeRetryCounter = (): ((attempt: Attempt | null) => Counted) => {
  const lasts = new Map<string, { readonly firstId: string; readonly number: number; readonly last: Attempt }>()
  return (attempt) => {
    if (attempt === null) return countedAlone
    const before = lasts.get(attempt.key)
    const isRetry =
      before !== undefined && before.last.isFailed && attempt.startedAtMs - before.last.endedAtMs <= retriedWithinMs
    const firstId = isRetry ? before.firstId : attempt.id
    const number = isRetry ? before.number + 1 : 1
    lasts.set(attempt.key, { firstId, number, last: attempt })
    return isRetry ? { retryOf: firstId, attempt: number } : countedAlone
  }
}

interface Group {
  readonly attempts: Map<string, Attempt>
  /** Null: to be counted anew. */
  counted: ReadonlyMap<string, Counted> | null
  /** The last attempt of those with the same first one. */
  lasts: ReadonlyMap<string, string>
}

/** Attempts that are in the ring. They are counted when they are asked for. */
export class Retries {
  readonly #groups = new Map<string, Group>()
  readonly #keys = new Map<string, string>()

  set(id: string, attempt: Attempt | null): void {
    const key = this.#keys.get(id)
    if (key !== undefined && key !== attempt?.key) this.remove(id)
    if (attempt === null) return
    const group = this.#groups.get(attempt.key) ?? {
      attempts: new Map<string, Attempt>(),
      counted: null,
      lasts: new Map()
    }
    group.attempts.set(id, attempt)
    group.counted = null
    this.#groups.set(attempt.key, group)
    this.#keys.set(id, attempt.key)
  }

  remove(id: string): void {
    const key = this.#keys.get(id)
    const group = key === undefined ? undefined : this.#groups.get(key)
    if (key === undefined || group === undefined) return
    this.#keys.delete(id)
    group.attempts.delete(id)
    group.counted = null
    if (group.attempts.size === 0) this.#groups.delete(key)
  }

  clear(): void {
    this.#groups.clear()
    this.#keys.clear()
  }

  #groupOf(id: string): Group | undefined {
    const key = this.#keys.get(id)
    return key === undefined ? undefined : this.#groups.get(key)
  }

  of(id: string): Counted {
    const group = this.#groupOf(id)
    if (group === undefined || group.attempts.size < 2) return countedAlone
    group.counted ??= countAll(group)
    return group.counted.get(id) ?? countedAlone
  }

  /** The newest of the attempts that are counted together with this one; itself where there is no other. */
  last(id: string): string {
    const first = firstOf(id, this.of(id))
    return this.#groupOf(id)?.lasts.get(first) ?? id
  }

  /** All attempts that are counted together with this one, oldest first; with itself alone where there is no other. */
  together(id: string): ReadonlyArray<string> {
    const first = firstOf(id, this.of(id))
    const group = this.#groupOf(id)
    if (group === undefined || group.counted === null) return [id]
    return [...group.counted].filter(([each, counted]) => firstOf(each, counted) === first).map(([each]) => each)
  }
}

/** The id of the first of the attempts that are counted together. */
export const firstOf = (id: string, { retryOf }: Counted): string => retryOf ?? id

const countAll = (group: Group): ReadonlyMap<string, Counted> => {
  const count = makeRetryCounter()
  const inOrder = [...group.attempts.values()].sort((one, other) => one.startedAtMs - other.startedAtMs)
  const counted = new Map(inOrder.map((attempt) => [attempt.id, count(attempt)]))
  group.lasts = new Map([...counted].map(([id, each]) => [firstOf(id, each), id]))
  return counted
}
