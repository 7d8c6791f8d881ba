/**
 * The hand-off of `context-relay`: when the account of a session is nearly used up, a
 * model sums the conversation up in the background; when the session then goes on at another account, the summary goes along. No
 * request waits for it, and its failure has no other effect.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { mayKeepContent } from "../../../contract/domain/ContentPermission.ts"
import { settled } from "../../../kernel/Later.ts"
import type { Admitted } from "../../ledger/KeyLimits.ts"
import { Admission } from "../../request/Admission.ts"
import * as Timers from "../../../platform/Timers.ts"
import * as Engine from "../../routing/decide/Engine.ts"
import type { Resolution, Target } from "../../routing/resolve/ModelResolver.ts"
import * as QuotaWindows from "../../routing/quota/QuotaWindows.ts"
import { keyIn, namedInCombo } from "../../routing/resolve/KeyModels.ts"
import * as Resolutions from "../../routing/resolve/Resolutions.ts"
import * as IdGen from "../../../platform/IdGen.ts"
import { Failover } from "../../failover/Failover.ts"
import type { FailoverEnd, RequestEnd } from "../../failover/FailoverEnd.ts"
import { isCutByStop } from "../../failover/FailoverEnd.ts"
import type { Work } from "../../request/Exchange.ts"
import type { Feature } from "../Feature.ts"
import { SummaryAccount, summaryOf } from "./SummaryAccount.ts"
import { hasMovedOn, isDue, usedShare } from "./Rules.ts"
import { type Kept, makeSummaries, type Summaries } from "./Summaries.ts"
import { handoffText, markOf, questionOf } from "./Summary.ts"
import { alone, summaryWork } from "./SummaryWork.ts"
import { countMessages, transcriptOf } from "./Transcript.ts"

/** Summaries in the making, of the whole process. Beyond it none is begun; the next turn of the session is another occasion. */
export const maxAtOnce = 4
export const timeLimitMs = 30_000

export class Handoff extends Context.Tag("gateway/plane/features/handoff/Handoff")<Handoff, Feature>() {}

interface Job {
  readonly sessionKey: string
  readonly work: Work
  readonly target: Target
}

/** Key of the conversation; null where nothing is handed over. */
const sessionOf = ({ decision, exchange, outputCap, question }: Work): string | null => {
  // An emergency answer (`outputCap`) comes from outside the combo.
  if (decision.strategy !== "context-relay" || exchange.codec.endpoint !== undefined || outputCap !== null) return null
  // A summary would keep what is said.
  return mayKeepContent(exchange.principal) === null ? null : question.sessionKey
}

const nameOf = ({ account, model }: Target): string => `${account.spec.id}/${model}`

const services = Effect.all({
  account: SummaryAccount,
  engine: Engine.Engine,
  failover: Failover,
  quotas: QuotaWindows.QuotaWindows,
  resolutions: Resolutions.Resolutions,
  timers: Timers.Timers,
  admission: Admission,
  idGen: IdGen.IdGen
})
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly summaries: Summaries
  /** Sessions whose summary is in the making. */
  readonly open: Set<string>
  /** Runner of background work, at most until the gateway closes. */
  readonly run: (background: Effect.Effect<void>) => unknown
}

const carrying = ({ summaries, timers }: Deps, work: Work): Work => {
  const sessionKey = sessionOf(work)
  if (sessionKey === null) return work
  const kept = summaries.of(sessionKey, timers.nowMs())
  if (kept === null || kept.summary === null || work.body.includes(markOf(kept.summary))) return work
  const { connectionId, from, summary } = kept
  return { ...work, handoff: { connectionId, from, text: handoffText(summary) } }
}

/** A model without a target must not cost the summary. */
const askedOf = (
  { resolutions }: Deps,
  { target, work }: Job
): { readonly model: string; readonly resolution: Resolution } => {
  const { handoffModel } = work.resolution.policy
  const named = handoffModel === null ? null : resolutions.resolve(handoffModel)
  const key = keyIn(work.exchange.principal)
  const allowed =
    handoffModel === null || named === null || "_tag" in named ? null : namedInCombo(key, handoffModel, named)
  return handoffModel === null || allowed === null
    ? { model: nameOf(target), resolution: alone(work.resolution, target) }
    : { model: handoffModel, resolution: allowed }
}

