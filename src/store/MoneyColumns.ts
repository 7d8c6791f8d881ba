/** Amounts of money in two columns, because columns hold integers: whole nano-USD, and the rest in `nanoUsdParts`. */
import { nanoUsdParts } from "../domain/Usage.ts"
import { valid } from "./Columns.ts"

/** Hot. */
export const moneyColumns = (nanoUsd: number): readonly [nanoUsd: number, parts: number] => {
  const nano = valid(Math.floor(nanoUsd))
  return [nano, Math.min(valid((nanoUsd - nano) * nanoUsdParts), nanoUsdParts - 1)]
}

/** The SQL of an amount in nano-USD, from the SQL of the two columns. */
export const moneyOf = (nanoUsd: string, parts: string): string => `${nanoUsd} + ${parts} / ${nanoUsdParts}.0`
