/** A combo as it is stored, and what an editor of it can change. */
import type { AnswerOf } from "../../api/client.ts"
import type { combosGet } from "../../api/calls.generated.ts"

export type StoredCombo = AnswerOf<typeof combosGet>["combo"]

export type Editable = Pick<StoredCombo, "name" | "strategy" | "targets" | "config" | "isActive">
