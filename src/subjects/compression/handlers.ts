/** `/api/compression` and `/api/settings/compression`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Compression } from "./routes.ts"
import { CompressionAnalytics } from "../../plane/compression/Analytics.ts"
import { packs } from "../../plane/compression/caveman/packs.ts"
import type { CompressionCounts } from "./entity/CompressionCounts.ts"
import { CompressionPreviews } from "./service.ts"
import { answered } from "../../entry/handling/Answers.ts"

const allRules = packs.flatMap(({ language, rules }) => rules.map((rule) => Object.assign({ language }, rule)))

const allPacks = packs.map(({ language, rules }) => ({
  language,
  categories: [...new Set(rules.map(({ category }) => category))],
  rules: rules.length
}))

/** One digit behind the point. */
const percent = (part: number, of: number): number => (of === 0 ? 0 : Math.round((part / of) * 1_000) / 10)

type Savings = Omit<CompressionCounts, "day" | "mode" | "source">

const savedOf = ({ tokensAfter, tokensBefore }: Savings): number => tokensBefore - tokensAfter

const viewOf = (counts: ReadonlyArray<Savings>) => {
  const sum = (of: (one: Savings) => number): number => counts.reduce((total, one) => total + of(one), 0)
  const tokensBefore = sum((one) => one.tokensBefore)
  const savedTokens = sum(savedOf)
  return {
    requests: sum((one) => one.requests),
    changed: sum((one) => one.changed),
    tokensBefore,
    tokensAfter: sum((one) => one.tokensAfter),
    savedTokens,
    savedPercent: percent(savedTokens, tokensBefore)
  }
}

const groupsOf = (counts: ReadonlyArray<CompressionCounts>, by: (one: CompressionCounts) => string) =>
  Object.entries(Arr.groupBy(counts, by)).map(([name, group]) => ({ name, view: viewOf(group) }))

const greatestFirst = (groups: ReturnType<typeof groupsOf>) =>
  groups.toSorted((one, other) => other.view.savedTokens - one.view.savedTokens || (one.name < other.name ? -1 : 1))

const analyticsOf = (days: number, counts: ReadonlyArray<CompressionCounts>) => ({
  days,
  totals: viewOf(counts),
  byMode: greatestFirst(groupsOf(counts, ({ mode }) => mode)).map(({ name, view }) =>
    Object.assign({ mode: name }, view)
  ),
  bySource: greatestFirst(groupsOf(counts, ({ source }) => source)).map(({ name, view }) =>
    Object.assign({ source: name }, view)
  ),
  byDay: groupsOf(counts, ({ day }) => day).map(({ name, view }) => Object.assign({ date: name }, view))
})

const defaultDays = 30

export const layer = HttpApiBuilder.group(contractOf(Compression), "compression", (handlers) =>
  Effect.map(Effect.all([CompressionPreviews, CompressionAnalytics]), ([compression, analytics]) =>
    handlers
      .handle("analytics", ({ urlParams: { days = defaultDays } }) =>
        answered(Effect.map(analytics.lastDays(days), (counts) => analyticsOf(days, counts)))
      )
      .handle("settings", () => Effect.sync(compression.settings))
      .handle("setSettings", ({ payload }) => answered(compression.replaceSettings(payload)))
      .handle("preview", ({ payload }) =>
        answered(
          Effect.map(compression.preview(payload), (preview) => ({
            ...preview,
            savedPercent: percent(preview.tokensBefore - preview.tokensAfter, preview.tokensBefore)
          }))
        )
      )
      .handle("rules", () => Effect.succeed({ rules: allRules }))
      .handle("languagePacks", () => Effect.succeed({ packs: allPacks }))
  )
)
