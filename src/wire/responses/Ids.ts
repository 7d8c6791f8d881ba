/**
 * Ids of output items that the gateway makes up when the upstream's wire has none. They can be recognised, so that a reasoning item that
 * comes back with one is not taken for a provider's own.
 */

/** Prefixes this wire's servers use, and check, per item type. */
export type ItemPrefix = "msg" | "rs" | "fc" | "ctc" | "ig" | "ws"

const mark = "_gw_"
/** Stands in each of them. What the gateway puts into a request of its memory may hold some. */
export const madeUpMark = mark
/** Servers refuse item ids above 64 characters. */
const maxOwnerChars = 40

/** The id of the item at `index` of an answer: stable, and different for every answer. */
export const itemId = (prefix: ItemPrefix, responseId: string, index: number): string =>
  `${prefix}${mark}${responseId.replaceAll(/[^a-zA-Z0-9]/g, "").slice(-maxOwnerChars)}_${index}`

/** Checks whether the gateway made this id up, so that no upstream knows it. */
export const isMadeUp = (id: string): boolean => /^[a-z]+_gw_/.test(id)
