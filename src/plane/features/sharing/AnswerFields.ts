/**
 * Everything besides the body that changes the answer of a request: the one list for answers that are kept and for calls that are shared. Pure.
 */
import type { RequestHeaders } from "../../../subjects/auth/Credentials.ts"
import { targetKeyOf } from "../../routing/resolve/TargetKey.ts"
import type { Resolution } from "../../routing/resolve/ModelResolver.ts"
import type { Work } from "../../request/Exchange.ts"

/** Headers that the gateway or an upstream of the client's wire reads. */
const isRead = /^(?:x-gateway-|anthropic-|openai-)/

/**
 * Headers that change the form of an answer and not its content. The session has a field of its own; remembered text is in the body, or is not.
 */
const ofTheForm: ReadonlySet<string> = new Set([
  "x-gateway-cache-tools",
  "x-gateway-no-cache",
  "x-gateway-no-memory",
  "x-gateway-progress",
  "x-gateway-session-id"
])

/** Lists the headers that change an answer, in the order of their names. */
const headersThatChange = (headers: RequestHeaders): ReadonlyArray<readonly [string, unknown]> =>
  Object.entries(headers)
    .filter(([name]) => isRead.test(name) && !ofTheForm.has(name))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))

const known = new WeakMap<Resolution, string>()

/** Writes the targets that the model id stands for now. */
const targetsOf = (resolution: Resolution): string => {
  const before = known.get(resolution)
  if (before !== undefined) return before
  const text = resolution.targets.map((target) => `${target.account.spec.id} ${targetKeyOf(target)}`).join("\n")
  known.set(resolution, text)
  return text
}

/** Parts of a request that its answer depends on. */
export type AnswerWork = Pick<
  Work,
  "asked" | "envelope" | "exchange" | "outputCap" | "owner" | "resolution" | "thinking"
>

/** Writes the fields as JSON: two requests that differ in any of them have different texts. */
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
