/** Amounts of money in two columns, because columns hold integers: whole nano-USD, and the rest in `nanoUsdParts`. */
import { nanoUsdParts } from "../../contract/domain/Usage.ts"
import { valid } from "../engine/Columns.ts"

/** Hot. */
export const nanoColumn = (nanoUsd: number): number => valid(Math.floor(nanoUsd))

/** Hot: the rest. */
export const partsColumn = (nanoUsd: number): number =>
  Math.min(valid((nanoUsd - Math.floor(nanoUsd)) * nanoUsdParts), nanoUsdParts - 1)

/** The SQL of an amount in nano-USD, from the SQL of the two columns. */
export const moneyOf = (nanoUsd: string, parts: string): string => `${nanoUsd} + ${parts} / ${nanoUsdParts}.0`
