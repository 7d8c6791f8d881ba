/** Answers whether it is well, what it costs today, and what needs me; a new gateway shows the steps to its first answer, and nothing else. */
import { useCallback, useMemo } from "preact/hooks"
import { useLocation } from "preact-iso"
import type { AnswerOf } from "../../api/client.ts"
import { providersList, usageHistoryAnalytics, usageLogs, usageSeries } from "../../api/calls.generated.ts"
import { ahead, type Question, renew, useAnswer } from "../../api/queries.ts"
import { useFeed } from "../../live/feed.ts"
import { Answered } from "../../ui/Answered.tsx"
import { nowMs } from "../../ui/format.ts"
import { words } from "../../words/home.ts"
import { Attention, questionOfAttention } from "./Attention.tsx"
import { Day } from "./Day.tsx"
import { FirstSteps } from "./FirstSteps.tsx"
import { Next } from "./Next.tsx"
import { Now } from "./Now.tsx"
import { spentSince } from "./now.ts"
import { isNew, lookedAt, stepsOf } from "./steps.ts"
import { questionOfStrip, Strip } from "./Strip.tsx"
import { Top } from "./Top.tsx"

const everyMs = 30_000
const dayMs = 86_400_000
const mostCombos = 6
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone

const askSteps = async (signal: AbortSignal) => {
  const [{ total }, { logs }] = await Promise.all([
    providersList({ query: { view: "summary", limit: 1 }, signal }),
    usageLogs({ query: { limit: lookedAt }, signal })
  ])
  return stepsOf(total, logs)
}

const askDay = (signal: AbortSignal) =>
  usageSeries({
    query: { from: new Date(nowMs() - dayMs).toISOString(), step: "hour", tz: zone, by: "combo", top: mostCombos },
    signal
  })

/** Beginning of today by the reader's clock, epoch milliseconds. */
const midnightMs = (): number => new Date(nowMs()).setHours(0, 0, 0, 0)

const analyticsOfDay: Question<AnswerOf<typeof usageHistoryAnalytics>> = {
  key: ["analytics", "24h"],
  ask: (signal) => usageHistoryAnalytics({ query: { range: "24h" }, signal }),
  everyMs
}
const seriesOfDay: Question<AnswerOf<typeof usageSeries>> = { key: ["series", "day"], ask: askDay, everyMs }

const Overview = () => {
  const analytics = useAnswer(analyticsOfDay)
  const series = useAnswer(seriesOfDay)
  const day = series.value.data
  return (
    <>
      <Now spentUsd={day === undefined ? null : spentSince(day, midnightMs())} />
      <Attention />
      <Strip served={analytics.value.data?.byProvider ?? []} />
      <div class="home-split">
        <section class="card">
          <Answered of={series} height={260}>
            {(answer) => <Day series={answer} summary={analytics.value.data?.summary ?? null} />}
          </Answered>
        </section>
        <Answered of={analytics} height={260}>
          {(answer) =>
            day === undefined ? (
              <div class="skeleton" style={{ height: "260px" }} />
            ) : (
              <Top analytics={answer} series={day} />
            )
          }
        </Answered>
      </div>
      <Next />
    </>
  )
}

/** Asks for what most gateways show while it is found out whether this one is new: what is asked one after the other takes twice as long. */
const askAhead = (): void => {
  ahead(analyticsOfDay)
  ahead(seriesOfDay)
  ahead(questionOfAttention)
  ahead(questionOfStrip)
}

export const Home = () => {
  const { query } = useLocation()
  useMemo(askAhead, [])
  const steps = useAnswer({ key: ["steps"], ask: askSteps })
  useFeed(
    "health",
    useCallback(() => void renew("steps"), [])
  )
  return (
    <div class="stack home">
      <header class="view-head">
        <h1>{words.title}</h1>
      </header>
      <Answered of={steps} height={80}>
        {(found) => (isNew(found) && query["show"] !== "all" ? <FirstSteps steps={found} /> : <Overview />)}
      </Answered>
    </div>
  )
}
