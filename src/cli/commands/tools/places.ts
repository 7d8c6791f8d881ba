/** Folders of the person who runs the command. */
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { placesOf } from "../../../tools/config/ToolSetup.ts"
import { loadConfig } from "../../EnvFile.ts"

export const placesNow = Effect.map(loadConfig, ({ environment }) =>
  placesOf(environment.get("HOME") || homedir(), environment, existsSync)
)
