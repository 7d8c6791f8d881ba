/** The services that an attempt uses, taken once at start, and the attempt itself. */
import * as Effect from "effect/Effect"
import { type ClientGone, shutdown, type ShuttingDown } from "../../contract/domain/Errors.ts"
import * as Flags from "../../subjects/flags/service.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import { BackgroundPipeline } from "../request/BackgroundPipeline.ts"
import * as PublicFetch from "../../net/egress/PublicFetch.ts"
import * as Upstream from "../../net/egress/Upstream.ts"
import { Hooks } from "../../agents/plugins/hooks/Hooks.ts"
import * as Timers from "../../platform/Timers.ts"
import * as Catalog from "../providers/Catalog.ts"
import { Slices } from "../resilience/Slices.ts"
import * as Settings from "../resilience/Settings.ts"
import * as QuotaWindows from "../routing/quota/QuotaWindows.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import { Tokeniser } from "../tokens/Tokeniser.ts"
import type { ModelPrice } from "../../subjects/pricing/entity.ts"
import { PriceBook } from "../../observe/usage/PriceBook.ts"
import { type AttemptResult, failed, ownFailure } from "./AttemptResult.ts"
import { makeLinkedMedia } from "./LinkedMedia.ts"
import { Continuation } from "./Continuation.ts"
import { noReport } from "../request/AnswerReport.ts"
import { RunningRequests } from "../request/RunningRequests.ts"
import type { Work } from "../request/Exchange.ts"
import * as MediaFetch from "../media/MediaFetch.ts"
import * as StopSignal from "../request/StopSignal.ts"
import * as AnswerWatcher from "../state/kept/AnswerWatch.ts"
import * as OpaqueState from "../state/kept/OpaqueState.ts"
import type { Way } from "./UpstreamCall.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

export const attemptServices = Effect.gen(function* () {
  const upstream = yield* Upstream.Upstream
  const publicFetch = yield* PublicFetch.PublicFetch
  const services = yield* Effect.all({
    begun: BackgroundPipeline,
    catalog: Catalog.Catalog,
    continuation: Continuation,
    flags: Flags.Flags,
    gateway: GatewaySettings,
    hooks: Hooks,
    media: MediaFetch.MediaFetch,
    prices: PriceBook,
    quotas: QuotaWindows.QuotaWindows,
    running: RunningRequests,
    settings: Settings.Settings,
    slices: Slices,
    state: OpaqueState.OpaqueState,
    stop: StopSignal.StopSignal,
    timers: Timers.Timers,
    tokeniser: Tokeniser,
    watcher: AnswerWatcher.AnswerWatcher
  })
  return {
    ...services,
    upstream,
    publicFetch,
    linkedMedia: makeLinkedMedia(upstream, publicFetch)
  }
})
export type AttemptServices = Effect.Effect.Success<typeof attemptServices>

/** One attempt to answer a request. */
export interface Attempt {
  readonly work: Work
  readonly way: Way
  /** No other target is left, so an empty but well-formed answer is the answer. */
  readonly lastChance: boolean
}

export const stopped = failed(ownFailure(503, shutdown.code, `${asSentence(shutdown.message)}`))

/** Result of an attempt that was not waited for to its end. */
export const cancelledResult = (reason: ClientGone | ShuttingDown): AttemptResult =>
  reason._tag === "ShuttingDown" ? stopped : { _tag: "Aborted", report: noReport, firstContentMs: null }

export const maxMediaBytes = ({ gateway }: AttemptServices): number => gateway.current().media.maxAnswerMb * 1_048_576

export const priceOf = ({ prices }: AttemptServices, work: Work, { account, model }: Target): ModelPrice | null =>
  work.prices.of(prices, account.spec.id, model)
