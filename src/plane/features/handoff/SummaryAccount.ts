/** Settles a request for a summary: a usage row, a decision record and a telemetry event of its own. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Engine from "../../routing/decide/Engine.ts"
import * as QuotaWindows from "../../routing/quota/QuotaWindows.ts"
import type { Target } from "../../routing/resolve/ModelResolver.ts"
import { chat } from "../../../wire/chat/Codec.ts"
import { isObject, parseJson } from "../../../wire/json/Json.ts"
import { noReport } from "../../request/AnswerReport.ts"
import type { FailoverEnd } from "../../failover/FailoverEnd.ts"
import * as Timers from "../../../platform/Timers.ts"
import { apiKeyIdOf, type Work } from "../../request/Exchange.ts"
import type { Served } from "../../settle/Bill.ts"
import { Settlement } from "../../settle/Settlement.ts"
import type { UsageOutcome } from "../../request/KeptAnswer.ts"
import { summaryIn } from "./Summary.ts"

const nothing = (): void => {}

/** The summary in a whole answer of the chat wire; null when there is none. */
export const summaryOf = (body: Buffer | string): string | null => {
  const parsed = parseJson(body.toString())
  if (!isObject(parsed)) return null
  const response = chat.decodeResponse(parsed)
  if (Either.isLeft(response)) return null
  return summaryIn(response.right.parts.map((part) => (part.type === "text" ? part.text : "")).join(""))
}

/** Finds the target that was asked when it was given up. */
const lastAsked = ({ decision, trail: { attempts } }: Work): Target | undefined => {
  const last = attempts.at(-1)
  return decision.order.find(
    ({ account, model }) => account.connection.id === last?.connectionId && model === last.model
  )
}

export class SummaryAccount extends Context.Tag("gateway/plane/features/handoff/SummaryAccount")<
  SummaryAccount,
  {
    /** The request came to an end. `usable`: its answer holds a summary. */
    readonly concluded: (work: Work, end: FailoverEnd, usable: boolean) => void
    /** The request was given up: what it asked for may have been charged. */
    readonly cancelled: (work: Work, error: string) => void
  }
>() {}

export const make = Effect.gen(function* () {
  const engine = yield* Engine.Engine
  const quotas = yield* QuotaWindows.QuotaWindows
  const settlement = yield* Settlement
  const { nowMs } = yield* Timers.Timers

  const close = (work: Work, served: Served | null, outcome: UsageOutcome): void => {
    const bill = settlement.bill(work, served, work.trail.charged)
    if (served !== null && served.report !== null) {
      const { costNanoUsd, tokens } = bill
      const { account, share } = served.target
      const used = { tokens: tokens.in + tokens.out, costNanoUsd }
      const atMs = nowMs()
      quotas.count(account.connection, used, atMs)
      engine.shares.count(share ?? null, apiKeyIdOf(work.exchange), account.connection, used, atMs)
    }
    settlement.settle({ work, served, bill, ending: outcome }, nothing)
  }

  return SummaryAccount.of({
    concluded: (work, end, usable) => {
      if (end._tag === "Unavailable") {
        const { code, status } = end.unready
        return close(work, null, { outcome: "failed", status, error: code })
      }
      if (end._tag === "Failed") {
        const { reason, status } = end.failure
        const served = { target: end.target, report: null, firstContentMs: null }
        return close(work, served, { outcome: "failed", status, error: reason })
      }
      const { result, target } = end
      const served = { target, report: result.report, firstContentMs: result.firstContentMs }
      switch (result._tag) {
        case "Completed":
          return close(
            work,
            served,
            usable
              ? { outcome: "completed", status: 200, error: null }
              : { outcome: "failed", status: 200, error: "handoff_unusable" }
          )
        case "Broken":
          return close(work, served, { outcome: "failed", status: 200, error: result.failure.reason })
        case "Aborted":
          return close(work, served, { outcome: "aborted", status: 499, error: "handoff_aborted" })
      }
    },
    cancelled: (work, error) => {
      const target = lastAsked(work)
      const served = target === undefined ? null : { target, report: noReport, firstContentMs: null }
      close(work, served, { outcome: "aborted", status: 499, error })
    }
  })
})

export const layer: Layer.Layer<
  SummaryAccount,
  never,
  Engine.Engine | QuotaWindows.QuotaWindows | Settlement | Timers.Timers
> = Layer.effect(SummaryAccount, make)
