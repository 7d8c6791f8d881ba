/** A quota group: connections whose quota several keys share, by weight. See docs/routing.md, "Quota groups". */
import * as Schema from "effect/Schema"

/** One connection of the group. Its share of the group's requests is its weight over the sum of all. */
export const QuotaMember = Schema.Struct({ connectionId: Schema.String, weight: Schema.Positive })
export type QuotaMember = typeof QuotaMember.Type

/** What one API key is entitled to, against the other allocations. */
export const QuotaAllocation = Schema.Struct({ apiKeyId: Schema.String, weight: Schema.Positive })
export type QuotaAllocation = typeof QuotaAllocation.Type

export interface QuotaGroup {
  readonly id: string
  /** The `<group>` of `qtSd/<group>/<provider>/<model>`: without a slash. */
  readonly name: string
  readonly members: ReadonlyArray<QuotaMember>
  readonly allocations: ReadonlyArray<QuotaAllocation>
  /** Only for keys with an allocation. Stays set when the last of these keys is deleted, so that the group is not opened to all. */
  readonly restricted: boolean
  readonly createdAtMs: number
  readonly updatedAtMs: number
}
