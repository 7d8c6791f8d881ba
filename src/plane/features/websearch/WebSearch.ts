/**
 * The web search bridge (`docs/web-search.md`): a client's wish that its provider searches the web is put to targets with a search of their own in
 * their own form, and made by the gateway for the others, where a provider of searches is connected. On by default (`webSearch.bridge` of
 * `/api/settings`).
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { innerProblemOf } from "../../../subjects/auth/KeyPolicy.ts"
import { errorView } from "../../../contract/domain/Errors.ts"
import { GatewaySettings } from "../../../subjects/flags/StoredFlags.ts"
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import type { Target } from "../../routing/resolve/ModelResolver.ts"
import * as Resolutions from "../../routing/resolve/Resolutions.ts"
import { targetKeyOf } from "../../routing/resolve/TargetKey.ts"
import type { Conversation, ToolCallPart } from "../../../wire/canonical/Conversation.ts"
import { isSearchForced, withoutSearchChoice } from "../../../wire/canonical/OwnSearch.ts"
import {
  unsaid,
  asksForWebSearch,
  webSearchAsk,
  type WebSearchAsk,
  withoutWebSearch
} from "../../../wire/canonical/WebSearchAsk.ts"
import { codecs } from "../../../wire/Codec.ts"
import { type AttemptResult, ownFailure } from "../../attempt/AttemptResult.ts"
import { Failover } from "../../failover/Failover.ts"
import { answered, type RequestEnd } from "../../failover/FailoverEnd.ts"
import { wrapped } from "../../reply/Wrapped.ts"
import { noReport } from "../../request/AnswerReport.ts"
import type { ClientReply, Work } from "../../request/Exchange.ts"
import { Opening } from "../../request/Opening.ts"
import { ModelSearches } from "../../request/ModelSearches.ts"
import type { SearchPlan } from "../../request/SearchPlan.ts"
import type { Served } from "../../settle/Bill.ts"
import type { Answer, Answered, Feature } from "../Feature.ts"
import { makeSearchCalls, type Searched } from "./SearchCalls.ts"
import { type Part, Session } from "./Session.ts"
import { outlineOf } from "../../../wire/json/outline/Outline.ts"
import { freeName, functionTool, queryOf, searchLimit, type SearchOutcome } from "./SearchTool.ts"

export class WebSearch extends Context.Tag("gateway/plane/features/websearch/WebSearch")<WebSearch, Feature>() {}

type Completed = Extract<AttemptResult, { _tag: "Completed" }>
type Outcomes = ReadonlyArray<readonly [call: ToolCallPart, outcome: SearchOutcome]>

/** State that all calls for one answer share. */
interface Bridge {
  readonly work: Work
  readonly ask: WebSearchAsk
  readonly isForced: boolean
  readonly session: Session
  /** Conversation of the first call, with the function in the place of the client's tool. */
  readonly question: Conversation
  readonly reply: ClientReply
  readonly hasHead: () => boolean
}

/** Calls of the model beyond its searches: one to answer, and one that is told that there are no more. */
const furtherCalls = 2

const nothing = (): void => {}

/** Statuses of endpoints that do not take a tool. */
const refusals: ReadonlySet<number> = new Set([400, 404, 422])
/** Targets that are known to refuse; beyond it the one that was asked longest ago is forgotten. */
const mostRefusing = 1_000

/** Only conversations whose whole answer is made while the client waits. */
const mayBeRun = ({ envelope, exchange, parsed }: Work): boolean =>
  envelope.candidates === 1 && exchange.job === undefined && parsed["background"] !== true

/** The request with another conversation, written for each target. */
const asking = (work: Work, question: Conversation): Work => {
  const { body: parsed } = codecs[work.exchange.wire].encodeRequest(question, {
    model: work.envelope.model,
    stream: question.stream,
    maxOutputTokens: null,
    reasoning: null
  })
  return {
    ...work,
    remembered: work.remembered ?? work.parsed,
    parsed,
    body: Buffer.from(JSON.stringify(parsed)),
    conversation: () => Either.right(question),
    envelope: { ...work.envelope, needsRewrite: true, hasTools: true }
  }
}

