/** The first process of a gateway with workers: what it says, and how it ends. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AppConfig from "../../platform/AppConfig.ts"
import type { ListenFailed } from "../../entry/listening/Listener.ts"
import { configured, sentence, type ServeOptions, StartFailed, stdout } from "../starting.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"
import { supervise } from "./Supervise.ts"

const notStarted = new StartFailed({ message: "The gateway did not start; the lines above say why." })

/** Reads the settings file; returns the workers that it asks for, or those of before where it cannot be read. */
const readAgain = (options: ServeOptions) => (before: number) =>
  Effect.mapError(options.readEnvironment ?? Effect.void, ({ message }) => message).pipe(
    Effect.zipRight(Effect.mapError(Effect.scoped(Layer.build(configured(options))), sentence)),
    Effect.map((built) => Context.get(built, AppConfig.AppConfig).workers),
    Effect.tap((workers) =>
      workers === before
        ? Effect.void
        : Effect.logInfo(`From now on there are to be ${workers} workers, not ${before}.`)
    ),
    Effect.catchAll((reason) =>
      Effect.as(
        Effect.logError(`The settings file could not be read again, and stays as it was: ${asSentence(reason)}`),
        before
      )
    )
  )

export const superviseWorkers = (
  options: ServeOptions,
  { drainMs, host, port, workers }: AppConfig.AppConfigShape
): Effect.Effect<void, ListenFailed | StartFailed> =>
  Effect.gen(function* () {
    const isMeant = yield* supervise({
      host,
      port,
      workers,
      drainMs,
      beforeReload: readAgain(options),
      up: (url) =>
        Effect.gen(function* () {
          yield* stdout(`Gateway listening on ${url}`)
          yield* Effect.logInfo(`${workers} workers serve requests; each line of theirs says which.`)
          yield* options.whenListening ?? Effect.void
        })
    })
    if (!isMeant) return yield* notStarted
  })
