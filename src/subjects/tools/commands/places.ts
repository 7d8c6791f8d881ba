/** Folders of the person who runs the command. */
import * as Effect from "effect/Effect"
import { homedir } from "node:os"
import { placesIn } from "../../../agents/tools/files/Machine.ts"
import { loadConfig } from "../../../cli/flags/EnvFile.ts"

export const placesNow = Effect.map(loadConfig, ({ environment }) =>
  placesIn(environment.get("HOME") || homedir(), environment)
)
