/** Of each account the quota that has the least left. Pure. */
import type { AnswerOf } from "../../../api/client.ts"
import type { usageQuotas } from "../../../api/calls.generated.ts"

export type QuotaWindow = AnswerOf<typeof usageQuotas>["windows"][number]

const leftOf = ({ remainingPercentage }: QuotaWindow): number => remainingPercentage ?? 100

export const tightestBy = (windows: ReadonlyArray<QuotaWindow>): ReadonlyMap<string, QuotaWindow> => {
  const tightest = new Map<string, QuotaWindow>()
  for (const window of windows) {
    const known = tightest.get(window.connectionId)
    if (known === undefined || leftOf(window) < leftOf(known)) tightest.set(window.connectionId, window)
  }
  return tightest
}
