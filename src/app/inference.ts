/** The layers of the inference path: opening, attempts, failover, features and settlement. */
import * as Files from "../files/Files.ts"
import * as Layer from "effect/Layer"
import * as AttemptRunner from "../inference/attempt/AttemptRunner.ts"
import * as TokenCounter from "../inference/counting/TokenCounter.ts"
import * as Embedder from "../inference/embedding/Embedder.ts"
import * as AttemptEvents from "../inference/failover/AttemptEvents.ts"
import * as AccessTokens from "../inference/failover/AccessTokens.ts"
import * as CallReservations from "../inference/failover/CallReservations.ts"
import * as CallRunner from "../inference/failover/CallRunner.ts"
import * as ConcurrencyLimiter from "../inference/failover/ConcurrencyLimiter.ts"
import * as Failover from "../inference/failover/Failover.ts"
import * as OutcomeRecorder from "../inference/failover/OutcomeRecorder.ts"
import * as Waits from "../inference/failover/Waits.ts"
import * as Cache from "../inference/features/cache/Cache.ts"
import * as Coalescing from "../inference/features/coalescing/Coalescing.ts"
import * as Compression from "../inference/features/compression/Compression.ts"
import * as Emergency from "../inference/features/emergency/Emergency.ts"
import * as Features from "../inference/features/Features.ts"
import * as KnownFiles from "../inference/features/files/KnownFiles.ts"
import * as Fusion from "../inference/features/fusion/Fusion.ts"
import * as Guardrails from "../inference/features/guardrails/Guardrails.ts"
import * as SummaryAccount from "../inference/features/handoff/SummaryAccount.ts"
import * as Handoff from "../inference/features/handoff/Handoff.ts"
import * as Hedging from "../inference/features/hedging/Hedging.ts"
import * as Idempotency from "../inference/features/idempotency/Idempotency.ts"
import * as Memory from "../inference/features/memory/Memory.ts"
import * as Plugins from "../inference/features/plugins/Plugins.ts"
import * as Progress from "../inference/features/progress/Progress.ts"
import * as Recovery from "../inference/features/recovery/Recovery.ts"
import * as VisionBridge from "../inference/features/vision/VisionBridge.ts"
import * as InnerRequests from "../inference/InnerRequests.ts"
import * as MediaFetch from "../inference/media/MediaFetch.ts"
import * as Pipeline from "../inference/Pipeline.ts"
import * as ProviderLines from "../inference/ProviderLines.ts"
import * as Admission from "../inference/request/Admission.ts"
import * as Opening from "../inference/request/Opening.ts"
import * as Acknowledgement from "../inference/settle/Acknowledgement.ts"
import * as Ending from "../inference/settle/Ending.ts"
import * as Settlement from "../inference/settle/Settlement.ts"
import * as AnswerWatch from "../inference/state/AnswerWatch.ts"
import * as OpaqueState from "../inference/state/OpaqueState.ts"
import * as ResponseStore from "../inference/state/ResponseStore.ts"
import * as Tokeniser from "../tokens/Tokeniser.ts"

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
