/** The layers of the inference path: opening, attempts, failover, features and settlement. */
import * as Files from "../subjects/files/service.ts"
import * as Layer from "effect/Layer"
import * as AttemptRunner from "../plane/attempt/AttemptRunner.ts"
import * as TokenCounter from "../plane/counting/TokenCounter.ts"
import * as Embedder from "../plane/embedding/Embedder.ts"
import * as AttemptEvents from "../plane/failover/AttemptEvents.ts"
import * as AccessTokens from "../plane/failover/AccessTokens.ts"
import * as CallReservations from "../plane/failover/CallReservations.ts"
import * as CallRunner from "../plane/failover/CallRunner.ts"
import * as ConcurrencyLimiter from "../plane/failover/ConcurrencyLimiter.ts"
import * as Failover from "../plane/failover/Failover.ts"
import * as OutcomeRecorder from "../plane/failover/OutcomeRecorder.ts"
import * as Waits from "../plane/failover/Waits.ts"
import * as Cache from "../plane/features/cache/Cache.ts"
import * as Coalescing from "../plane/features/coalescing/Coalescing.ts"
import * as Compression from "../plane/features/Compression.ts"
import * as Emergency from "../plane/features/Emergency.ts"
import * as Features from "../plane/features/Features.ts"
import * as KnownFiles from "../plane/features/files/KnownFiles.ts"
import * as Fusion from "../plane/features/fusion/Fusion.ts"
import * as Guardrails from "../plane/features/guardrails/Guardrails.ts"
import * as SummaryAccount from "../plane/features/handoff/SummaryAccount.ts"
import * as Handoff from "../plane/features/handoff/Handoff.ts"
import * as Hedging from "../plane/features/hedging/Hedging.ts"
import * as Idempotency from "../plane/features/idempotency/Idempotency.ts"
import * as Memory from "../plane/features/memory/Memory.ts"
import * as Plugins from "../plane/features/plugins/Plugins.ts"
import * as Progress from "../plane/features/Progress.ts"
import * as Recovery from "../plane/features/recovery/Recovery.ts"
import * as VisionBridge from "../plane/features/vision/VisionBridge.ts"
import * as WebSearch from "../plane/features/websearch/WebSearch.ts"
import * as InnerRequests from "../plane/InnerRequests.ts"
import * as MediaFetch from "../plane/media/MediaFetch.ts"
import * as Pipeline from "../plane/Pipeline.ts"
import * as ProviderLines from "../plane/ProviderLines.ts"
import * as Admission from "../plane/request/Admission.ts"
import * as Opening from "../plane/request/Opening.ts"
import * as Acknowledgement from "../plane/settle/Acknowledgement.ts"
import * as Ending from "../plane/settle/Ending.ts"
import * as Settlement from "../plane/settle/Settlement.ts"
import * as AnswerWatch from "../plane/state/kept/AnswerWatch.ts"
import * as OpaqueState from "../plane/state/kept/OpaqueState.ts"
import * as ResponseStore from "../plane/state/kept/ResponseStore.ts"
import * as Tokeniser from "../plane/tokens/Tokeniser.ts"

const attempts = AttemptRunner.layer.pipe(
  Layer.provide(Layer.mergeAll(AnswerWatch.layer, MediaFetch.layer, Recovery.continuationLayer))
)

const calls = CallRunner.layer.pipe(
  Layer.provide(Layer.mergeAll(attempts, OutcomeRecorder.layer)),
  Layer.provideMerge(Layer.mergeAll(AccessTokens.layer, CallReservations.layer, Waits.layer))
)

const failover = Failover.layer.pipe(
  Layer.provide(Layer.mergeAll(Hedging.layer, Recovery.continuationLayer, ConcurrencyLimiter.layer)),
  Layer.provide(Layer.merge(calls, AttemptEvents.layer))
)

const settlement = Ending.layer.pipe(Layer.provideMerge(Settlement.layer), Layer.provide(Acknowledgement.layer))

const features = Features.layer.pipe(
  Layer.provide(
    Layer.mergeAll(
      Cache.layer,
      Coalescing.layer,
      Compression.layer,
      Emergency.layer,
      Fusion.layer,
      KnownFiles.layer.pipe(Layer.provide(Files.layer)),
      Guardrails.layer,
      Handoff.layer,
      Idempotency.layer,
      Memory.layer,
      Plugins.layer,
      Progress.layer,
      Recovery.layer,
      VisionBridge.layer,
      WebSearch.layer
    )
  ),
  Layer.provideMerge(Embedder.layer),
  Layer.provide(Layer.mergeAll(InnerRequests.layer, SummaryAccount.layer, failover))
)

const counting = TokenCounter.layer.pipe(Layer.provide(Tokeniser.layer))

/** Inference over a configuration, the routing engine and settlement. */
export const inference = Layer.merge(Pipeline.layer, ProviderLines.layer).pipe(
  Layer.provide(
    Layer.mergeAll(features.pipe(Layer.provide(Layer.merge(counting, Opening.layer))), Opening.layer, counting)
  ),
  Layer.provide(Layer.mergeAll(settlement, Admission.layer)),
  Layer.provide(Layer.mergeAll(OpaqueState.layer, ResponseStore.layer))
)
