/** An exchange on its way from the first report to the record in the ring. */
import type { RecordStart, RecordUpdate, RecordEnd, CallFacts } from "./CapturedFacts.ts"
import type { RecordHeaders, DetectedKind } from "../../contract/domain/TrafficRecord.ts"
import type { RequestFacts } from "./reading/Llm.ts"
import type { Shape } from "./HeadOf.ts"
import type { CapturedBody } from "./Bodies.ts"

export interface Pending {
  readonly id: string
  /** Start without its body. */
  readonly start: RecordStart
  readonly startedAtMs: number
  /** Headers of the request, once they were needed here. */
  headers: RecordHeaders | null
  readonly sessionId: string | null
  update: RecordUpdate
  end: RecordEnd | null
  requestBody: Uint8Array | null
  requestSize: number
  /** Bodies that had to be let go. */
  isShort: boolean
  /** Bytes that are accounted for it. */
  bytes: number
  isListed: boolean
  isRequestRead: boolean
  kind: DetectedKind | null
  contextKey: string | null
  promptKey: string | null
  facts: RequestFacts | null
  /** Form in which the request's body is shown, which itself is in the ring; null until it was read. */
  shape: Shape | null
  /** The call behind it; null: it is not known. */
  sent: CallFacts | null
  isQueued: boolean
  /** Time of queueing on the monotonic clock. */
  queuedAtMs: number
  /** The thread works on it. */
  isAway: boolean
  /** Time at which the thread's job was queued. */
  awaySinceMs: number
}

/** Begins an exchange without its body. */
export const pendingOf = ({
  id,
  sessionId,
  start,
  startedAtMs
}: Pick<Pending, "id" | "sessionId" | "start" | "startedAtMs">): Pending => ({
  id,
  start: { ...start, body: null },
  startedAtMs,
  headers: null,
  sessionId,
  update: {},
  end: null,
  requestBody: null,
  requestSize: start.bodySize ?? start.body?.byteLength ?? 0,
  isShort: false,
  bytes: 0,
  isListed: false,
  isRequestRead: false,
  kind: null,
  contextKey: null,
  promptKey: null,
  facts: null,
  shape: null,
  sent: null,
  isQueued: false,
  queuedAtMs: 0,
  isAway: false,
  awaySinceMs: 0
})

/** Makes the body of an exchange as the thread takes it; null: it has none. */
export const captured = (
  bytes: Uint8Array | null | undefined,
  size: number,
  headers: RecordHeaders
): CapturedBody | null =>
  bytes === null || bytes === undefined || bytes.byteLength === 0
    ? null
    : {
        bytes,
        size,
        contentEncoding: headers["content-encoding"] ?? "",
        contentType: headers["content-type"] ?? ""
      }
