import type { RtkSettings } from "../../../subjects/rtk/entity.ts"
import type { Limits } from "./Apply.ts"

/** The limits that the settings ask for. Pure. */
export const limitsOf = ({ deduplicateThreshold, level, maxChars, maxLines }: RtkSettings): Limits => ({
  level,
  maxLines,
  maxChars,
  dedupeFrom: deduplicateThreshold
})
