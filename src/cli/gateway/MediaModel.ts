/** The model of a request for media that names none. */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ModelList } from "../../contract/compat/Chat.ts"
import { BadArgument, type CliFailure } from "../Failure.ts"
import { remark } from "../output/Output.ts"
import type { Target } from "./Client.ts"
import * as Inference from "./Inference.ts"

interface Kind {
  /** The route of the list. */
  readonly listing: string
  /** Pattern of the names of this kind's models in a list of all kinds. */
  readonly named?: RegExp
  /** Completes "No model is known that …". */
  readonly what: string
}

export const kinds = {
  embeddings: { listing: "/v1/embeddings", what: "makes vectors" },
  images: { listing: "/v1/images/generations", what: "makes pictures" },
  speech: { listing: "/v1/models", named: /(?:^|[/_:-])(?:tts|eleven|aura)(?=$|[._:-]|\d)|-tts\b/i, what: "speaks" },
  transcriptions: {
    listing: "/v1/models",
    named: /whisper|transcribe|(?:^|\/)(?:scribe_|nova-|universal)/i,
    what: "writes down what is said"
  }
} as const satisfies Readonly<Record<string, Kind>>

/** The model that was given, else the first that the gateway lists for this kind, which is said. */
export const modelOr = (given: Option.Option<string>, to: Target, kind: Kind): Effect.Effect<string, CliFailure> =>
  Option.match(given, {
    onSome: Effect.succeed,
    onNone: () =>
      Inference.ask(to, HttpClientRequest.get(`${to.url}${kind.listing}`), null).pipe(
        Effect.flatMap(Inference.jsonOf(to, ModelList)),
        Effect.map(({ data }) => data.find(({ id }) => kind.named === undefined || kind.named.test(id))?.id),
        Effect.flatMap((model) =>
          model === undefined
            ? new BadArgument({
                message: `No model is known that ${kind.what}.`,
                hint: "Name one with -m; 'gateway model list' shows what can be asked."
              })
            : Effect.as(remark(`The model is ${model}; -m names another.`), model)
        )
      )
  })
