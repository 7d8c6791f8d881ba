/** Answers a caller while another process holds the database. */
import { type ErrorView, errorView } from "../../contract/domain/Errors.ts"
import { isBusy } from "../../store/engine/WriteQueue.ts"

/** Null: the failure has another cause. */
export const lockedView = (error: unknown): ErrorView | null =>
  isBusy(error)
    ? errorView(503, "Another process holds the gateway's database; try again in a moment.", { retryAfterMs: 5_000 })
    : null
