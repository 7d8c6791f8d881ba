/** Facts of an exchange from the capturing parts. */
import type { CaptureSource, DetectedKind, Head, RecordStatus } from "../../contract/domain/TrafficRecord.ts"
import type { TokenCounts } from "../../contract/domain/Usage.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import type { HeaderInput } from "./Headers.ts"

/** Facts at the beginning of an exchange. An absent one is null or unknown. */
export interface RecordStart {
  /** Absent: a new one. */
  readonly id?: string
  readonly source: CaptureSource
  readonly method: string
  readonly scheme: Head["scheme"]
  readonly host: string
  /** Path with its query. */
  readonly path: string
  /** Version, such as `HTTP/1.1`. */
  readonly httpVersion?: string | null
  readonly headers: HeaderInput
  /** Body as it was on the wire, its beginning at least. */
  readonly body?: Uint8Array | null
  /** Size on the wire; absent: that of `body`. */
  readonly bodySize?: number
  /** Bodies are all there is, whatever their sizes on the wire: they were decoded before. */
  readonly areBodiesWhole?: boolean
  readonly agent?: string | null
  /** Epoch milliseconds; absent: now. */
  readonly atMs?: number
  /** Kind for custom hosts, where it is set; absent: it is detected. */
  readonly kind?: DetectedKind
  readonly sourceModel?: string | null
  readonly mappedModel?: string | null
  readonly provider?: string | null
  readonly gatewayRequestId?: string | null
  readonly replayOf?: string | null
  readonly note?: string | null
}

/** Facts that became known since; an absent one stays as it is. */
export interface RecordUpdate {
  readonly requestBody?: Uint8Array
  readonly requestSize?: number
  /** The head of the answer has come. */
  readonly responseHeaders?: HeaderInput
  readonly agent?: string | null
  readonly sourceModel?: string | null
  readonly mappedModel?: string | null
  readonly provider?: string | null
  readonly gatewayRequestId?: string | null
  readonly decision?: unknown
  readonly note?: string | null
  readonly pid?: number | null
  readonly processName?: string | null
}

export interface RecordEnd extends RecordUpdate {
  /** `error`: no answer came, or not all of it. */
  readonly status: RecordStatus
  readonly responseBody?: Uint8Array | null
  readonly responseSize?: number
  /** Reason for which there is no answer: a code or a sentence. */
  readonly error?: string | null
  readonly ttftMs?: number | null
  readonly proxyLatencyMs?: number | null
  readonly upstreamLatencyMs?: number | null
  readonly totalLatencyMs?: number | null
  /** The decision, put together when it is read; where there is no `decision`. */
  readonly decisionLater?: () => unknown
  /** Bytes that it takes in memory then. */
  readonly decisionBytes?: number
  /** Tokens as the upstream reported them, where the client's answer need not have them; absent: as in the answer. */
  readonly usage?: TokenCounts
}

/** The call to a provider behind an exchange. Only the one who made it knows this. */
export interface CallFacts {
  readonly provider: string
  /** The model that was called. */
  readonly model: string
  /** Names the account, in a form that may be shown. */
  readonly account: string | null
  /** Wire of `body`. */
  readonly wire: WireName
  /** JSON as it went to the provider; null: the client's own. */
  readonly body: Uint8Array | string | null
}
