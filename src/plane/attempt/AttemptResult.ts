/**
 * The result of one call to one target. Until the commit nothing has reached the client, so another target may follow a failure; after
 * it the answer is fixed. Phases: waiting (headers, then first content) → relaying → done.
 */
import type { TransportFailure } from "../../net/egress/TransportFailure.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import type { FailureSignal } from "../resilience/failure/Signal.ts"
import type { UpstreamProblem } from "../../wire/canonical/Event.ts"
import { uncarriedCodes } from "../../wire/canonical/Pictures.ts"
import { answerTooLarge, incompleteStream } from "../../wire/UpstreamError.ts"
import type { DeliveredPrefix } from "../request/DeliveredPrefix.ts"
import type { AnswerReport, EarlierPart } from "../request/AnswerReport.ts"

/** The upstream's own report of its failure. */
export interface UpstreamWords {
  /** The HTTP status of the answer. */
  readonly status: number
  readonly header: (name: string) => string | null
  readonly bodyText: string
  readonly problem: UpstreamProblem
  readonly wire: WireName
  /** Headers for a client of the same wire (`PassedHeaders`). */
  readonly passed: ReadonlyArray<string>
  /** Place of the report: behind an error status, in the body of a 200, in an event of a stream. */
  readonly place: FailureSignal["place"]
}

/** A failed attempt with its reason. */
export interface AttemptFailure {
  /** Status the failure counts as where the upstream said nothing. */
  readonly status: number
  /** Stable words: `refused`, `first_byte_timeout`, `empty_answer`, `not_offered`, … */
  readonly reason: string
  readonly message: string
  /** Null when the upstream did not put the failure into words. */
  readonly words: UpstreamWords | null
  /** Milliseconds until another try is worth it, where the gateway itself knows it. */
  readonly waitMs?: number | undefined
}

export type AttemptResult =
  /**
   * A complete answer. `body` is still to be sent: all of a `whole` answer or of one that is sent as a stream
   * (`replayed`), the end of a stream whose beginning the client has already (`relayed`).
   */
  | {
      readonly _tag: "Completed"
      readonly form: "whole" | "replayed" | "relayed"
      readonly body: Buffer | string
      /** Content type of a whole answer; absent: JSON. */
      readonly type?: string
      readonly report: AnswerReport
      readonly firstContentMs: number | null
      readonly dropped: ReadonlyArray<string>
      readonly mapped?: ReadonlyArray<string> | undefined
      /** Headers of the upstream for a client of its own wire. */
      readonly passed?: ReadonlyArray<string> | undefined
      readonly before?: ReadonlyArray<EarlierPart>
    }
  /**
   * The stream broke after its head had reached the client. `ending` reports that in the client's own wire; null: the wire cannot express
   * it, so that the stream is cut.
   */
  | {
      readonly _tag: "Broken"
      readonly ending: Buffer | string | null
      readonly failure: AttemptFailure
      readonly report: AnswerReport
      readonly firstContentMs: number | null
      /** Part of the answer that the client has; absent where no target may go on with it. */
      readonly sent?: DeliveredPrefix
      readonly before?: ReadonlyArray<EarlierPart>
    }
  /** The client left. No report: the upstream was not asked yet. */
  | {
      readonly _tag: "Aborted"
      readonly report: AnswerReport | null
      readonly firstContentMs: number | null
      readonly before?: ReadonlyArray<EarlierPart>
    }
  | { readonly _tag: "Failed"; readonly failure: AttemptFailure }

/** Takes an upstream's body piece by piece and comes to a result. */
export interface BodyReader {
  /** False pauses the upstream until the client can take more. */
  readonly data: (chunk: Buffer) => boolean
  /** The body is complete. */
  readonly end: () => AttemptResult
  /** More has come than is read: the rest need not come, and `end` says so. */
  readonly isTooLarge?: () => boolean
  /** The body will not be completed: the result, given why. */
  readonly broken: (failure: AttemptFailure) => AttemptResult
  readonly report: () => AnswerReport
  /** Releases bytes that are held back for caution only. */
  readonly release: () => void
  /** Monotonic milliseconds of the first content; null before it. */
  readonly firstContentMs: () => number | null
}

export const failed = (failure: AttemptFailure): AttemptResult => ({ _tag: "Failed", failure })

/** A failure that the upstream did not put into words itself. */
export const ownFailure = (status: number, reason: string, message: string): AttemptFailure => ({
  status,
  reason,
  message,
  words: null
})

const proxyReasons: Readonly<Partial<Record<TransportFailure["kind"], string>>> = {
  proxy: "PROXY_UNAVAILABLE",
  proxy_family: "PROXY_FAMILY_UNAVAILABLE"
}

/** No whole answer came. */
export const transportReason = ({ kind, message, statusClass }: TransportFailure): AttemptFailure => {
  const proxyReason = proxyReasons[kind]
  return proxyReason === undefined ? ownFailure(statusClass, kind, message) : ownFailure(503, proxyReason, message)
}

const noHeader = (): null => null

/** Makes the failure of an answer that began as a success. */
export const failureInAnswer = (
  problem: UpstreamProblem,
  place: "answer" | "stream",
  wire: WireName,
  bodyText = ""
): AttemptFailure => {
  const { code, message, status } = problem
  // Found by our own decoder.
  if (code === answerTooLarge) return ownFailure(status, answerTooLarge, message)
  // No failure of the upstream: the client's wire cannot say the answer.
  if (code !== null && uncarriedCodes.has(code)) return ownFailure(status, code, message)
  if (code === incompleteStream.code) return ownFailure(status, "truncated_stream", message)
  const reason = place === "answer" ? "error_in_200" : "error_in_stream"
  return {
    status,
    reason,
    message,
    words: { status: 200, header: noHeader, bodyText, problem, wire, passed: [], place }
  }
}
