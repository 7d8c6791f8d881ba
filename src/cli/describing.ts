/** The description of all commands, which loads them only when it is asked for. */
import * as Effect from "effect/Effect"

export const describing = Effect.promise(() => import("./allCommands.ts").then(({ allCommands }) => allCommands()))