/** The client's question, with a function of the gateway in the place of the tool of its provider. */
const questionOf = (conversation: Conversation, ask: WebSearchAsk, isForced: boolean, name: string): Conversation => {
  const bare = withoutWebSearch(withoutSearchChoice(conversation, ask))
  return {
    ...bare,
    tools: [...bare.tools, functionTool(ask, name)],
    toolChoice: isForced ? { type: "tool", name } : bare.toolChoice,
    bent: [...(bare.bent ?? []), ask.field],
    leftOut: [...(bare.leftOut ?? []), ...unsaid(conversation.wire, ask, [])]
  }
}

/** Removes the forced search from later calls, so that a model which has searched is not made to search again. */
const goingOn = (bridge: Bridge, messages: Conversation["messages"]): Conversation => {
  const { question } = bridge
  const choice = question.toolChoice
  const isDemand = choice?.type === "required" || (choice?.type === "allowed" && choice.mode === "required")
  return { ...question, messages, toolChoice: bridge.isForced || isDemand ? null : choice }
}

const nothingSaid: Part = { parts: [], searches: [], callsClient: false }

/** An answer begins with the first of its calls. */
const since = (end: RequestEnd, first: { readonly firstContentMs: number | null } | null): RequestEnd =>
  first === null || end._tag !== "Answered"
    ? end
    : { ...end, result: { ...end.result, firstContentMs: first.firstContentMs } }

const services = Effect.all({
  modelSearches: ModelSearches,
  failover: Failover,
  opening: Opening,
  settings: GatewaySettings,
  resolutions: Resolutions.Resolutions
})
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly isAllowed: ({ exchange: { principal } }: Work, ask: WebSearchAsk) => boolean
  readonly search: (work: Work, ask: WebSearchAsk, query: string) => Effect.Effect<Searched>
  readonly refusing: LruMap<string, true>
}

/** A panel answers without tools. */
const concerns = ({ settings }: Deps, { decision, envelope, exchange, parsed }: Work): boolean =>
  (envelope.hasTools || parsed["web_search_options"] !== undefined) &&
  exchange.codec.endpoint === undefined &&
  decision.strategy !== "fusion" &&
  settings.current().webSearch.bridge &&
  asksForWebSearch(exchange.wire, outlineOf(parsed))

const maySearch = ({ isAllowed }: Deps, work: Work, ask: WebSearchAsk): boolean => {
  const { principal, receivedMs } = work.exchange
  if (principal._tag !== "Key") return true
  return innerProblemOf(principal.key, receivedMs, "search") === null && isAllowed(work, ask)
}

/** The searches that a model has called for, one after the other. */
const searched = (
  { search }: Deps,
  { ask, work }: Bridge,
  { searches }: Part,
  left: number,
  others: Array<Served>
): Effect.Effect<Outcomes> => {
  let made = 0
  return Effect.forEach(searches, (call) => {
    const query = queryOf(call.args)
    const outcome = (error: SearchOutcome["error"]): Outcomes[number] => [call, { query: query ?? "", hits: [], error }]
    if (query === null) return Effect.succeed(outcome("invalid_tool_input"))
    if (made >= left) return Effect.succeed(outcome("max_uses_exceeded"))
    if (work.exchange.reply.isClosed()) return Effect.succeed(outcome("unavailable"))
    made += 1
    return Effect.map(search(work, ask, query), ({ outcome: found, served }): Outcomes[number] => {
      if (served !== null) others.push(served)
      return [call, found]
    })
  })
}

