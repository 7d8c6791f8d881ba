/** Watches one request that is recorded. Most have none: all callers use `?.`. */
import type { UsageRow } from "../../contract/domain/Usage.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import type { BodySource } from "../../net/egress/BodySource.ts"

/** Call as it was sent to a target. */
export interface TappedCall {
  /** Wire of the body. */
  readonly wire: WireName
  readonly provider: string
  readonly connectionId: string
  readonly model: string
  readonly body: Buffer | string | BodySource | null
  /** True when it is the client's own but for the model's name. */
  readonly isClients: boolean
}

export interface ExchangeTap {
  /** Hot: the body, where it comes after the exchange has begun. */
  readonly received: (body: Buffer) => void
  /** Hot: a call to a target begins. */
  readonly sent: (call: TappedCall) => void
  /**
   * Hot: called when it is over, and its decision is recorded; the last byte for the client follows, if it is still
   * there.
   */
  readonly settled: (row: UsageRow) => void
}
