/** One upstream call as an Effect: from a target to a result. Interruption aborts the call. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Flags from "../flags/Flags.ts"
import type * as Upstream from "../egress/Upstream.ts"
import type * as Timers from "../platform/Timers.ts"
import type * as Catalog from "../providers/Catalog.ts"
import type * as Settings from "../resilience/Settings.ts"
import { probeTimeoutMs } from "../routing/auto/SelfHealing.ts"
import { keyOf } from "../routing/engine/Snapshot.ts"
import type * as QuotaWindows from "../routing/quota/QuotaWindows.ts"
import type { Target } from "../routing/ModelResolver.ts"
import type { Conversation } from "../wire/canonical/Conversation.ts"
import { type AttemptResult, failed } from "./Attempt.ts"
import { startAttempt } from "./AttemptRun.ts"
import { whileClientStays } from "./ClientStays.ts"
import type { Work } from "./Exchange.ts"
import { streamHeaders } from "./Headers.ts"
import type * as MediaFetch from "./MediaFetch.ts"
import { needsFetch } from "./MediaNeeds.ts"
import { answerWatch } from "./state/AnswerWatch.ts"
import type * as OpaqueState from "./state/OpaqueState.ts"
import type * as ResponseStore from "./state/ResponseStore.ts"
import {
  conversationFor,
  originOf,
  relayedCall,
  translatedCall,
  type UpstreamCall,
  type Way,
  wayTo
} from "./UpstreamCall.ts"

export interface AttemptRooms {
  readonly upstream: typeof Upstream.Upstream.Service
  readonly timers: typeof Timers.Timers.Service
  readonly catalog: typeof Catalog.Catalog.Service
  readonly flags: typeof Flags.Flags.Service
  readonly settings: typeof Settings.Settings.Service
  readonly state: typeof OpaqueState.OpaqueState.Service
  readonly quotas: Pick<typeof QuotaWindows.QuotaWindows.Service, "learn">
  readonly media: typeof MediaFetch.MediaFetch.Service
  readonly responses: typeof ResponseStore.ResponseStore.Service
}

export type RunAttempt = (work: Work, target: Target, lastChance: boolean) => Effect.Effect<AttemptResult>

export const makeAttempt = ({
  catalog,
  flags,
  media,
  quotas,
  responses,
  settings,
  state,
  timers,
  upstream
}: AttemptRooms): RunAttempt => {
  const run = (work: Work, way: Way, call: UpstreamCall, lastChance: boolean): Effect.Effect<AttemptResult> => {
    const { target } = way
    const { streamRecovery, timeouts } = settings.current()
    work.targetWire = call.wire
    const watch = answerWatch({ state, responses }, work, originOf(target, call.wire), {
      relayed: way.relays,
      replays: way.replays,
      keepsResponses: target.account.spec.keepsResponses
    })
    return Effect.async<AttemptResult>((resume) => {
      const cancel = startAttempt(
        upstream,
        timers,
        {
          work,
          call,
          target,
          timeouts: work.decision.probes.has(keyOf(target))
            ? { ...timeouts, firstByteMs: probeTimeoutMs(timeouts.firstByteMs) }
            : timeouts,
          deadlineMs: work.exchange.startedMs + timeouts.totalMs,
          lastChance,
          watch,
          onHeaders: (header) => quotas.learn(target.account.connection.id, target.model, header, timers.nowMs()),
          // With nobody to take over, waiting would help nobody.
          holdBack: !lastChance && flags.isOn("STREAM_RECOVERY_ENABLED") ? streamRecovery : null,
          streamHeaders: (dropped) => streamHeaders(work, target, dropped)
        },
        (result) => {
          if (result._tag === "Completed") watch.keep()
          resume(Effect.succeed(result))
        }
      )
      return Effect.sync(cancel)
    })
  }

  const translated = (
    work: Work,
    way: Way,
    conversation: Conversation,
    lastChance: boolean
  ): Effect.Effect<AttemptResult> => {
    const { account, model } = way.target
    const call = translatedCall(work, way, conversation, catalog.factsOf(account, model))
    return Either.isLeft(call) ? Effect.succeed(failed(call.left)) : run(work, way, call.right, lastChance)
  }

  /** The conversation with its pictures and files, where the target cannot fetch them. */
  const fetched = (work: Work, way: Way, conversation: Conversation, lastChance: boolean) =>
    whileClientStays(work.exchange.reply, media.inlineMedia(conversation, way.codec.name, work.owner)).pipe(
      Effect.matchEffect({
        onFailure: (failure): Effect.Effect<AttemptResult> =>
          Effect.succeed("_tag" in failure ? { _tag: "Aborted", report: null, firstContentMs: null } : failed(failure)),
        onSuccess: (whole) => translated(work, way, whole, lastChance)
      })
    )

  return (work, target, lastChance) => {
    const found = wayTo(work, target, state)
    if (Either.isLeft(found)) return Effect.succeed(failed(found.left))
    const way = found.right
    if (way.relays) return run(work, way, relayedCall(work, way), lastChance)
    const conversation = conversationFor(work, way, state)
    if (Either.isLeft(conversation)) return Effect.succeed(failed(conversation.left))
    return needsFetch(conversation.right, way.codec.name)
      ? fetched(work, way, conversation.right, lastChance)
      : translated(work, way, conversation.right, lastChance)
  }
}
