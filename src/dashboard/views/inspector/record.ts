import type { AnswerOf } from "../../api/client.ts"
import type { inspectorGet } from "../../api/calls.generated.ts"

/** A captured request with headers and bodies. */
export type WholeRecord = AnswerOf<typeof inspectorGet>
