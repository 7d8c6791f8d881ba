/**
 * The strategy `fusion`: all models of a panel are asked at once, and a judge makes one
 * answer of theirs. Members and judge go through the ordinary failover, so health, places, retries and tokens are as always.
 */
import type { Reason } from "../../routing/candidate/Reason.ts"
import { targetKeyOf } from "../../routing/resolve/TargetKey.ts"
import type { AttemptRecord } from "../../../subjects/routing/entity.ts"
import type { Trail } from "../../request/Trail.ts"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Timers from "../../../platform/Timers.ts"
import * as Catalog from "../../providers/Catalog.ts"
import * as Settings from "../../resilience/Settings.ts"
import type { Target } from "../../routing/resolve/ModelResolver.ts"
import { keyIn, namedInCombo } from "../../routing/resolve/KeyModels.ts"
import * as Resolutions from "../../routing/resolve/Resolutions.ts"
import type { Conversation } from "../../../wire/canonical/Conversation.ts"
import type { EncodeContext } from "../../../wire/WireCodec.ts"
import { Failover } from "../../failover/Failover.ts"
import type { FailoverEnd } from "../../failover/FailoverEnd.ts"
import type { Work } from "../../request/Exchange.ts"
import type { Served } from "../../settle/Bill.ts"
import type { Answered, Feature } from "../Feature.ts"
import { directAnswer, memberEnd, type MemberEnd, type PanelAnswer } from "./Answers.ts"
import { runPanel, type PanelCall } from "./RunPanel.ts"
import { judgeWork, memberWork, panelWork } from "./InnerWork.ts"
import { makeInnerReply } from "../../request/InnerReply.ts"
import { type Member, membersOf } from "./Members.ts"
import { noPanelAnswer, notTranslatable } from "./NoAnswer.ts"
import { panelRules, type PanelRules } from "./Panel.ts"
import { judgeQuestion, panelQuestion } from "./Question.ts"
import { fitted, sourceBudget } from "./Sources.ts"

export class Fusion extends Context.Tag("gateway/plane/features/fusion/Fusion")<Fusion, Feature>() {}

/** Part of the time that is left for the request which a panel may use up: the judge needs some too. */
const panelShare = 0.75

/** Checks whether a request is fused. Only conversations are: vectors, results and the like cannot be merged. */
const isFusion = ({ decision, exchange }: Work): boolean =>
  decision.strategy === "fusion" && exchange.codec.endpoint === undefined

const hasAnswer = ({ answer }: MemberEnd): boolean => answer !== null

const noExclusions: Trail["exclusions"] = new Map()

const servedBy = (ends: ReadonlyArray<MemberEnd>): ReadonlyArray<Served> => ends.flatMap(({ served }) => served ?? [])

interface Judges {
  /** The first to be asked first. */
  readonly order: ReadonlyArray<Target>
  /** False: the combo names one that has no target. */
  readonly isKnown: boolean
}

const services = Effect.all({
  catalog: Catalog.Catalog,
  failover: Failover,
  resolutions: Resolutions.Resolutions,
  settings: Settings.Settings,
  timers: Timers.Timers
})
type Deps = Effect.Effect.Success<typeof services>

const rulesFor = ({ settings, timers }: Deps, work: Work, size: number): PanelRules => {
  const rules = panelRules(work.resolution.policy, size)
  const leftMs = work.exchange.startedMs + settings.current().timeouts.totalMs - timers.monotonicMs()
  return { ...rules, panelHardTimeoutMs: Math.min(rules.panelHardTimeoutMs, Math.max(1, leftMs * panelShare)) }
}

const context = ({ timers }: Deps, work: Work, target: Target): EncodeContext => ({
  nowMs: timers.nowMs(),
  fallbackId: work.exchange.requestId,
  model: target.model,
  wantsUsage: work.envelope.wantsUsage,
  request: work.asked,
  elapsedMs: () => Math.round(timers.monotonicMs() - work.exchange.startedMs)
})

/**
 * Adds the members' calls to the trail of the request. A member that was cut off by the rules did not leave by
 * itself.
 */
const joinTrails = (work: Work, ends: ReadonlyArray<MemberEnd>, rules: PanelRules): void => {
  const isEnough = ends.filter(hasAnswer).length >= rules.minPanel
  const hasLeft = work.exchange.reply.isClosed()
  const named = (attempt: AttemptRecord): AttemptRecord =>
    hasLeft || attempt.outcome !== "aborted" || attempt.reason !== "client_left"
      ? attempt
      : { ...attempt, reason: isEnough ? "straggler" : "panel_timeout" }
  work.trail.join(
    ends.flatMap(({ trail }) => trail.attempts.map(named)),
    new Map(ends.flatMap(({ trail }) => [...trail.exclusions]))
  )
  for (const { trail } of ends) for (const part of trail.charged) work.trail.charge(part)
}

/** Asks all members. Those that are sent away see a client that leaves, which is no failure. */
const askPanel = (
  deps: Deps,
  work: Work,
  members: ReadonlyArray<Member>,
  conversation: Conversation
): Effect.Effect<ReadonlyArray<MemberEnd>> =>
  Effect.suspend(() => {
    const { reply } = work.exchange
    const rules = rulesFor(deps, work, members.length)
    const asked = panelWork(work, panelQuestion(conversation))
    const seats = members.map((member): PanelCall<MemberEnd> => {
      const inner = makeInnerReply()
      const own = memberWork(asked, member, inner)
      return { run: Effect.map(deps.failover.run(own), (end) => memberEnd(own, member, end)), leave: inner.leave }
    })
    const noLongerListen = reply.onClose(() => {
      for (const seat of seats) seat.leave()
    })
    return Effect.map(runPanel(seats, rules, hasAnswer), (ends) => {
      noLongerListen()
      joinTrails(work, ends, rules)
      return ends
    })
  })

