/**
 * Relays an answer that is no text (sound, pictures, videos) as it comes, never as a whole in memory. The target is fixed with its
 * first byte; an answer that is cut is cut for the client, too, so that half a file does not look like a whole one.
 */
import type { AnswerReport } from "../request/AnswerReport.ts"
import type { Usage } from "../../wire/canonical/Usage.ts"
import { noReport } from "../request/AnswerReport.ts"
import type { ClientReply } from "../request/Exchange.ts"
import { type AttemptFailure, type AttemptResult, type BodyReader, failed, ownFailure } from "./AttemptResult.ts"

export interface MediaReaderOptions {
  readonly reply: Pick<ClientReply, "write">
  /** Usage by which the request is billed. */
  readonly usage: Usage | null
  readonly dropped: ReadonlyArray<string>
  /** The largest answer. */
  readonly maxBytes: number
  /** Length that the upstream reports; null where it reports none. */
  readonly length: string | null
  readonly monotonicMs: () => number
  /** Sends the head: from here on the target is fixed. */
  readonly commit: () => void
  /** Bytes have come. */
  readonly alive: () => void
  /** Ends the call when the body exceeds the limit. */
  readonly exceeded: (failure: AttemptFailure) => void
}

const empty = ownFailure(502, "empty_answer", "The upstream's answer is empty.")

const tooLarge = (maxBytes: number): AttemptFailure =>
  ownFailure(502, "answer_too_large", `The upstream's answer is larger than ${maxBytes / 1_048_576} MiB.`)

export const mediaReader = (options: MediaReaderOptions): BodyReader => {
  const { dropped, maxBytes, monotonicMs, reply, usage } = options
  let firstMs: number | null = null
  let bytes = 0
  const report = (): AnswerReport => (firstMs === null ? noReport : { ...noReport, usage })

  return {
    data: (chunk) => {
      if (chunk.length === 0) return true
      bytes += chunk.length
      if (bytes > maxBytes || Number(options.length ?? 0) > maxBytes) {
        options.exceeded(tooLarge(maxBytes))
        return true
      }
      if (firstMs === null) {
        firstMs = monotonicMs()
        options.commit()
      }
      options.alive()
      return reply.write(chunk)
    },
    end: (): AttemptResult =>
      firstMs === null
        ? failed(empty)
        : { _tag: "Completed", form: "relayed", body: "", report: report(), firstContentMs: firstMs, dropped },
    broken: (failure: AttemptFailure): AttemptResult =>
      firstMs === null
        ? failed(failure)
        : { _tag: "Broken", ending: null, failure, report: report(), firstContentMs: firstMs },
    report,
    release: () => {},
    firstContentMs: () => firstMs
  }
}
