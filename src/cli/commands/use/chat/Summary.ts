/** The line below an answer: what it took and who gave it. Pure. */
import { usdText } from "../../../../kernel/text/UsdText.ts"
import { thousands } from "../../../output/Column.ts"

export interface Facts {
  readonly tokens: { readonly in: number; readonly out: number } | null
  /** Time from the first token to the end, in ms. */
  readonly streamedMs: number
  /** Null: unknown, because there is no price or the key may not ask. */
  readonly costUsd: number | null
  /** `provider/model`. */
  readonly served: string | null
}

/** Tokens a second; null where there is nothing to count. */
export const tokensPerSecond = ({ streamedMs, tokens }: Pick<Facts, "streamedMs" | "tokens">): number | null =>
  tokens === null || tokens.out < 2 || streamedMs < 1 ? null : Math.round((tokens.out * 10_000) / streamedMs) / 10

export const summaryLine = (facts: Facts): string => {
  const { costUsd, served, tokens } = facts
  const rate = tokensPerSecond(facts)
  return [
    ...(tokens === null ? [] : [`${thousands(tokens.in)} in, ${thousands(tokens.out)} out`]),
    ...(rate === null ? [] : [`${rate.toFixed(1)} tokens/s`]),
    costUsd === null ? "cost unknown" : usdText(costUsd),
    ...(served === null ? [] : [served])
  ].join(" · ")
}
