/**
 * Ids of output items the gateway makes up when the upstream's wire has none. They are recognisable, so that a reasoning item
 * which comes back with one is not taken for a provider's own.
 */

/** Prefixes this wire's servers use, and check, per item type. */
export type ItemPrefix = "msg" | "rs" | "fc" | "ctc" | "ig"

const mark = "_gw_"
/** Servers refuse item ids above 64 characters. */
const maxOwnerChars = 40

/** The id of the item at `index` of an answer: the same every time, and another in every answer. */
export const itemId = (prefix: ItemPrefix, responseId: string, index: number): string =>
  `${prefix}${mark}${responseId.replaceAll(/[^a-zA-Z0-9]/g, "").slice(-maxOwnerChars)}_${index}`

/** The gateway made this id up: an upstream does not know it. */
export const isMadeUp = (id: string): boolean => /^[a-z]+_gw_/.test(id)
