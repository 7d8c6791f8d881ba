/** Selects the records of a list, an export or the feed. Pure. */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import type { Head, RecordStatus } from "../../contract/domain/TrafficRecord.ts"
import { isRefusal } from "./reading/Reason.ts"
import { firstOf } from "./Retries.ts"
import type { Ring, RingEntry } from "./Ring.ts"

export const profiles = ["llm", "custom", "all"] as const
export const statusFilters = ["2xx", "3xx", "4xx", "5xx", "error", "in-flight"] as const

/** Absent: not filtered by it. */
export interface RecordFilter {
  readonly profile?: (typeof profiles)[number]
  /** Part of the host's name, in any letter case. */
  readonly host?: string
  readonly agent?: string
  readonly status?: (typeof statusFilters)[number]
  readonly source?: string
  readonly sessionId?: string
  /** Part of the name of the process, in any letter case. */
  readonly process?: string
  readonly pid?: number
  /** Key of the conversation's system prompt. */
  readonly contextKey?: string
  /** Part of the model's name, in any letter case. */
  readonly model?: string
  /** A record: it, and all that are counted together with it as attempts of one prompt. */
  readonly retryOf?: string
  /** Part of address, headers, notes or bodies as they are shown, in any letter case. */
  readonly q?: string
}

const holds = (text: string | null | undefined, part: string): boolean =>
  text !== null && text !== undefined && text.toLowerCase().includes(part)

const matchesStatus = (status: RecordStatus, filter: NonNullable<RecordFilter["status"]>): boolean =>
  typeof status === "number" ? `${Math.floor(status / 100)}xx` === filter : status === filter

const matchesProfile = ({ detectedKind, source }: Head, profile: NonNullable<RecordFilter["profile"]>): boolean =>
  profile === "all" || (profile === "llm" ? detectedKind === "llm" : source === "custom-host")

/** Everything but `q`. */
export const matchesHead = (head: Head, filter: RecordFilter): boolean =>
  (filter.profile === undefined || matchesProfile(head, filter.profile)) &&
  (filter.status === undefined || matchesStatus(head.status, filter.status)) &&
  (filter.source === undefined || head.source === filter.source) &&
  (filter.agent === undefined || head.agent === filter.agent) &&
  (filter.sessionId === undefined || head.sessionId === filter.sessionId) &&
  (filter.process === undefined || holds(head.processName, filter.process.toLowerCase())) &&
  (filter.pid === undefined || head.pid === filter.pid) &&
  (filter.contextKey === undefined || head.contextKey === filter.contextKey) &&
  (filter.host === undefined || holds(head.host, filter.host.toLowerCase())) &&
  (filter.model === undefined ||
    [head.llm?.model, head.llm?.mappedTo, head.sourceModel, head.mappedModel].some((model) =>
      holds(model, filter.model?.toLowerCase() ?? "")
    ))

const inHeaders = (headers: Head["requestHeaders"], part: string): boolean =>
  Object.entries(headers).some(([name, value]) => name.includes(part) || holds(value, part))

/** Checks whether a record holds a text, in lower case. */
export const holdsText = ({ bodies, head }: RingEntry, part: string): boolean =>
  holds(`${head.method} ${head.scheme}://${head.host}${head.path}`, part) ||
  [head.annotation, head.note, head.error, head.llm?.model].some((text) => holds(text, part)) ||
  inHeaders(head.requestHeaders, part) ||
  inHeaders(head.responseHeaders, part) ||
  (head.requestEncoding === "utf8" && holds(bodies.requestBody?.toString("utf8"), part)) ||
  (head.responseEncoding === "utf8" && holds(bodies.responseBody?.toString("utf8"), part))

/** A cursor that no list has given. */
export class InvalidCursor extends Data.TaggedError("InvalidCursor")<{}> {}

export const readCursor = (cursor: string): Either.Either<number, InvalidCursor> =>
  /^[0-9a-z]{1,11}$/.test(cursor) ? Either.right(Number.parseInt(cursor, 36)) : Either.left(new InvalidCursor())

