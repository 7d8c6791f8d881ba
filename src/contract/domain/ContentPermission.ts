/**
 * Permission to keep content: prompts, answers, and all that is made of them. Code that keeps content beyond its request, in memory or on disk,
 * takes it as an argument, so that a store of content does not compile without it. It is made here only. API keys with `noLog` have none; usage
 * and cost are no content.
 */
import type { Principal } from "../../subjects/keys/entity.ts"

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

/**
 * Hot: null where what the caller says may not be shown to other people: the key is of a team whose content has no readers, or keeps no content. Stores that
 * people can read take this permission; those that only answer the same caller again take `mayKeepContent`.
 */
export const mayShowContent = (principal: Principal): ContentPermission | null =>
  principal._tag === "Key" && principal.key.owners?.content?.readers === "none" ? null : mayKeepContent(principal)

/** Permission for traffic that the operator captures, imports or tries himself: it holds no caller's content. */
export const operatorsOwn: ContentPermission = permission

/** Returns the permission that has crossed to a thread and back as a mark. */
export const fromMark = (isAllowed: boolean): ContentPermission | null => (isAllowed ? permission : null)

/** A row as it may be stored: a table of words takes no other, so that none gets there past the permission. */
export interface OnFile<A> {
  readonly [filed]: true
  readonly row: A
}

/** `without`: what is left of it where nothing that was said may be kept. */
export const onFile = <A>(permission: ContentPermission | null, row: A, without: (row: A) => A): OnFile<A> =>
  ({ row: permission === null ? without(row) : row }) as OnFile<A>
