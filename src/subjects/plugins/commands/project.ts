/** Reading a plugin of the author's disk, and saying what is wrong with it. */
import * as Effect from "effect/Effect"
import type { FieldProblem } from "../../../contract/domain/Errors.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { loadModule } from "../../../cli/lazy.ts"

export const readProject = (path: string) =>
  Effect.flatMap(
    loadModule(() => import("../../../agents/plugins/sdk/Project.ts")),
    (room) => Effect.mapError(room.readProject(path), ({ message }) => new BadArgument({ message }))
  )

/** Fails with all of them. */
export const listed = (problems: ReadonlyArray<FieldProblem>): Effect.Effect<never, BadArgument> =>
  new BadArgument({
    message: `The plugin has mistakes:\n${problems.map(({ field, message }) => `  ${field}: ${message}`).join("\n")}`,
    hint: "'gateway plugin check' looks again."
  })
