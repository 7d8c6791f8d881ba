/** A dialogue with the built program on a terminal. */
import * as Effect from "effect/Effect"
import * as Terminal from "../support/Terminal.ts"
import { type Environment, project } from "./support.ts"

/** What the screen shows, and what is typed then. A prompt is what stands at the end of the screen. */
export type Step = readonly [shows: RegExp, types: string]

export interface Shown {
  readonly code: number
  readonly screen: string
}

/** Goes through the steps, and waits for the end of the program. */
export const inTerminal = (
  argv: readonly [program: string, ...args: ReadonlyArray<string>],
  environment: Environment,
  steps: ReadonlyArray<Step>
): Promise<Shown> =>
  Effect.gen(function* () {
    const env = { PATH: process.env["PATH"] ?? "", HOME: environment["DATA_DIR"] ?? "", ...environment }
    const terminal = yield* Terminal.open(argv, { cwd: project, env, columns: 100, rows: 30 })
    for (const [shows, types] of steps) {
      yield* terminal.shows(shows)
      terminal.type(types)
    }
    return { code: yield* terminal.ended, screen: terminal.screen() }
  }).pipe(Effect.scoped, Effect.runPromise)