/** The client has a part of a stream: what ends it is told there. */
const brokenOff = ({ reply, work }: Bridge, end: RequestEnd, target: Target): RequestEnd => {
  if (end._tag === "Answered") return end
  const failure =
    end._tag === "Failed"
      ? ownFailure(end.failure.status, end.failure.reason, end.failure.message)
      : ownFailure(503, "unavailable", "No model could go on with the answer.")
  if (reply.isClosed()) return answered(target, { _tag: "Aborted", report: noReport, firstContentMs: null })
  const { codec, requestId } = work.exchange
  const ending = codec.renderStreamError(errorView(failure.status, failure.message), requestId)
  return answered(target, { _tag: "Broken", ending, failure, report: noReport, firstContentMs: null })
}

/** The answer as it stands is given, because the client's own tools are next, or the model only searches. */
const concluded = ({ hasHead, session, work }: Bridge, result: Completed, callsClient: boolean): Completed => {
  const stop = callsClient ? session.stop() : ({ reason: "stop", raw: "stop", sequence: null } as const)
  return work.envelope.stream
    ? { ...result, form: hasHead() ? "relayed" : "replayed", body: session.endStream(stop) }
    : { ...result, body: JSON.stringify(session.endWhole(stop)) }
}

/** The end of the request, where the latest call has answered, or no call has. Null: it wants something to be searched. */
const finished = (bridge: Bridge, end: RequestEnd, before: Target | null): RequestEnd | null => {
  const { hasHead, session, work } = bridge
  if (end._tag !== "Answered") return before !== null && hasHead() ? brokenOff(bridge, end, before) : end
  const { result } = end
  if (result._tag !== "Completed") return end
  const part = session.part()
  if (part !== null && part.searches.length > 0) return null
  return work.envelope.stream && hasHead() ? { ...end, result: { ...result, form: "relayed" } } : end
}

const run = (deps: Deps, bridge: Bridge, next: Answer, plan: SearchPlan<Work>): Effect.Effect<Answered> =>
  Effect.gen(function* () {
    const { ask, hasHead, reply, session, work } = bridge
    const isStream = work.envelope.stream
    const others: Array<Served> = []
    const messages = [...bridge.question.messages]
    let asked: Work = { ...work, exchange: { ...work.exchange, reply }, webSearch: plan }
    let left = searchLimit(ask)
    let calls = left + furtherCalls
    let before: { readonly target: Target; readonly firstContentMs: number | null } | null = null

    for (;;) {
      const whole: Answered = yield* next(asked)
      others.push(...whole.others)
      const end = finished(bridge, whole.end, before?.target ?? null)
      if (end !== null) return { ...whole, work, end: since(end, before), others }
      if (whole.end._tag !== "Answered" || whole.end.result._tag !== "Completed") return { ...whole, work, others }
      const { result, target } = whole.end
      const part = session.part() ?? nothingSaid
      const flush = (): void => {
        if (isStream && hasHead()) reply.write(session.release())
      }
      session.take(isStream ? result.body.toString() : "")
      flush()
      const outcomes = yield* searched(deps, bridge, part, left, others)
      left -= outcomes.filter(([, { error }]) => error === null || error === "unavailable").length
      session.tell(outcomes)
      flush()
      calls -= 1
      if (part.callsClient || calls <= 0) {
        const last = answered(target, concluded(bridge, result, part.callsClient))
        return { ...whole, work, end: since(last, before), others }
      }
      others.push({ target, report: result.report, firstContentMs: result.firstContentMs })
      before ??= { target, firstContentMs: result.firstContentMs }
      messages.push(...session.turns(part, outcomes))
      asked = goneOn(bridge, asked, plan, target, [...messages])
    }
  })

/** Returns the next call, which goes to the target that has answered before others. */
const goneOn = (
  bridge: Bridge,
  asked: Work,
  plan: SearchPlan<Work>,
  target: Target,
  messages: Conversation["messages"]
): Work => {
  const latest = targetKeyOf(target)
  const { decision } = bridge.work
  const question = goingOn(bridge, messages)
  return {
    ...asking(asked, question),
    decision: { ...decision, order: [target, ...decision.order.filter((each) => targetKeyOf(each) !== latest)] },
    webSearch: planFor(bridge, plan, question, true)
  }
}

