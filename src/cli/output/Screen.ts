/** Facts of the place that the result goes to. */
import * as Context from "effect/Context"

export interface ScreenShape {
  /** Columns of the terminal; null when the result goes into a pipe or a file. */
  readonly columns: () => number | null
}

/** Standard output of the process. */
export class Screen extends Context.Reference<Screen>()("gateway/cli/output/Screen", {
  defaultValue: (): ScreenShape => ({
    columns: () => (process.stdout.isTTY === true && process.stdout.columns > 0 ? process.stdout.columns : null)
  })
}) {}
