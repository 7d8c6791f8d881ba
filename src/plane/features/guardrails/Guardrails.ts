/**
 * Guardrails (`docs/guardrails.md`): hidden characters, attempts to take over the model, and personal data, in requests and in answers. They act on
 * conversations, also on those that the gateway asks for in a caller's name. Where one fails, the request is refused in the mode `block`, and goes on
 * with a mark in its header elsewhere.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { GuardrailBlocked } from "../../../contract/domain/Errors.ts"
import { Flags } from "../../../subjects/flags/service.ts"
import { GatewaySettings } from "../../../subjects/flags/StoredFlags.ts"
import { Timers } from "../../../platform/Timers.ts"
import { Slices } from "../../resilience/Slices.ts"
import type { Work } from "../../request/Exchange.ts"
import { rewritten } from "../../request/RewrittenWork.ts"
import type { Answer, Answered, Feature } from "../Feature.ts"
import type { AnswerFacts } from "./answers/AnswerGuard.ts"
import { answerGuarded } from "./answers/answerGuarded.ts"
import { headerName } from "./answers/GuardedReply.ts"
import { GuardrailDecisions } from "./Decisions.ts"
import * as Detection from "./Detection.ts"
import { type Active, activeFor, concerns } from "./Policy.ts"
import { checkLarge, isForThread } from "./checkLarge.ts"
import { type Checked, checkRequest } from "./requests/checkRequest.ts"
import { makeGuardThread } from "./thread/GuardThread.ts"
import { offerOf } from "./ToolPolicy.ts"

export class Guardrails extends Context.Tag("gateway/plane/features/guardrails/Guardrails")<Guardrails, Feature>() {}

/** Writes the value of `X-Gateway-Guardrail`; null where there is nothing to report. */
const headerValue = (
  { hasFailed, injection, isPartlyScanned, redacted }: Checked,
  tools: string | null,
  { answers }: Active,
  { found, schema }: AnswerFacts
): string | null => {
  const marks = [
    ...(injection === null ? [] : [`injection=${injection}`]),
    ...(redacted + found === 0 ? [] : [`pii=${redacted === 0 ? (answers ?? "redact") : "redact"}:${redacted + found}`]),
    ...(tools === null ? [] : [`tools=${tools}`]),
    ...(schema === null ? [] : [`schema=${schema}`]),
    ...(isPartlyScanned ? ["injection=unchecked"] : []),
    ...(hasFailed ? ["request=unchecked"] : [])
  ]
  return marks.length === 0 ? null : marks.join(", ")
}

const ofRequest: AnswerFacts = { found: 0, schema: null }

const forbidden = (tools: ReadonlyArray<string>): GuardrailBlocked =>
  new GuardrailBlocked({
    code: "SECURITY_001",
    message: `The request offers tools that this gateway does not allow (toolPolicy of /api/settings/guardrails): ${tools.length}.`
  })

const refused = (work: Work, error: GuardrailBlocked): Answered => ({
  work,
  end: { _tag: "Refused", error },
  others: []
})

export const make = Effect.gen(function* () {
  const flags = yield* Flags
  const settings = yield* GatewaySettings
  const decisions = yield* GuardrailDecisions
  const slices = yield* Slices
  const timers = yield* Timers
  const thread = yield* makeGuardThread()
  const detection = Detection.make(settings.access.guardrails.current)

  const answeredFor = Effect.fnUntraced(function* (asked: Work, next: Answer) {
    const rules = settings.access.guardrails.current()
    const active = activeFor(flags, rules, asked)
    const loadable = yield* Effect.catchAllDefect(detection, () => Effect.succeed(null))
    const checked =
      loadable !== null && isForThread(asked, active, loadable)
        ? yield* checkLarge(asked, active, rules, loadable, { thread, slices, decided: decisions.count })
        : yield* checkRequest(asked.exchange.wire, asked.parsed, active, detection, decisions.count)
    if (checked.blocked !== null) return refused(asked, checked.blocked)
    const { detection: loaded } = checked
    const { tools } = active
    const offer = tools === null ? null : offerOf(asked.exchange.wire, checked.parsed, tools.mayUse)
    const isForbidden = offer !== null && offer.refused.length > 0
    if (isForbidden && tools !== null) {
      decisions.count("tool-policy", tools.action)
      if (tools.action === "block") return refused(asked, forbidden(offer.refused))
    }
    const toolMark = isForbidden && tools !== null ? `${tools.action}:${offer.refused.length}` : null
    // In the mode `warn` all that is offered may be called.
    const enforced = tools?.action === "warn" ? null : offer
    const body = enforced?.body ?? checked.parsed
    const work =
      body === asked.parsed ? asked : rewritten(asked, body, body === checked.parsed ? checked.bytes : undefined)
    const header = (facts: AnswerFacts) => headerValue(checked, toolMark, active, facts)
    if (active.answers === null && enforced === null && !active.structured.check) {
      const value = header(ofRequest)
      if (value !== null) work.trail.addHeader(headerName, value)
      return yield* next(work)
    }
    if (active.answers !== null && loaded === null) decisions.count("answer", "unread")
    return yield* answerGuarded(next, work, {
      texts:
        active.answers === null || loaded === null
          ? null
          : { guard: loaded.texts, mode: active.answers, mostChars: Detection.mostAnswerChars(loaded) },
      later: timers.soon,
      mayCall: enforced === null ? null : (name) => enforced.offered.has(name),
      structured: active.structured,
      header,
      decided: decisions.count
    })
  })

  const isConcerned = (work: Work): boolean => concerns(flags, settings.access.guardrails.current(), work)

  return Guardrails.of({
    concerns: isConcerned,
    around: (next) => (work) => (isConcerned(work) ? answeredFor(work, next) : next(work))
  })
})

export const layer: Layer.Layer<Guardrails, never, Flags | GatewaySettings | GuardrailDecisions | Slices | Timers> =
  Layer.scoped(Guardrails, make)