/** Returns the request for targets that do not search. */
const planFor = (
  { session }: Bridge,
  plan: SearchPlan<Work>,
  question: Conversation,
  goesOn: boolean
): SearchPlan<Work> => ({
  ...plan,
  goesOn,
  passed: () => session.passed(),
  left: (work) => {
    const { decodeRequest } = codecs[work.exchange.wire]
    const own = goesOn ? work : asking(work, question)
    return { ...own, exchange: { ...own.exchange, codec: session.codec({ decodeRequest }) } }
  }
})

/** Offered to targets alone. One that was only taken to search by its name, and refuses, is asked without. */
const offered = ({ refusing }: Deps, work: Work, next: Answer, plan: SearchPlan<Work>): Effect.Effect<Answered> => {
  let guessed: Target | null = null
  const passed: SearchPlan<Work>["passed"] = (target, isGuess) => {
    guessed = isGuess ? target : null
  }
  return Effect.flatMap(next({ ...work, webSearch: { ...plan, passed } }), (first) => {
    const { end } = first
    if (guessed === null || end._tag !== "Failed" || !refusals.has(end.failure.status)) return Effect.succeed(first)
    const key = targetKeyOf(guessed)
    const hasRefused = (target: Target): boolean => targetKeyOf(target) === key || plan.hasRefused(target)
    return Effect.map(next({ ...work, webSearch: { ...plan, hasRefused } }), (second) => {
      if (second.end._tag === "Answered") refusing.set(key, true)
      return { ...second, others: [...first.others, ...second.others] }
    })
  })
}

const bridged = (deps: Deps, work: Work, next: Answer): Effect.Effect<Answered> =>
  Effect.suspend(() => {
    const conversation = work.conversation()
    const ask = Either.isRight(conversation) ? webSearchAsk(conversation.right) : null
    if (Either.isLeft(conversation) || ask === null) return next(work)
    const isForced = isSearchForced(conversation.right, ask)
    const plan: SearchPlan<Work> = {
      hasFunctions: conversation.right.tools.some(({ type }) => type !== "builtin"),
      isForced,
      isRun: deps.modelSearches.isReady() && mayBeRun(work) && maySearch(deps, work, ask),
      goesOn: false,
      hasRefused: (target) => deps.refusing.get(targetKeyOf(target)) === true,
      left: (asked) => asked,
      passed: nothing
    }
    if (!plan.isRun) return offered(deps, work, next, plan)
    const names = new Set(conversation.right.tools.flatMap((tool) => (tool.type === "builtin" ? [] : tool.name)))
    const name = freeName(names)
    let isHeadSent = false
    const { reply } = work.exchange
    const bridge: Bridge = {
      work,
      ask,
      isForced,
      session: new Session(work.exchange.codec, name),
      question: questionOf(conversation.right, ask, isForced, name),
      hasHead: () => isHeadSent,
      reply: wrapped(reply, {
        head: (status, headers) => {
          if (isHeadSent) return
          isHeadSent = true
          reply.head(status, headers)
        },
        write: (chunk) => chunk.length === 0 || reply.write(chunk)
      })
    }
    return run(deps, bridge, next, planFor(bridge, plan, bridge.question, false))
  })

export const make = Effect.gen(function* () {
  const all = yield* services
  const { isAllowed, search } = makeSearchCalls(all.opening, all.failover, all.modelSearches, all.resolutions)

  const deps: Deps = { ...all, isAllowed, search, refusing: new LruMap<string, true>({ capacity: mostRefusing }) }

  return WebSearch.of({
    concerns: (work) => concerns(deps, work),
    around: (next) => (work) => (concerns(deps, work) ? bridged(deps, work, next) : next(work))
  })
})

export const layer: Layer.Layer<WebSearch, never, Effect.Effect.Context<typeof services>> = Layer.effect(
  WebSearch,
  make
)