/** The judge, and behind it those who answered: one who cannot be asked now must not cost the answer. */
const judgesFor = ({ resolutions }: Deps, work: Work, survivors: ReadonlyArray<Target>): Judges => {
  const { judgeModel } = work.resolution.policy
  const named = judgeModel === null ? null : resolutions.resolve(judgeModel)
  if (judgeModel === null || named === null) return { order: survivors, isKnown: true }
  if ("_tag" in named) return { order: survivors, isKnown: false }
  const allowed = namedInCombo(keyIn(work.exchange.principal), judgeModel, named)
  if (allowed === null) return { order: survivors, isKnown: true }
  // The alias that was asked by holds for the judge as well.
  const suppressReasoning = work.resolution.targets.every((target) => target.suppressReasoning)
  const judges = suppressReasoning
    ? allowed.targets.map(({ account, model }) => ({ account, model, suppressReasoning }))
    : allowed.targets
  const first = new Set(judges.map(targetKeyOf))
  return { order: [...judges, ...survivors.filter((target) => !first.has(targetKeyOf(target)))], isKnown: true }
}

/** Tokens that the one asked first can take in. */
const contextOf = ({ catalog }: Deps, [first]: ReadonlyArray<Target>): number | null =>
  first === undefined ? null : catalog.factsOf(first.account, first.model).contextLength

const judge = (
  deps: Deps,
  work: Work,
  conversation: Conversation,
  ends: ReadonlyArray<MemberEnd>,
  answers: ReadonlyArray<PanelAnswer>
): Effect.Effect<Answered> =>
  Effect.suspend(() => {
    const survivors = ends.filter(hasAnswer).flatMap(({ member }) => member)
    const { isKnown: isJudgeKnown, order } = judgesFor(deps, work, survivors)
    const sources = fitted(
      answers.map(({ text }) => text),
      sourceBudget(conversation, contextOf(deps, order))
    )
    const reason: Reason = { _tag: "Judged", answers: answers.length, members: ends.length, isJudgeKnown }
    const asked = judgeWork(work, judgeQuestion(conversation, sources), order, reason)
    return Effect.map(deps.failover.run(asked), (end) => {
      // Its targets are not those that the record of the decision lists.
      work.trail.join(asked.trail.attempts, noExclusions)
      work.trail.asked(asked.trail)
      for (const part of asked.trail.charged) work.trail.charge(part)
      return { work: { ...work, decision: { ...work.decision, reason } }, end, others: servedBy(ends) }
    })
  })

const conclude = (
  deps: Deps,
  work: Work,
  conversation: Conversation,
  ends: ReadonlyArray<MemberEnd>
): Effect.Effect<Answered> => {
  const target = ends[0]?.member[0]
  if (work.exchange.reply.isClosed() && target !== undefined) {
    const end: FailoverEnd = {
      _tag: "Answered",
      target,
      result: { _tag: "Aborted", report: null, firstContentMs: null }
    }
    return Effect.succeed({ work, end, others: servedBy(ends) })
  }
  const answers = ends.flatMap(({ answer }) => answer ?? [])
  if (answers.length > 1) return judge(deps, work, conversation, ends, answers)
  const only = ends.find(hasAnswer)
  if (only?.answer != null && only.end._tag === "Answered") {
    const { answer, end, trail } = only
    work.trail.asked(trail)
    const reason: Reason = { _tag: "OnlyAnswer", members: ends.length }
    const decision = { ...work.decision, reason }
    const result = directAnswer(work, answer, context(deps, work, end.target))
    const others = servedBy(ends.filter((other) => other !== only))
    return Effect.succeed({ work: { ...work, decision }, end: { ...end, result }, others })
  }
  const end = noPanelAnswer(ends)
  return end === null ? alone(deps, work) : Effect.succeed({ work, end, others: servedBy(ends) })
}

const alone = ({ failover }: Deps, work: Work): Effect.Effect<Answered> =>
  Effect.map(failover.run(work), (end) => ({ work, end, others: [] }))

const fuse = (deps: Deps, work: Work): Effect.Effect<Answered> =>
  Effect.suspend(() => {
    const usable = new Set(work.decision.order)
    // In the combo's own order, also where a session would have preferred another: the first is the judge.
    const members = membersOf(work.resolution, (target) => usable.has(target))
    const target = members[0]?.[0]
    // A panel of one is an ordinary request.
    if (members.length < 2 || target === undefined) return alone(deps, work)
    const conversation = work.conversation()
    if (Either.isLeft(conversation)) {
      return Effect.succeed({ work, end: notTranslatable(target, conversation.left.message), others: [] })
    }
    return Effect.flatMap(askPanel(deps, work, members, conversation.right), (ends) =>
      conclude(deps, work, conversation.right, ends)
    )
  })

export const make = Effect.map(services, (deps) =>
  Fusion.of({ concerns: isFusion, around: (next) => (work) => (isFusion(work) ? fuse(deps, work) : next(work)) })
)

export const layer: Layer.Layer<Fusion, never, Effect.Effect.Context<typeof services>> = Layer.effect(Fusion, make)
