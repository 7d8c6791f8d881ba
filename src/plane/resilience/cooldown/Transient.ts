/** Failures that are likely to pass by themselves, at a time that is not known. Pure. */
import type { Failure, FailureKind } from "../failure/FailureKind.ts"

const passing: ReadonlySet<FailureKind> = new Set<FailureKind>([
  "transient",
  "capacity",
  "truncated",
  "malformed",
  "connect_timeout",
  "first_byte_timeout",
  "idle_timeout",
  "network"
])

/**
 * The provider had trouble (5xx, network, timeout) and put no time on it. Such a failure says something about the model at the connection
 * that failed, and about nothing else; it never keeps the last target that is left from being asked.
 */
export const isTransient = ({ kind, status, untilMs }: Pick<Failure, "kind" | "status" | "untilMs">): boolean =>
  passing.has(kind) && untilMs === null && status !== 429
