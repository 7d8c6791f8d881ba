/**
 * A request that an upstream takes in parts only: one call after the other, and one answer for the client. The first part that fails is
 * the result of all; what the parts before it have cost is charged to the request all the same.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { sumTokens } from "../../domain/Usage.ts"
import type { Target } from "../../routing/resolve/ModelResolver.ts"
import type { Conversation } from "../../wire/canonical/Conversation.ts"
import type { Response } from "../../wire/canonical/Response.ts"
import type { EncodeContext, WireCodec } from "../../wire/WireCodec.ts"
import type { Work } from "../request/Exchange.ts"
import { type AttemptFailure, type AttemptResult, failed } from "./AttemptResult.ts"
import type { UpstreamCall } from "./UpstreamCall.ts"

export interface PartedCall {
  readonly work: Work
  readonly target: Target
  readonly parts: ReadonlyArray<Conversation>
  /** How a part is asked for. */
  readonly call: (part: Conversation) => Either.Either<UpstreamCall, AttemptFailure>
  readonly calling: (work: Work, call: UpstreamCall) => Effect.Effect<AttemptResult>
  readonly join: NonNullable<WireCodec["join"]>
  readonly context: () => EncodeContext
}

type Completed = Extract<AttemptResult, { readonly _tag: "Completed" }>

/** The client's answer, encoded once all parts are there. */
const answerOf = (
  { context, join, work }: PartedCall,
  first: Completed,
  [response, ...others]: ReadonlyArray<Response>
): AttemptResult => {
  if (response === undefined) return first
  const whole = join(response, others)
  return {
    ...first,
    body: JSON.stringify(work.exchange.codec.encodeResponse(whole, context())),
    report: { ...first.report, usage: whole.usage }
  }
}

export const runParts = Effect.fnUntraced(function* (parted: PartedCall) {
  const { target, work } = parted
  const done: Array<Completed> = []
  const responses: Array<Response> = []
  const codec: WireCodec = {
    ...work.exchange.codec,
    encodeResponse: (response) => {
      responses.push(response)
      return {}
    }
  }
  const own: Work = { ...work, exchange: { ...work.exchange, codec } }
  const charge = (): void => {
    const [first] = done
    const usage = done.flatMap(({ report }) => report.usage ?? [])
    if (first === undefined || usage.length === 0) return
    const report = { ...first.report, usage: usage.reduce(sumTokens) }
    work.trail.charge({ target, report, firstContentMs: first.firstContentMs })
  }
  return yield* Effect.onInterrupt(
    Effect.gen(function* () {
      for (const part of parted.parts) {
        const call = parted.call(part)
        const result = Either.isLeft(call) ? failed(call.left) : yield* parted.calling(own, call.right)
        if (result._tag !== "Completed") {
          charge()
          return result
        }
        done.push(result)
      }
      const [first] = done
      return first === undefined ? failed(nothingAsked) : answerOf(parted, first, responses)
    }),
    () => Effect.sync(charge)
  )
})

const nothingAsked: AttemptFailure = {
  status: 400,
  reason: "request_not_translatable",
  message: "There is nothing to be asked for.",
  words: null
}
