/**
 * Figures of the traffic of workers at the owner, which alone is asked for them. The usage row of a request comes by itself; what else is counted of it
 * is sent before, and waits here for the row.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { LruMap } from "../../kernel/collections/LruMap.ts"
import type { UsageRow } from "../../contract/domain/Usage.ts"
import { Events } from "../../observe/Events.ts"
import { Telemetry } from "../../observe/usage/Telemetry.ts"
import type { RequestSummary } from "../../observe/usage/telemetry/Summary.ts"
import { OwnerLink } from "../state/link/OwnerLink.ts"
import { WorkerLinks } from "../state/link/WorkerLinks.ts"

const topic = "telemetry"

/** Requests whose rows have not come yet. */
const mostWaiting = 20_000

/** The summary of a request without its row. */
interface Told extends Pick<RequestSummary, "method" | "path" | "attempts" | "sessionKey"> {
  readonly rowId: string
  readonly isListed: boolean | null
}

export const workerLayer: Layer.Layer<never, never, OwnerLink | Telemetry> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { listen } = yield* Telemetry
    const { send } = yield* OwnerLink
    const tell = ({ attempts = [], isListed, method, path, row, sessionKey = null }: RequestSummary): void =>
      send(topic, {
        rowId: row.id,
        method,
        path,
        attempts,
        sessionKey,
        isListed: isListed?.() ?? null
      } satisfies Told)
    yield* Effect.acquireRelease(
      Effect.sync(() => listen(tell)),
      (stop) => Effect.sync(stop)
    )
  })
)

export const ownerLayer: Layer.Layer<never, never, Events | Telemetry | WorkerLinks> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { adopt } = yield* Telemetry
    const { listenToRequests } = yield* Events
    const { serve } = yield* WorkerLinks
    const waiting = new LruMap<string, Told>({ capacity: mostWaiting })
    const count = (row: UsageRow): void => {
      const told = waiting.peek(row.id)
      if (told === undefined) return
      waiting.delete(row.id)
      const { isListed, rowId: _, ...summary } = told
      adopt({ ...summary, row, ...(isListed === null ? {} : { isListed: () => isListed }) })
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => [
        serve(topic, (_, body) => {
          const told = body as Told
          waiting.set(told.rowId, told)
        }),
        listenToRequests(count)
      ]),
      (stops) => Effect.sync(() => stops.forEach((stop) => stop()))
    )
  })
)
