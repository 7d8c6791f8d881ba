/** A batch: the lines of an uploaded file, each asked as a request of its own, with the answers in files. */
import type { KnownCaller } from "../../contract/domain/Usage.ts"
import type { ModelPrice } from "../pricing/entity.ts"

export const batchStatuses = [
  "validating",
  "failed",
  "in_progress",
  "finalizing",
  "completed",
  "expired",
  "cancelling",
  "cancelled"
] as const
export type BatchStatus = (typeof batchStatuses)[number]

/** Reason for which a batch failed as a whole. */
export interface BatchProblem {
  readonly code: string
  readonly message: string
  /** Line of the input file, from 1; null: it is not about a line. */
  readonly line: number | null
  readonly param: string | null
}

/** Status of a batch once its files are written. */
export const batchEnds = ["completed", "failed", "expired", "cancelled"] as const
export type BatchEnd = (typeof batchEnds)[number]

/** A batch that a provider works on with an interface of its own. */
export interface ProviderBatch {
  readonly connectionId: string
  readonly kind: "openai" | "anthropic"
  /** The provider's id; null: it is not known yet whether the provider has it. */
  readonly id: string | null
  /** Id of the file uploaded for it; null where there is none. */
  readonly fileId: string | null
  /**
   * Prices of a batch, by the provider's name of the model: fixed when it was handed over. Absent: written by an
   * earlier version.
   */
  readonly prices?: Readonly<Record<string, ModelPrice>>
}

/** Times are epoch milliseconds; null: it was never so. */
export interface Batch {
  readonly id: string
  /** Id of an API key; empty for callers without one. */
  readonly owner: string
  /** Caller without a key who made it; null: not known, or a key did. */
  readonly caller: KnownCaller | null
  readonly endpoint: string
  readonly inputFileId: string
  readonly status: BatchStatus
  /** Status that it gets when its files are written; null before `finalizing` and `cancelling`. */
  readonly ending: BatchEnd | null
  readonly metadata: Readonly<Record<string, string>> | null
  /** Time in ms for which its files are kept; null: until they are deleted. */
  readonly outputKeptMs: number | null
  readonly createdAtMs: number
  readonly inProgressAtMs: number | null
  /** Time at which it is given up. */
  readonly expiresAtMs: number
  readonly finalizingAtMs: number | null
  readonly completedAtMs: number | null
  readonly failedAtMs: number | null
  readonly expiredAtMs: number | null
  readonly cancellingAtMs: number | null
  readonly cancelledAtMs: number | null
  readonly total: number
  readonly completed: number
  readonly failed: number
  readonly problems: ReadonlyArray<BatchProblem>
  /** Chosen when its files are begun; of an ended batch null where a file would be empty. */
  readonly outputFileId: string | null
  readonly errorFileId: string | null
  /** Null: the gateway asks the lines itself. */
  readonly provider: ProviderBatch | null
}

/** Checks whether nothing is done for it any more. */
export const isOver = ({ status }: Pick<Batch, "status">): boolean =>
  status === "completed" || status === "failed" || status === "expired" || status === "cancelled"
