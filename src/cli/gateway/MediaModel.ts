/** The model of a request for media that names none. */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ModelList } from "../../api/compat/Chat.ts"
import { BadArgument, type CliFailure } from "../Failure.ts"
import { remark } from "../output/Output.ts"
import type { Target } from "./Client.ts"
import * as Inference from "./Inference.ts"

/**
 * The model that was given, else the first that the gateway lists for this kind. `listing` is the route of the list; `what` completes
 * "No model is known that …".
 */
export const modelOr = (
  given: Option.Option<string>,
  to: Target,
  listing: string,
  what: string
): Effect.Effect<string, CliFailure> =>
  Option.match(given, {
    onSome: Effect.succeed,
    onNone: () =>
      Inference.ask(to, HttpClientRequest.get(`${to.url}${listing}`), null).pipe(
        Effect.flatMap(Inference.jsonOf(to, ModelList)),
        Effect.map(({ data }) => data[0]?.id),
        Effect.flatMap((model) =>
          model === undefined
            ? new BadArgument({
                message: `No model is known that ${what}.`,
                hint: "Name one with -m; 'gateway model list' shows what can be asked."
              })
            : Effect.as(remark(`The model is ${model}; -m names another.`), model)
        )
      )
  })
