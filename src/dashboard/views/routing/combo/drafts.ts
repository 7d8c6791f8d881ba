/** Edits that are not saved yet, kept in memory while other views are looked at. */
import type { Version } from "../../../ui/merge/saving.ts"
import type { Editable } from "../editable.ts"
import type { Draft } from "./draft.ts"

export interface Kept {
  /** The version that the edit began from. */
  readonly base: Version<Editable>
  readonly draft: Draft
}

/** Name of the edit that makes a new combo. */
export const newCombo = ""

/** Drafts by the id of their combo. */
export const drafts = new Map<string, Kept>()
