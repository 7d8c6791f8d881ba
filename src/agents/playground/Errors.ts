/** Refusals of the playground. */
import * as Data from "effect/Data"
import type { FieldProblem } from "../../contract/domain/Errors.ts"

export class PresetNotFound extends Data.TaggedError("PresetNotFound")<{ readonly id: string }> {}

/** Error of a change by another caller than its author or a manager of the gateway. */
export class PresetOfOther extends Data.TaggedError("PresetOfOther")<{ readonly id: string }> {}

export class TooManyPresets extends Data.TaggedError("TooManyPresets")<{ readonly limit: number }> {}

/** A field that its schema lets pass and that is wrong all the same. */
export class InvalidPlaygroundInput extends Data.TaggedError("InvalidPlaygroundInput")<FieldProblem> {}

/** No better prompt came of it. `message`: a sentence for people. */
export class ImproveFailed extends Data.TaggedError("ImproveFailed")<{ readonly message: string }> {}

/** The gateway's own rules do not let the caller ask. `status`: 400, 401, 403 or 429. */
export class AskRefused extends Data.TaggedError("AskRefused")<{
  readonly status: 400 | 401 | 403 | 429
  readonly code: string
  readonly message: string
  readonly retryAfterMs: number | null
}> {}

/** Error of a captured request that cannot be tried again in the playground. */
export class NotAPreset extends Data.TaggedError("NotAPreset")<{
  readonly id: string
  readonly reason: "not_llm" | "body_incomplete"
}> {}