const ask = (deps: Deps, job: Job, transcript: string, messages: number, earlier: Kept | null): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { work } = job
    const made = summaryWork({
      work,
      question: questionOf(transcript, earlier?.summary ?? null),
      ...askedOf(deps, job),
      decide: deps.engine.decide,
      seed: deps.idGen.seed(),
      nowMs: deps.timers.nowMs(),
      monotonicMs: deps.timers.monotonicMs()
    })
    const admitted = deps.admission.admit(made.exchange, null)
    const leave = (unwanted: Admitted): void => {
      if (unwanted !== null && !(unwanted instanceof Error)) deps.admission.leave(unwanted)
    }
    // The client's own requests are refused by now; no summary is worth what is left.
    return Effect.flatMap(settled(admitted, leave), (commitment) =>
      commitment instanceof Error ? Effect.void : summarise(deps, job, { ...made, commitment }, messages, earlier)
    )
  })

/** Asks for the summary and keeps it. */
const summarise = (
  deps: Deps,
  { sessionKey, target, work }: Job,
  asked: Work,
  messages: number,
  earlier: Kept | null
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { commitment } = asked
    deps.engine.commit(asked.question, asked.decision)

    const conclude = (end: FailoverEnd): void => {
      const whole = end._tag === "Answered" && end.result._tag === "Completed" ? end.result : null
      const summary = whole === null ? null : summaryOf(whole.body)
      if (whole !== null) {
        const fresh = { summary, connectionId: target.account.connection.id, from: nameOf(target) }
        // One that says nothing puts off the next try, and leaves what was known.
        const known = summary === null && earlier !== null ? earlier : fresh
        const permission = mayKeepContent(work.exchange.principal)
        if (permission !== null)
          deps.summaries.keep(permission, sessionKey, { ...known, messages }, deps.timers.nowMs())
      }
      deps.account.concluded(asked, end, summary !== null)
    }

    return Effect.timeoutOption(deps.failover.run(asked), timeLimitMs).pipe(
      Effect.map(
        Option.match({
          onNone: () => deps.account.cancelled(asked, "handoff_timeout"),
          onSome: (end) => (isCutByStop(end) ? deps.account.cancelled(asked, "gateway_closing") : conclude(end))
        })
      ),
      Effect.onInterrupt(() => Effect.sync(() => deps.account.cancelled(asked, "gateway_closing"))),
      Effect.ensuring(Effect.sync(() => (commitment === null ? undefined : deps.admission.leave(commitment))))
    )
  })

const sumUp = (deps: Deps, job: Job): Effect.Effect<void> =>
  Effect.suspend(() => {
    const conversation = job.work.conversation()
    if (Either.isLeft(conversation)) return Effect.void
    const { messages } = conversation.right
    const count = countMessages(messages)
    const kept = deps.summaries.of(job.sessionKey, deps.timers.nowMs())
    if (kept !== null && !hasMovedOn(kept.messages, count)) return Effect.void
    const transcript = transcriptOf(messages, job.work.resolution.policy.maxMessagesForSummary)
    return transcript === "" ? Effect.void : ask(deps, job, transcript, count, kept)
  })

const ended = (deps: Deps, work: Work, end: RequestEnd): void => {
  const { open, quotas, run, timers } = deps
  const sessionKey = sessionOf(work)
  if (sessionKey === null || end._tag !== "Answered" || end.result._tag !== "Completed") return
  const { target } = end
  const { connection } = target.account
  const { policy } = work.resolution
  if (policy.handoffProviders !== null && !policy.handoffProviders.has(target.account.spec.id)) return
  // The client's next request would wait behind ours.
  if (policy.handoffModel === null && connection.maxConcurrent === 1) return
  const nowMs = timers.nowMs()
  if (!isDue(policy, usedShare(quotas.of(connection, nowMs, target.model), nowMs))) return
  if (open.size >= maxAtOnce || open.has(sessionKey)) return
  open.add(sessionKey)
  const job = { sessionKey, work, target }
  // Behind the client's last byte, which is sent at the end of this turn.
  timers.soon(() =>
    run(
      sumUp(deps, job).pipe(
        Effect.catchAllCause((cause) =>
          Cause.isInterruptedOnly(cause) ? Effect.void : Effect.logError("A hand-off died", cause)
        ),
        Effect.ensuring(Effect.sync(() => open.delete(sessionKey)))
      )
    )
  )
}

export const make = Effect.gen(function* () {
  const all = yield* services
  /** Runner of background work, at most until the gateway closes. */
  const run = yield* FiberSet.makeRuntime<never>()
  const deps: Deps = { ...all, summaries: makeSummaries(), open: new Set(), run }

  return Handoff.of({
    concerns: (work) => sessionOf(work) !== null,
    around: (next) => (work) => next(carrying(deps, work)),
    ended: (work, end) => ended(deps, work, end)
  })
})

export const layer: Layer.Layer<Handoff, never, Effect.Effect.Context<typeof services>> = Layer.scoped(Handoff, make)
