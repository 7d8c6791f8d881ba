/**
 * A request that an upstream takes in parts only: one call after the other, and one answer for the client, for which something may have to
 * be fetched. The first part that fails is the result of all; what the parts before it have cost is charged to the request all the same.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { sumUsage } from "../../contract/domain/Usage.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import type { Response } from "../../wire/canonical/Response.ts"
import type { WireCodec } from "../../wire/WireCodec.ts"
import type { Work } from "../request/Exchange.ts"
import { type AttemptFailure, type AttemptResult, failed } from "./AttemptResult.ts"
import type { UpstreamCall } from "./UpstreamCall.ts"

export interface PartedCall {
  readonly work: Work
  readonly target: Target
  /** Makes the call for each part. */
  readonly parts: ReadonlyArray<() => Either.Either<UpstreamCall, AttemptFailure>>
  readonly calling: (call: UpstreamCall) => Effect.Effect<AttemptResult>
  readonly join: NonNullable<WireCodec["join"]>
  /** The answer with what has to be fetched for it, the same object where that is nothing; or what comes of it instead. */
  readonly complete: (response: Response, call: UpstreamCall) => Effect.Effect<Response, AttemptResult>
  /** Renders the answer for the client. */
  readonly render: (response: Response) => string
}

type Completed = Extract<AttemptResult, { readonly _tag: "Completed" }>

const sentFor = (done: ReadonlyArray<Completed>): number =>
  done.reduce((sum, { report }) => sum + (report.sentBytes ?? 0), 0)

/** The call, with an ear for what its codec reads. */
const heard = (call: UpstreamCall, onResponse: (response: Response) => void): UpstreamCall => ({
  ...call,
  codec: {
    ...call.codec,
    decodeResponse: (body, dialect) =>
      Either.map(call.codec.decodeResponse(body, dialect), (response) => {
        onResponse(response)
        return response
      })
  }
})

export const runParts = Effect.fnUntraced(function* (parted: PartedCall) {
  const { target, work } = parted
  const done: Array<Completed> = []
  const responses: Array<Response> = []
  const charge = (): void => {
    const [first] = done
    const usage = done.flatMap(({ report }) => report.usage ?? [])
    if (first === undefined || usage.length === 0) return
    const report = { ...first.report, usage: usage.reduce(sumUsage), sentBytes: sentFor(done) }
    work.trail.charge({ target, report, firstContentMs: first.firstContentMs })
  }

  /** The client's answer, once all parts are there. */
  const answered = Effect.fnUntraced(function* (first: Completed, call: UpstreamCall) {
    const [response, ...others] = responses
    if (response === undefined) return first
    const whole = others.length === 0 ? response : parted.join(response, others)
    const completed = yield* Effect.either(parted.complete(whole, call))
    if (Either.isLeft(completed)) {
      charge()
      return completed.left
    }
    if (others.length === 0 && completed.right === response) return first
    const usage = others.length === 0 ? first.report.usage : whole.usage
    return {
      ...first,
      body: parted.render(completed.right),
      report: { ...first.report, usage, sentBytes: sentFor(done) }
    }
  })

  return yield* Effect.onInterrupt(
    Effect.gen(function* () {
      let last: UpstreamCall | null = null
      for (const part of parted.parts) {
        const made = part()
        if (Either.isLeft(made)) {
          charge()
          return failed(made.left)
        }
        let response: Response | null = null
        last = heard(made.right, (read) => {
          response = read
        })
        const result: AttemptResult = yield* parted.calling(last)
        if (result._tag !== "Completed") {
          charge()
          return result
        }
        done.push(result)
        if (response !== null) responses.push(response)
      }
      const [first] = done
      return first === undefined || last === null ? failed(nothingAsked) : yield* answered(first, last)
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
