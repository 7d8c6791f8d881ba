import * as Data from "effect/Data"

/** Error of an action that was not done. `reason` is a sentence for people, without secrets. */
export class MeshToolFailed extends Data.TaggedError("MeshToolFailed")<{ readonly reason: string }> {}

export const failed = (reason: string): MeshToolFailed => new MeshToolFailed({ reason })
