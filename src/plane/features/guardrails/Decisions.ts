/** Counts of what guardrails have decided, for `/metrics`. */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

export interface DecisionCount {
  readonly detector: string
  readonly action: string
  readonly count: number
}

export class GuardrailDecisions extends Context.Tag("gateway/plane/features/guardrails/GuardrailDecisions")<
  GuardrailDecisions,
  {
    /** Hot: `detector` is an id of ours or the name of a custom pattern. */
    readonly count: (detector: string, action: string, times?: number) => void
    readonly all: () => ReadonlyArray<DecisionCount>
  }
>() {}

/** Names of custom patterns come and go; beyond this many series the rest is counted as `other`. */
const maxSeries = 500

export const make = (): typeof GuardrailDecisions.Service => {
  const counts = new Map<string, { readonly detector: string; readonly action: string; count: number }>()
  const seriesOf = (detector: string, action: string) => {
    const key = `${detector}\n${action}`
    const known = counts.get(key)
    if (known !== undefined) return known
    if (counts.size >= maxSeries && detector !== "other") return seriesOf("other", action)
    const series = { detector, action, count: 0 }
    counts.set(key, series)
    return series
  }
  return GuardrailDecisions.of({
    count: (detector, action, times = 1) => {
      seriesOf(detector, action).count += times
    },
    all: () => [...counts.values()].map(({ action, count, detector }) => ({ action, count, detector }))
  })
}

export const layer: Layer.Layer<GuardrailDecisions> = Layer.sync(GuardrailDecisions, make)
