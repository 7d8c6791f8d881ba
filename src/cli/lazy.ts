/** Loads modules that only some commands need. */
import * as Effect from "effect/Effect"
import { CommandFailed } from "./Failure.ts"
import { asSentence } from "../kernel/text/Sentence.ts"

/** Imports a part of the program. It fails where a native addon does not fit this Node or this machine. */
export const loadModule = <Room>(load: () => Promise<Room>): Effect.Effect<Room, CommandFailed> =>
  Effect.tryPromise({
    try: load,
    catch: (error) =>
      new CommandFailed({
        message: `A part of the program cannot be loaded: ${asSentence(error instanceof Error ? error.message : String(error))}`,
        hint: "Run 'npm rebuild' in the project folder with the Node.js version you start it with; 'gateway doctor' checks it."
      })
  })
