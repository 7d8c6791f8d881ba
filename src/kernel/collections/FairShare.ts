/**
 * Shares a bounded resource among owners, so that none of them fills it for the others. Pure.
 * - Places that are held until their work is over: an owner takes at most as many as it leaves free. However many others there are, there
 *   is something left for the next one.
 * - Places that are held briefly, such as by requests in progress: an owner leaves a quarter to others.
 * - Entries that may be removed: over the bound, the owner that has the most loses the one it used longest ago.
 */

export interface Places {
  readonly capacity: number
  /** Places taken by all owners. */
  readonly taken: number
  /** Places taken by the owner that asks. */
  readonly own: number
}

/**
 * Decides whether an owner may take one more place. Alone it gets half of them; where there is one place only, that.
 */
export const mayTakePlace = ({ capacity, own, taken }: Places): boolean => own < capacity - taken

/** Most of what passes quickly that one owner may have at once: a quarter is left to others, where there are four or more. */
export const mostHeld = (capacity: number): number => capacity - Math.floor(capacity / 4)

/** Most entries of one owner in a pool whose entries serve running work. */
export const shareOf = (capacity: number): number => Math.max(1, Math.ceil(capacity / 2))
