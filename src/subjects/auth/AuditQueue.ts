/**
 * Rows of the audit log on their way to the table. It lives as long as the process: a request that restarts the service is recorded when it
 * is answered, by the service that runs then.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { AuditRow } from "../audit/entity.ts"

export interface AuditQueueState {
  /** The oldest first. */
  readonly rows: Array<AuditRow>
  /** Open when there may be rows. */
  readonly wake: Effect.Latch
}

export class AuditQueue extends Context.Tag("gateway/subjects/auth/AuditQueue")<AuditQueue, AuditQueueState>() {}

/** Puts a row on its way at once, where nothing may wait. */
export const put = ({ rows, wake }: AuditQueueState, row: AuditRow): void => {
  rows.push(row)
  wake.unsafeOpen()
}

export const layer: Layer.Layer<AuditQueue> = Layer.sync(AuditQueue, () => ({
  rows: [],
  wake: Effect.unsafeMakeLatch(false)
}))
