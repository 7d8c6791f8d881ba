/** Fetching from an address that an answer names: a third party's, so nothing of the person's is sent there. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AppConfig from "../../platform/AppConfig.ts"
import { loadConfig } from "../flags/EnvFile.ts"
import { type CliFailure, CommandFailed } from "../Failure.ts"
import { loadModule } from "../lazy.ts"

const limits = { timeoutMs: 120_000, maxBytes: 64 * 1_048_576 }
const maxShownChars = 2_000

const isDone = (status: number): boolean => status >= 200 && status < 300

/** Fetches at most 64 MiB. `what` begins the error message. */
export const fetchFrom = (url: string, what: string): Effect.Effect<Buffer, CliFailure> =>
  Effect.gen(function* () {
    const config = yield* loadConfig
    const { fetchingLayer, PublicFetch } = yield* loadModule(() => import("../../app/fetching.ts"))
    const failed = (reason: string) =>
      new CommandFailed({
        message: `${what} is at an address that cannot be fetched (${reason}): ${url.slice(0, maxShownChars)}`,
        hint: "Open it in a browser; such addresses are often gone after a while."
      })
    const answer = yield* Effect.flatMap(PublicFetch, (fetching) =>
      fetching.get(url, limits, ({ status }) => isDone(status))
    ).pipe(
      Effect.provide(Layer.provide(fetchingLayer, Layer.succeed(AppConfig.AppConfig, config))),
      Effect.mapError((error) => {
        switch (error._tag) {
          case "UrlBlocked":
            return failed("the outbound policy refuses it")
          case "ResponseTooLarge":
            return failed(`it has more than ${limits.maxBytes / 1_048_576} MiB`)
          case "TimedOut":
            return failed("there was no answer in time")
          default:
            return failed("the connection failed")
        }
      })
    )
    return isDone(answer.status) ? Buffer.from(answer.body) : yield* failed(`the status is ${answer.status}`)
  })
