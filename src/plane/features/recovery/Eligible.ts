/**
 * Decides for which requests and failures mid-stream recovery is used (flag `STREAM_RECOVERY_MIDSTREAM_ENABLED`). Pure.
 */
import * as Either from "effect/Either"
import type { FailureKind } from "../../resilience/failure/FailureKind.ts"
import type { Conversation } from "../../../wire/canonical/Conversation.ts"
import type { Work } from "../../request/Exchange.ts"

/** Members of a request behind which is what we do not have: a part of the conversation, or an answer that is no text. */
const elsewhere = ["previous_response_id", "conversation", "background", "cachedContent", "modalities", "audio"]

const isPlain = ({ outputFormat, sampling }: Conversation): boolean =>
  outputFormat === null && sampling.logprobs !== true && sampling.topLogprobs === undefined

/**
 * An answer of one text, which may be put together of two: no schema, no JSON, no log probabilities, no further candidates, no part of
 * the conversation kept by an upstream. The judge of a fusion answers for a panel and is not replaced.
 */
export const mayContinue = ({ conversation, decision, envelope, exchange, parsed }: Work): boolean => {
  // Pictures have no text that another model could go on with.
  if (exchange.codec.endpoint !== undefined) return false
  if (!envelope.stream || envelope.candidates > 1 || envelope.wantsSchema || decision.strategy === "fusion")
    return false
  if (elsewhere.some((member) => (parsed[member] ?? null) !== null)) return false
  // A stored prompt of the responses wire; the text completion's prompt is its question.
  if (exchange.wire === "responses" && (parsed["prompt"] ?? null) !== null) return false
  return Either.match(conversation(), { onLeft: () => false, onRight: isPlain })
}

/**
 * The upstream, the connection to it or its account failed. A request that was refused for its content, or ended in
 * order, is not sent elsewhere.
 */
const cuts: ReadonlySet<FailureKind> = new Set<FailureKind>([
  "transient",
  "capacity",
  "rate_limit",
  "quota_exhausted",
  "credits_exhausted",
  "auth_refreshable",
  "auth_expired",
  "truncated",
  "malformed",
  "idle_timeout",
  "network"
])

export const isCut = (kind: FailureKind): boolean => cuts.has(kind)
