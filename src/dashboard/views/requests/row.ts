/** A row of the log as the API answers it. */
import type { usageLogs } from "../../api/calls.generated.ts"
import type { AnswerOf } from "../../api/client.ts"

export type Row = AnswerOf<typeof usageLogs>["logs"][number]

/** States by which outcomes are shown. */
export const kinds = { completed: "good", failed: "bad", aborted: "warning" } as const
