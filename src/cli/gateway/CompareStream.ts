/** The answers of several models side by side, as they come. */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Compare } from "../../subjects/playground/routes.ts"
import { loadModule } from "../lazy.ts"
import type { Target } from "./Client.ts"
import * as Inference from "./Inference.ts"

export const Metrics = Schema.Struct({
  ttftMs: Schema.NullOr(Schema.Number),
  tokensPerSecond: Schema.Number,
  tokensIn: Schema.Number,
  tokensOut: Schema.Number,
  costUsd: Schema.Number,
  isEstimate: Schema.Literal(true)
})

export const ColumnError = Schema.Struct({ message: Schema.String, type: Schema.String, code: Schema.String })

const MaybeId = Schema.NullOr(Schema.String)

const decoders = {
  column: Schema.decodeUnknownOption(Schema.parseJson(Schema.Struct({ column: Schema.Int, model: Schema.String }))),
  delta: Schema.decodeUnknownOption(Schema.parseJson(Schema.Struct({ column: Schema.Int, text: Schema.String }))),
  column_done: Schema.decodeUnknownOption(
    Schema.parseJson(Schema.Struct({ column: Schema.Int, requestId: MaybeId, metrics: Metrics }))
  ),
  column_error: Schema.decodeUnknownOption(
    Schema.parseJson(Schema.Struct({ column: Schema.Int, requestId: MaybeId, error: ColumnError }))
  ),
  done: Schema.decodeUnknownOption(Schema.parseJson(Schema.Struct({})))
}

type Decoded<Name extends keyof typeof decoders> = Option.Option.Value<ReturnType<(typeof decoders)[Name]>>

export type CompareEvent = {
  [Name in keyof typeof decoders]: { readonly event: Name } & Decoded<Name>
}[keyof typeof decoders]

const isName = (name: string | null): name is keyof typeof decoders => name !== null && Object.hasOwn(decoders, name)

/** Null where it is no event of a comparison. */
export const eventOf = (event: string | null, data: string): CompareEvent | null => {
  if (!isName(event)) return null
  const decoded = decoders[event](data)
  // The name chooses the decoder of its own data, which the type of the table alone does not say.
  return Option.isSome(decoded) ? ({ event, ...decoded.value } as CompareEvent) : null
}

const maxEventBytes = 16 * 1_048_576

/** Events until the stream ends or breaks. */
export const ask = Effect.fn("cli.playground.compare")(function* (to: Target, payload: Compare) {
  const request = HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post(`${to.url}/api/playground/compare`), payload)
  const { stream } = yield* Inference.ask(to, request)
  const { makeSseScanner } = yield* loadModule(() => import("../../wire/sse/SseScanner.ts"))
  const scanner = makeSseScanner(maxEventBytes)
  return stream.pipe(
    Stream.mapConcat((chunk) =>
      scanner
        .push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
        .flatMap(({ data, event }) => eventOf(event, data) ?? [])
    ),
    // It broke: what has no end yet shows it.
    Stream.catchAll(() => Stream.empty)
  )
})
