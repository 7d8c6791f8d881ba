/**
 * Pages of the model list, as Anthropic's pager (`limit`, `after_id`, `before_id`) and Google's (`pageSize`, `pageToken`) ask for
 * them. Without a size the list is whole, as OpenAI's clients expect. Pure.
 */
import { InvalidRequest } from "../../contract/domain/Errors.ts"

/** Sizes beyond it are cut to it, as both do. */
export const largestPage = 1_000

/** The query of a request target. */
export const queryOf = (target: string): URLSearchParams => {
  const mark = target.indexOf("?")
  return new URLSearchParams(mark === -1 ? "" : target.slice(mark + 1))
}

export interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** More of the list follows in the direction that was asked for. */
  readonly hasMore: boolean
}

interface Entry {
  readonly id: string
}

const invalid = (param: string, problem: string): InvalidRequest =>
  new InvalidRequest({ message: `${param}: ${problem}`, param, details: [{ field: param, message: problem }] })

const sizeOf = (query: URLSearchParams, param: string, zeroIsUnset: boolean): number | null | InvalidRequest => {
  const given = query.get(param)
  if (given === null || given === "" || (zeroIsUnset && given === "0")) return null
  if (!/^[1-9]\d{0,8}$/u.test(given)) return invalid(param, "must be a positive whole number")
  return Math.min(Number(given), largestPage)
}

const indexOf = <A extends Entry>(entries: ReadonlyArray<A>, param: string, id: string): number | InvalidRequest => {
  const index = entries.findIndex((entry) => entry.id === id)
  return index === -1 ? invalid(param, "names no model of the list") : index
}

const after = <A>(entries: ReadonlyArray<A>, start: number, size: number | null): Page<A> => {
  const end = size === null ? entries.length : Math.min(start + size, entries.length)
  // The usual request asks for everything.
  const items = start === 0 && end === entries.length ? entries : entries.slice(start, end)
  return { items, hasMore: end < entries.length }
}

/** A page by the ids before or after it. */
export const pageById = <A extends Entry>(
  entries: ReadonlyArray<A>,
  query: URLSearchParams
): Page<A> | InvalidRequest => {
  const size = sizeOf(query, "limit", false)
  if (size instanceof InvalidRequest) return size
  const [afterId, beforeId] = [query.get("after_id"), query.get("before_id")]
  if (afterId !== null && beforeId !== null) return invalid("before_id", "cannot be given together with after_id")
  if (beforeId !== null) {
    const end = indexOf(entries, "before_id", beforeId)
    if (end instanceof InvalidRequest) return end
    const start = size === null ? 0 : Math.max(0, end - size)
    return { items: entries.slice(start, end), hasMore: start > 0 }
  }
  const last = afterId === null ? -1 : indexOf(entries, "after_id", afterId)
  return last instanceof InvalidRequest ? last : after(entries, last + 1, size)
}

export interface TokenPage<A> extends Page<A> {
  /** Token of the next page; null on the last one. */
  readonly nextToken: string | null
}

/** A page by the token that the page before it gave out. */
export const pageByToken = <A extends Entry>(
  entries: ReadonlyArray<A>,
  query: URLSearchParams
): TokenPage<A> | InvalidRequest => {
  const size = sizeOf(query, "pageSize", true)
  if (size instanceof InvalidRequest) return size
  const token = query.get("pageToken")
  const last =
    token === null || token === ""
      ? -1
      : indexOf(entries, "pageToken", Buffer.from(token, "base64url").toString("utf8"))
  if (last instanceof InvalidRequest) return last
  const page = after(entries, last + 1, size)
  const end = page.items.at(-1)
  return {
    ...page,
    nextToken: page.hasMore && end !== undefined ? Buffer.from(end.id, "utf8").toString("base64url") : null
  }
}
