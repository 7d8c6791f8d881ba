/**
 * Paths and tiers of the management endpoints, from the declarations of the subjects (`subjects/<subject>/subject.ts`). The contract makes its
 * endpoints from them, so that none is without a tier, and the router knows their paths without loading the contract.
 */
import type { EndpointCategory } from "../subjects/keys/entity.ts"
import { subjects } from "./Subjects.generated.ts"
import type { Operation } from "./tiers/Rights.ts"
import type { Tier } from "./tiers/Tier.ts"
import type { Method, Row } from "./tiers/Tiers.ts"

/** The subjects by the names of their groups. */
type Subjects = typeof subjects

export type GroupName = keyof Subjects

/** `<group>.<endpoint>` of the contract. */
export type ManagementKey = {
  [Group in GroupName]: `${Group}.${keyof Subjects[Group]["routes"] & string}`
}[GroupName]

type RowOf<Key> = Key extends `${infer Group extends GroupName}.${infer Name}`
  ? Subjects[Group]["routes"][Name & keyof Subjects[Group]["routes"]]
  : never

export type ManagementTable = { readonly [Key in ManagementKey]: RowOf<Key> }

/** Endpoints by `<group>.<endpoint>` of the contract. */
export const managementTable = Object.fromEntries(
  Object.values(subjects).flatMap(({ group, routes }) =>
    Object.entries<Row>(routes).map(([name, row]) => [`${group}.${name}`, row])
  )
) as unknown as ManagementTable

export interface ManagementRoute {
  readonly plane: "management"
  readonly key: ManagementKey
  readonly method: Method
  readonly path: string
  readonly tier: Tier
  /** Right of people that opens it. */
  readonly operation: Operation
  /** Answers and errors are in the management format. */
  readonly wire: null
  /** Bytes; `GATEWAY_MAX_BODY_MB` caps it. */
  readonly maxBodyBytes: number
}

/** Endpoints whose handlers read the body themselves as it comes; all others get it whole. */
export const streamedBodies: ReadonlySet<ManagementKey> = new Set<ManagementKey>([
  "backups.import",
  "inspector.importSession"
])

/**
 * Categories of the endpoints of the tier `inference`, as keys are allowed to use them; others are open to every key.
 */
export const askingKeys: Readonly<Partial<Record<ManagementKey, EndpointCategory>>> = {
  "playground.improvePrompt": "chat",
  "playground.compare": "chat"
}

const usualBodyBytes = 10 * 1_048_576
const loginBodyBytes = 16 * 1024

/** A route under `/v1` is also under `/api/v1`, and the reverse: clients have either in their base address. */
const pathsOf = (path: string): ReadonlyArray<string> => {
  if (path.startsWith("/v1/")) return [path, `/api${path}`]
  return path.startsWith("/api/v1/") ? [path, path.slice("/api".length)] : [path]
}

export const managementRoutes: ReadonlyArray<ManagementRoute> = Object.entries<Row>(managementTable).flatMap(
  ([key, { method, operation = "administer", path: own, tier }]) =>
    pathsOf(own).map((path): ManagementRoute => ({
      plane: "management",
      key: key as ManagementKey,
      method,
      path,
      tier,
      operation,
      wire: null,
      maxBodyBytes: key === "auth.login" || key === "auth.exchangeCode" ? loginBodyBytes : usualBodyBytes
    }))
)
