/** Rows of the route table: method, path, and who may call it. `:name` stands for one segment, or for its part before a dash. */
import type { Operation } from "./Rights.ts"
import type { Tier } from "./Tier.ts"

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

export interface Row<M extends Method = Method, P extends string = string, T extends Tier = Tier> {
  readonly method: M
  /** Lower-case path. */
  readonly path: P
  readonly tier: T
  /** Right of people that opens it; absent: `administer`. */
  readonly operation?: Operation
}

const rowOf =
  <T extends Tier>(tier: T) =>
  <M extends Method, P extends `/${string}`>(method: M, path: P): Row<M, P, T> => ({ method, path, tier })

export const open = rowOf("public")

/** Route of the tier `manage`, and the right that opens it to people without a scope of management. */
export const manage = <M extends Method, P extends `/${string}`>(
  method: M,
  path: P,
  operation: Operation = "administer"
): Row<M, P, "manage"> => ({ method, path, tier: "manage", operation })

/** Route of a login's session; to people it is open by a right, as those of the tier `manage` are. */
export const session = <M extends Method, P extends `/${string}`>(
  method: M,
  path: P,
  operation: Operation = "administer"
): Row<M, P, "session"> => ({ method, path, tier: "session", operation })
export const self = rowOf("self")
export const known = rowOf("known")
export const owner = rowOf("owner")
export const local = rowOf("local")
export const loopback = rowOf("loopback")
export const ingest = rowOf("ingest")
export const inference = rowOf("inference")
