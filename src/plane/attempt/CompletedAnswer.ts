/** Makes the calls of an attempt whose answer is put together: of several calls, or with what one answer only names. */
import * as Effect from "effect/Effect"
import type { ClientGone, ShuttingDown } from "../../contract/domain/Errors.ts"
import { sourceOf } from "../../net/egress/BodySource.ts"
import type { Response } from "../../wire/canonical/Response.ts"
import { renderAnswer } from "./AnswerReader.ts"
import { type AttemptResult, failed, ownFailure } from "./AttemptResult.ts"
import { type Attempting, attemptEffect } from "./Attempting.ts"
import { type Attempt, type AttemptServices, maxMediaBytes, stopped } from "./AttemptServices.ts"
import { called } from "./CalledTarget.ts"
import { encodeContext } from "./RunCall.ts"
import { type PartedCall, runParts } from "./PartedCall.ts"
import { unlessDisconnected } from "../request/ClientDisconnect.ts"
import type { Work } from "../request/Exchange.ts"
import type * as MediaFetch from "../media/MediaFetch.ts"
import { attemptTimeouts } from "../routing/walk/RoutePolicy.ts"
import * as StopSignal from "../request/StopSignal.ts"
import type { UpstreamCall } from "./UpstreamCall.ts"

/** Most bytes of everything that is fetched for one answer. */
const maxLinkedBytes = 256 * 1_048_576

export const notFetched = (failure: MediaFetch.MediaNotFetched | ClientGone | ShuttingDown): AttemptResult => {
  switch (failure._tag) {
    case "MediaNotFetched":
      return failed(ownFailure(400, failure.code, failure.message))
    case "ShuttingDown":
      return stopped
    case "ClientGone":
      return { _tag: "Aborted", report: null, firstContentMs: null }
  }
}

/** The answer with what it only names and the client asked for. */
const complete = (
  services: AttemptServices,
  work: Work,
  response: Response,
  call: UpstreamCall
): Effect.Effect<Response, AttemptResult> => {
  const { linkedMedia, settings, stop, timers } = services
  const { exchange } = work
  const { linked } = exchange.codec
  const links = linked?.linksIn(response, work.asked) ?? []
  if (linked === undefined || links.length === 0) return Effect.succeed(response)
  const { timeouts } = settings.current()
  const leftMs = Math.max(1, exchange.startedMs + timeouts.totalMs - timers.monotonicMs())
  const limits = {
    timeoutMs: Math.min(attemptTimeouts(timeouts, work.resolution.policy).firstByteMs, leftMs),
    maxBytes: Math.min(maxLinkedBytes, maxMediaBytes(services))
  }
  const fetching = unlessDisconnected(exchange.reply, linkedMedia.fetchAll(call, links, limits))
  return StopSignal.unlessStopped(stop, fetching).pipe(
    Effect.map((found) => linked.filledWith(response, found)),
    Effect.mapError((reason) => ("_tag" in reason ? notFetched(reason) : failed(reason)))
  )
}

/** Several calls, and one answer; or one call whose answer may have to be completed. */
export const inParts = (services: AttemptServices, attempt: Attempt, parts: PartedCall["parts"]): Attempting => {
  const { way, work } = attempt
  const { target } = way
  const { codec } = work.exchange
  const made = runParts({
    work,
    target,
    parts,
    calling: (call) =>
      Effect.flatMap(written(services, call), (whole) => attemptEffect(called(services, attempt, whole))),
    join: codec.join ?? ((first) => first),
    complete: (response, call) => complete(services, work, response, call),
    render: (response) =>
      renderAnswer(codec, response, encodeContext(work, target.model, services.timers, null), work.envelope.stream)
  })
  return { _tag: "Effect", attempt: made }
}

/** The call with its body. */
export const written = ({ slices }: AttemptServices, call: UpstreamCall): Effect.Effect<UpstreamCall> => {
  const { unwritten, ...ready } = call
  if (unwritten === undefined) return Effect.succeed(call)
  return Effect.map(slices.written(unwritten), (text) => ({
    ...ready,
    request: { ...call.request, body: sourceOf(text) }
  }))
}
