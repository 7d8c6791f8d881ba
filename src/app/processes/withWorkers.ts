/** The first process of a gateway with workers: what it says, and how it ends. */
import * as Effect from "effect/Effect"
import type { AppConfigShape } from "../../platform/AppConfig.ts"
import type { ListenFailed } from "../../entry/listening/Listener.ts"
import { type ServeOptions, StartFailed, stdout } from "../starting.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"
import { supervise } from "./Supervise.ts"

const notStarted = new StartFailed({ message: "The gateway did not start; the lines above say why." })

export const superviseWorkers = (
  options: ServeOptions,
  { drainMs, host, port, workers }: AppConfigShape
): Effect.Effect<void, ListenFailed | StartFailed> =>
  Effect.gen(function* () {
    const isMeant = yield* supervise({
      host,
      port,
      workers,
      drainMs,
      beforeReload: Effect.catchAll(options.readEnvironment ?? Effect.void, ({ message }) =>
        Effect.logError(`The settings file could not be read again, and stays as it was: ${asSentence(message)}`)
      ),
      up: (url) =>
        Effect.gen(function* () {
          yield* stdout(`Gateway listening on ${url}`)
          yield* Effect.logInfo(`${workers} workers serve requests; each line of theirs says which.`)
          yield* options.whenListening ?? Effect.void
        })
    })
    if (!isMeant) return yield* notStarted
  })
