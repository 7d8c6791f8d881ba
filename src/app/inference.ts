/** The layers of the inference path: opening, attempts, failover, features and settlement. */
import * as Files from "../subjects/files/service.ts"
import * as Layer from "effect/Layer"
import * as AttemptRunner from "../plane/inference/attempt/AttemptRunner.ts"
import * as TokenCounter from "../plane/inference/counting/TokenCounter.ts"
import * as Embedder from "../plane/inference/embedding/Embedder.ts"
import * as AttemptEvents from "../plane/inference/failover/AttemptEvents.ts"
import * as AccessTokens from "../plane/inference/failover/AccessTokens.ts"
import * as CallReservations from "../plane/inference/failover/CallReservations.ts"
import * as CallRunner from "../plane/inference/failover/CallRunner.ts"
import * as ConcurrencyLimiter from "../plane/inference/failover/ConcurrencyLimiter.ts"
import * as Failover from "../plane/inference/failover/Failover.ts"
import * as OutcomeRecorder from "../plane/inference/failover/OutcomeRecorder.ts"
import * as Waits from "../plane/inference/failover/Waits.ts"
import * as Cache from "../plane/inference/features/cache/Cache.ts"
import * as Coalescing from "../plane/inference/features/coalescing/Coalescing.ts"
import * as Compression from "../plane/inference/features/compression/Compression.ts"
import * as Emergency from "../plane/inference/features/emergency/Emergency.ts"
import * as Features from "../plane/inference/features/Features.ts"
import * as KnownFiles from "../plane/inference/features/files/KnownFiles.ts"
import * as Fusion from "../plane/inference/features/fusion/Fusion.ts"
import * as Guardrails from "../plane/inference/features/guardrails/Guardrails.ts"
import * as SummaryAccount from "../plane/inference/features/handoff/SummaryAccount.ts"
import * as Handoff from "../plane/inference/features/handoff/Handoff.ts"
import * as Hedging from "../plane/inference/features/hedging/Hedging.ts"
import * as Idempotency from "../plane/inference/features/idempotency/Idempotency.ts"
import * as Memory from "../plane/inference/features/memory/Memory.ts"
import * as Plugins from "../plane/inference/features/plugins/Plugins.ts"
import * as Progress from "../plane/inference/features/progress/Progress.ts"
import * as Recovery from "../plane/inference/features/recovery/Recovery.ts"
import * as VisionBridge from "../plane/inference/features/vision/VisionBridge.ts"
import * as InnerRequests from "../plane/inference/InnerRequests.ts"
import * as MediaFetch from "../plane/inference/media/MediaFetch.ts"
import * as Pipeline from "../plane/inference/Pipeline.ts"
import * as ProviderLines from "../plane/inference/ProviderLines.ts"
import * as Admission from "../plane/inference/request/Admission.ts"
import * as Opening from "../plane/inference/request/Opening.ts"
import * as Acknowledgement from "../plane/inference/settle/Acknowledgement.ts"
import * as Ending from "../plane/inference/settle/Ending.ts"
import * as Settlement from "../plane/inference/settle/Settlement.ts"
import * as AnswerWatch from "../plane/inference/state/AnswerWatch.ts"
import * as OpaqueState from "../plane/inference/state/OpaqueState.ts"
import * as ResponseStore from "../plane/inference/state/ResponseStore.ts"
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
      VisionBridge.layer
    )
  ),
  Layer.provideMerge(Embedder.layer),
  Layer.provide(Layer.mergeAll(InnerRequests.layer, SummaryAccount.layer, failover))
)

const counting = TokenCounter.layer.pipe(Layer.provide(Tokeniser.layer))

/** Inference over a configuration, the routing engine and settlement. */
export const inference = Layer.merge(Pipeline.layer, ProviderLines.layer).pipe(
  Layer.provide(Layer.mergeAll(features.pipe(Layer.provide(counting)), Opening.layer, counting)),
  Layer.provide(Layer.mergeAll(settlement, Admission.layer)),
  Layer.provide(Layer.mergeAll(OpaqueState.layer, ResponseStore.layer))
)
