/**
 * Everything besides the body that changes the answer of a request: the one list for answers that are kept and for calls that are shared. Pure.
 */
import type { RequestHeaders } from "../../../auth/Credentials.ts"
import { targetKeyOf } from "../../../routing/resolve/TargetKey.ts"
import type { Resolution } from "../../../routing/resolve/ModelResolver.ts"
import type { Work } from "../../request/Exchange.ts"

/** Headers that the gateway or an upstream of the client's wire reads. */
const isRead = /^(?:x-gateway-|anthropic-|openai-)/

/**
 * Of those, what says how an answer is given and not what it says. The session has a field of its own; what is remembered stands in the body, or
 * does not.
 */
const ofTheForm: ReadonlySet<string> = new Set([
  "x-gateway-cache-tools",
  "x-gateway-no-cache",
  "x-gateway-no-memory",
  "x-gateway-progress",
  "x-gateway-session-id"
])

/** In the order of their names. */
const headersThatChange = (headers: RequestHeaders): ReadonlyArray<readonly [string, unknown]> =>
  Object.entries(headers)
    .filter(([name]) => isRead.test(name) && !ofTheForm.has(name))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))

const known = new WeakMap<Resolution, string>()

/** What the model id stands for now. */
const targetsOf = (resolution: Resolution): string => {
  const before = known.get(resolution)
  if (before !== undefined) return before
  const text = resolution.targets.map((target) => `${target.account.spec.id} ${targetKeyOf(target)}`).join("\n")
  known.set(resolution, text)
  return text
}

/** What is read of a request. */
export type AnswerWork = Pick<
  Work,
  "asked" | "envelope" | "exchange" | "outputCap" | "owner" | "resolution" | "thinking"
>

/** As JSON: two requests that differ in any of the fields have different texts. */
export const answerFields = ({
  asked,
  envelope,
  exchange,
  outputCap,
  owner,
  resolution,
  thinking
}: AnswerWork): string =>
  JSON.stringify([
    owner,
    exchange.wire,
    envelope.model,
    targetsOf(resolution),
    headersThatChange(exchange.headers),
    outputCap,
    thinking ?? null,
    // Repeated by the answer. The conversation that it names is in the body.
    asked["previous_response_id"] ?? null
  ])
