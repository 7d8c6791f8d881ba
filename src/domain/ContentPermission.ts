/**
 * The right to keep what was said: prompts, answers, and all that is made of them. Whoever keeps words beyond the request that they belong to, in
 * memory or on disk, takes it as an argument, so that a store of words does not compile without it. It is made here only. API keys with `noLog`
 * have none; usage and cost are no content.
 */
import type { Principal } from "./ApiKey.ts"

declare const made: unique symbol
declare const filed: unique symbol

export interface ContentPermission {
  readonly [made]: true
}

// The one place that makes it.
const permission = Object.freeze({}) as ContentPermission

/** Hot: null where nothing of what the caller says may be kept. */
export const mayKeepContent = (principal: Principal): ContentPermission | null =>
  principal._tag === "Key" && principal.key.noLog ? null : permission

/** For what the operator captures, imports or tries by himself: no caller's words are in it. */
export const operatorsOwn: ContentPermission = permission

/** Of a permission that has crossed to a thread and back as a mark. */
export const fromMark = (isAllowed: boolean): ContentPermission | null => (isAllowed ? permission : null)

/** A row as it may be stored: a table of words takes no other, so that none gets there past the permission. */
export interface OnFile<A> {
  readonly [filed]: true
  readonly row: A
}

/** `without`: what is left of it where nothing that was said may be kept. */
export const onFile = <A>(permission: ContentPermission | null, row: A, without: (row: A) => A): OnFile<A> =>
  ({ row: permission === null ? without(row) : row }) as OnFile<A>
