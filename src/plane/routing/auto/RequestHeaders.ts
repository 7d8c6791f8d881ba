/** The headers of a request that override settings of the `auto` strategy (`X-Gateway-Mode`, `X-Gateway-Budget`). Pure. */
import { type PackName, packOfMode, type Weights } from "../../../subjects/combos/entity/AutoWeights.ts"
import type { AutoPolicy } from "../../../subjects/combos/entity/ComboPolicy.ts"
import { packs } from "./Weights.ts"

/** `X-Gateway-Budget` in USD; null when absent or no positive number, which is ignored. */
export const budgetOfHeader = (header: string | null): number | null => {
  const text = header?.trim() ?? ""
  if (text.length > 256 || !/^(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i.test(text)) return null
  const usd = Number(text)
  return usd > 0 && Number.isFinite(usd) ? usd : null
}

/** The weights of one request: its header wins over the combo's own set, that over the combo's pack, that over the id's. */
export const weightsOf = (
  specPack: PackName,
  policy: Pick<AutoPolicy, "pack" | "weights">,
  modeHeader: string | null
): Weights => {
  const mode = modeHeader === null ? null : packOfMode(modeHeader)
  return mode === null ? (policy.weights ?? packs[policy.pack ?? specPack]) : packs[mode]
}
