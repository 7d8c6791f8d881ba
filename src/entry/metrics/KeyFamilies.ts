/** The metrics of API keys, by the key's name: what was used, and what is left of budgets. Bounded. Pure. */
import { nanoUsdPerUsd } from "../../contract/domain/Usage.ts"
import type { Standing } from "../../plane/ledger/KeyLimits.ts"
import type { MetricsSnapshot, NumberSample } from "../../observe/usage/telemetry/Families.ts"
import { type KeyCounts, maxKeys } from "../../observe/usage/telemetry/KeyMetrics.ts"
import { clean } from "../../observe/usage/telemetry/Summary.ts"

export interface KeysState {
  readonly counts: ReadonlyArray<Readonly<KeyCounts>>
  /** The name of a key; null where it is gone. */
  readonly nameOf: (apiKeyId: string) => string | null
  /** Ids of the keys that have a budget. */
  readonly budgeted: ReadonlyArray<string>
  readonly standings: (apiKeyId: string) => ReadonlyArray<Standing>
}

const maxLabelLength = 100

/** Keys may share a name, which is then one series: a page that has a series twice is refused as a whole. */
const merged = (
  samples: Iterable<NumberSample>,
  merge: (one: number, other: number) => number
): ReadonlyArray<NumberSample> => {
  const found = new Map<string, NumberSample>()
  for (const sample of samples) {
    const name = JSON.stringify(Object.values(sample.labels))
    const known = found.get(name)
    found.set(name, known === undefined ? sample : { labels: sample.labels, value: merge(known.value, sample.value) })
  }
  return [...found.values()]
}

const sum = (one: number, other: number): number => one + other

/** Keys that have asked come first, then the others that have a budget, `maxKeys` in all. */
const shownBudgets = ({ budgeted, counts }: KeysState): ReadonlyArray<string> => {
  const asked = new Set(counts.flatMap(({ apiKeyId }) => apiKeyId ?? []))
  const withBudget = new Set(budgeted)
  const shown = [...asked].filter((id) => withBudget.has(id))
  for (const id of withBudget) {
    if (shown.length >= maxKeys) break
    if (!asked.has(id)) shown.push(id)
  }
  return shown
}

export const keyFamilies = (state: KeysState): MetricsSnapshot => {
  const { counts, nameOf, standings } = state
  const labelOf = ({ apiKeyId, isOther }: KeyCounts): string => {
    if (isOther) return "other"
    return apiKeyId === null ? "none" : clean(nameOf(apiKeyId) ?? "removed", maxLabelLength)
  }
  const of = (value: (one: Readonly<KeyCounts>) => number, labels: Readonly<Record<string, string>> = {}) =>
    counts.map((one) => ({ labels: { key: labelOf(one), ...labels }, value: value(one) }))
  const budgets = shownBudgets(state).flatMap((id) =>
    standings(id)
      .filter(({ spec }) => spec.unit === "usd")
      .map(({ spec, window }) => ({
        labels: { key: clean(nameOf(id) ?? "removed", maxLabelLength), window: spec.rule.interval },
        value: Math.max(0, spec.limit - window.used) / nanoUsdPerUsd
      }))
  )
  return [
    {
      type: "counter",
      name: "gateway_key_requests_total",
      help: "Finished inference requests by the name of the API key (none: without one; other: keys beyond the first 200 since the start).",
      samples: merged(
        of(({ requests }) => requests),
        sum
      )
    },
    {
      type: "counter",
      name: "gateway_key_tokens_total",
      help: "Tokens by the name of the API key.",
      samples: merged(
        [...of(({ tokensIn }) => tokensIn, { type: "input" }), ...of(({ tokensOut }) => tokensOut, { type: "output" })],
        sum
      )
    },
    {
      type: "counter",
      name: "gateway_key_cost_usd_total",
      help: "Cost in USD by the name of the API key; requests of unknown price count as 0.",
      samples: merged(
        of(({ costNanoUsd }) => costNanoUsd / nanoUsdPerUsd),
        sum
      )
    },
    {
      type: "gauge",
      name: "gateway_key_budget_remaining_usd",
      help: "What is left of the key's budget in the current window, in USD (the least of keys that share a name).",
      samples: merged(budgets, Math.min)
    }
  ]
}
