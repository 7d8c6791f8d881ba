/** Facts of an answer for its bill: the reported usage, and character counts for an estimate. */
import type { Target } from "../routing/resolve/ModelResolver.ts"
import type { Stop } from "../../wire/canonical/Response.ts"
import type { Usage } from "../../wire/canonical/Usage.ts"
import type { StreamFacts } from "../../wire/WireCodec.ts"

export interface AnswerReport {
  readonly usage: Usage | null
  readonly stop: Stop | null
  readonly textChars: number
  readonly toolArgChars: number
  readonly reasoningChars: number
  /** `usage` is in part an estimate of ours. */
  readonly isEstimated?: true
  /** The answer is still made at its provider, and billed when it is over. */
  readonly isUnderWay?: true
  /** Bytes of the call's body; absent: as many as the request's. */
  readonly sentBytes?: number
}

export const noReport: AnswerReport = { usage: null, stop: null, textChars: 0, toolArgChars: 0, reasoningChars: 0 }

export const reportOf = (facts: StreamFacts): AnswerReport => ({
  usage: facts.usage,
  stop: facts.stop,
  textChars: facts.textChars,
  toolArgChars: facts.toolArgChars,
  reasoningChars: facts.reasoningChars
})

/** A part of an answer that another target went on with (mid-stream recovery). */
export interface EarlierPart {
  readonly target: Target
  readonly report: AnswerReport
  readonly firstContentMs: number | null
}
