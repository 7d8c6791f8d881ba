/** A combo that is tried before it is saved. */
import type { Editable } from "../editable.ts"

export interface Tried {
  /** The combo as it would be created; null: it cannot be tried, because something in it cannot be read. */
  readonly combo: (Editable & { readonly id?: string }) | null
  /** Another model id that does the same; empty: none. */
  readonly compareWith: string
}
