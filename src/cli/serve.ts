/** Starts the server. Imports it only now, so that no other command waits for it. */
import * as Effect from "effect/Effect"
import { loadConfig, reload } from "./flags/EnvFile.ts"
import { loadModule } from "./lazy.ts"
import { CommandIndex, type CommandText } from "../platform/CommandIndex.ts"
import { ownRole } from "../platform/programs/Siblings.ts"
import { runMain, runSibling } from "./run.ts"
import { strangeOf } from "./flags/variables.ts"
import type { ServeFlags } from "./flags/serveOptions.ts"

const openIt = Effect.flatMap(
  loadModule(() => import("./gateway/dashboard.ts")),
  ({ openAtStart }) => openAtStart
).pipe(Effect.ignore)

/** Serves until the process gets a signal to stop, or a request over HTTP to stop. */
export const serve = Effect.fn("cli.serve")(function* (flags: ServeFlags) {
  const { environment } = yield* loadConfig
  const room = yield* loadModule(() => import("../app/serve.ts"))
  const warnings = yield* strangeOf(environment)
  // A person who started it by hand: neither a service nor a script.
  const isWatched = process.stdout.isTTY === true && process.stdin.isTTY === true
  yield* room.serve({
    ...flags,
    readEnvironment: reload,
    warnings,
    commands: yield* CommandIndex,
    ...(flags.open && isWatched ? { whenListening: openIt } : {})
  })
})

/** Serves as the main program; `commands` are those of the program, for the skills. A stop signal ends it with exit code 0. */
export const main = (flags: ServeFlags, commands: Effect.Effect<ReadonlyArray<CommandText>>): void =>
  (ownRole() === null ? runMain : runSibling)(Effect.provideService(serve(flags), CommandIndex, commands), 0)
