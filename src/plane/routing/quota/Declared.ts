/** Quotas the operator wrote down (`quotas` of a connection), ready to be counted against. */
import type { DeclaredQuota } from "../../../subjects/connections/entity.ts"
import { httpDateAt, isoAt } from "../../resilience/failure/When.ts"
import { type Span, spanAt, type WindowName, lengthMs } from "./Span.ts"

export interface Declared {
  readonly window: WindowName
  readonly unit: DeclaredQuota["unit"]
  readonly limit: number
  /** A moment at which the window resets; null: it follows the calendar, and 5 hours begin with the first use. */
  readonly anchorMs: number | null
  /** Quotas of one key last from the same moment to the same moment, and share a count. */
  readonly key: string
}

/** Use in a span of time. */
export interface Count {
  readonly startMs: number
  readonly endMs: number
  readonly requests: number
  readonly tokens: number
  readonly nanoUsd: number
}

const prepare = ({ limit, resetAt, unit, window }: DeclaredQuota): Declared => {
  const text = resetAt ?? ""
  const anchorMs = isoAt(text.trim().toLowerCase()) ?? httpDateAt(text)
  return { window, unit, limit, anchorMs, key: `${window}@${anchorMs ?? ""}` }
}

/** A connection's list stays the same object until it is changed, so it is read once. */
const prepared = new WeakMap<ReadonlyArray<DeclaredQuota>, ReadonlyArray<Declared>>()

/** Hot. */
export const declaredOf = (quotas: ReadonlyArray<DeclaredQuota>): ReadonlyArray<Declared> => {
  const known = prepared.get(quotas)
  if (known !== undefined) return known
  const fresh = quotas.map(prepare)
  prepared.set(quotas, fresh)
  return fresh
}

const holds = ({ endMs, startMs }: Span, nowMs: number): boolean => startMs <= nowMs && nowMs < endMs

/** The count of the span that `nowMs` is in; null when nothing was counted in it. */
export const currentCount = (count: Count | undefined, nowMs: number): Count | null =>
  count !== undefined && holds(count, nowMs) ? count : null

/** The span a quota is in now; null for one that begins with its first use and was not used. */
export const currentSpan = (declared: Declared, count: Count | null, nowMs: number): Span | null =>
  count ?? spanAt(declared.window, declared.anchorMs, nowMs)

/** A span without use, for a first use now. */
export const blankCount = (declared: Declared, nowMs: number): Count => {
  const span = spanAt(declared.window, declared.anchorMs, nowMs)
  const { endMs, startMs } = span ?? { startMs: nowMs, endMs: nowMs + lengthMs[declared.window] }
  return { startMs, endMs, requests: 0, tokens: 0, nanoUsd: 0 }
}
