/** The commands of the program, for pages about them. The command line is above every floor: it gives them when it starts the gateway. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

export interface CommandText {
  /** Words of the command without `gateway`. */
  readonly path: ReadonlyArray<string>
  readonly summary: string
  /** Id of the skill whose page describes it; null: it has no place yet. */
  readonly skill: string | null
  /** Help as `--help` prints it, without colours and examples. */
  readonly help: string
  /** Lines to copy, without `gateway`. */
  readonly examples: ReadonlyArray<string>
}

/** None where the gateway was not started by the command line. */
export class CommandIndex extends Context.Reference<CommandIndex>()("gateway/platform/CommandIndex", {
  defaultValue: (): Effect.Effect<ReadonlyArray<CommandText>> => Effect.succeed([])
}) {}
