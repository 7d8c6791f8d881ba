/** A model of one provider as people type it. */
import * as Effect from "effect/Effect"
import { BadArgument } from "../Failure.ts"

/** Provider and model of `<provider>/<model>`; the model may have slashes of its own. `example` is a line that works. */
export const providerAndModel = (
  typed: string,
  example: string
): Effect.Effect<readonly [provider: string, model: string], BadArgument> => {
  const slash = typed.indexOf("/")
  return slash > 0 && slash < typed.length - 1
    ? Effect.succeed([typed.slice(0, slash), typed.slice(slash + 1)])
    : new BadArgument({
        message: `<model>: '${typed}' is not of the form <provider>/<model>.`,
        hint: `Example: ${example}`
      })
}
