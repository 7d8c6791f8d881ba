/** Starts the server. Imports it only now, so that no other command waits for it. */
import * as Effect from "effect/Effect"
import { loadConfig, reload } from "./EnvFile.ts"
import { loadRoom } from "./lazy.ts"
import { runMain } from "./run.ts"
import type { ServeFlags } from "./serveOptions.ts"

/** Serves until the process gets a signal to stop, or is told to over HTTP. */
export const serve = Effect.fn("cli.serve")(function* (flags: ServeFlags) {
  yield* loadConfig
  const room = yield* loadRoom(() => import("../app/serve.ts"))
  yield* room.serve({ ...flags, readEnvironment: reload })
})

/** Serves as the main program. A stop signal ends it with exit code 0. */
export const main = (flags: ServeFlags): void => runMain(serve(flags), 0)
