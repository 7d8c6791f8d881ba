/** A quota group: connections whose quota several keys share, by weight. See docs/routing.md, "Quota groups". */
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"

/** Meaning and example of each field. */
export const memberWords = {
  connectionId: ["Id of the connection.", "019aa6ee-5c00-7000-8f3e-1f0c9d2b7a64"],
  weight: ["Its share of the group's requests, against the other members.", 1]
} as const
export const allocationWords = {
  apiKeyId: ["Id of the API key.", "019aa6ee-6a10-7000-9b21-0a4d5c6e7f81"],
  weight: ["Its share of the group's quota, against the other keys.", 1]
} as const

/** One connection of the group. Its share of the group's requests is its weight over the sum of all. */
export const QuotaMember = Schema.Struct({
  connectionId: field(Schema.String, ...memberWords.connectionId),
  weight: field(Schema.Positive, ...memberWords.weight)
})
export type QuotaMember = typeof QuotaMember.Type

/** Entitlement of one API key, relative to the other allocations. */
export const QuotaAllocation = Schema.Struct({
  apiKeyId: field(Schema.String, ...allocationWords.apiKeyId),
  weight: field(Schema.Positive, ...allocationWords.weight)
})
export type QuotaAllocation = typeof QuotaAllocation.Type

export interface QuotaGroup {
  readonly id: string
  /** The `<group>` of `qtSd/<group>/<provider>/<model>`: without a slash. */
  readonly name: string
  readonly members: ReadonlyArray<QuotaMember>
  readonly allocations: ReadonlyArray<QuotaAllocation>
  /**
   * True when it is only for keys with an allocation. Stays set when the last of these keys is deleted, so that the
   * group is not opened to all.
   */
  readonly restricted: boolean
  readonly createdAtMs: number
  readonly updatedAtMs: number
}