export const cursorOf = (seq: number): string => seq.toString(36)

export interface RecordPage {
  readonly entries: ReadonlyArray<RingEntry>
  /** Number of all that match, whatever the page. */
  readonly total: number
  readonly nextCursor: string | null
}

export interface PageAsked {
  /** True when only the newest of the attempts of one prompt is listed. */
  readonly areFolded?: boolean
  readonly before?: number
  readonly limit: number
}

/** Requests with one system prompt. */
export interface ContextGroup {
  /** Null: those without a system prompt. */
  readonly contextKey: string | null
  readonly requests: number
  /** Refusals, and those without an answer. */
  readonly failed: number
  readonly tokensIn: number
  readonly tokensOut: number
  /** Cost in USD of those whose cost is known. */
  readonly costUsd: number
  /** Names that clients gave; the newest, of more than a few. */
  readonly models: ReadonlyArray<string>
  readonly firstAt: string
  readonly lastAt: string
  readonly lastId: string
}

const maxModelsOfGroup = 8

const joinedWith = (
  group: ContextGroup | undefined,
  { contextKey, id, llm, status, timestamp }: Head
): ContextGroup => {
  const models = group?.models ?? []
  const model = llm?.model ?? null
  return {
    contextKey,
    requests: (group?.requests ?? 0) + 1,
    failed: (group?.failed ?? 0) + (isRefusal(status) ? 1 : 0),
    tokensIn: (group?.tokensIn ?? 0) + (llm?.tokensIn ?? 0),
    tokensOut: (group?.tokensOut ?? 0) + (llm?.tokensOut ?? 0),
    costUsd: (group?.costUsd ?? 0) + (llm?.costEstimateUsd ?? 0),
    models: model === null || models.length >= maxModelsOfGroup || models.includes(model) ? models : [...models, model],
    firstAt: group === undefined || timestamp < group.firstAt ? timestamp : group.firstAt,
    lastAt: group === undefined || timestamp > group.lastAt ? timestamp : group.lastAt,
    lastId: group?.lastId ?? id
  }
}

/** All that match, by their system prompt; that of the newest first. */
export const contextsOf = (
  ring: Pick<Ring, "newest" | "retries">,
  filter: RecordFilter,
  matchesText: (entry: RingEntry) => boolean
): ReadonlyArray<ContextGroup> => {
  const groups = new Map<string | null, ContextGroup>()
  const attempts = filter.retryOf === undefined ? null : new Set(ring.retries.together(filter.retryOf))
  for (const entry of ring.newest()) {
    const { head } = entry
    if ((attempts !== null && !attempts.has(head.id)) || !matchesHead(head, filter) || !matchesText(entry)) continue
    groups.set(head.contextKey, joinedWith(groups.get(head.contextKey), head))
  }
  return [...groups.values()]
}

/** One page, newest first, of those that match everything but `q`; `matchesText` decides on that. */
export const pageOf = (
  ring: Pick<Ring, "newest" | "retries">,
  filter: RecordFilter,
  { areFolded = false, before = Number.POSITIVE_INFINITY, limit }: PageAsked,
  matchesText: (entry: RingEntry) => boolean = () => true
): RecordPage => {
  const entries: Array<RingEntry> = []
  let total = 0
  let isMore = false
  const attempts = filter.retryOf === undefined ? null : new Set(ring.retries.together(filter.retryOf))
  const folded = new Set<string>()
  for (const entry of ring.newest()) {
    const { id } = entry.head
    if (attempts !== null && !attempts.has(id)) continue
    if (!matchesHead(entry.head, filter) || !matchesText(entry)) continue
    if (areFolded) {
      const first = firstOf(id, ring.retries.of(id))
      if (folded.has(first)) continue
      folded.add(first)
    }
    total += 1
    if (entry.seq >= before) continue
    if (entries.length < limit) entries.push(entry)
    else isMore = true
  }
  const last = entries.at(-1)
  return { entries, total, nextCursor: isMore && last !== undefined ? cursorOf(last.seq) : null }
}
