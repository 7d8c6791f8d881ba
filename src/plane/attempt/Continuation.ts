/**
 * Policy by which an answer that broke in the middle of a stream is continued. The default continues none; `features/recovery`
 * provides another.
 */
import * as Context from "effect/Context"
import type { WireName } from "../../contract/domain/Wire.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import type { Conversation } from "../../wire/canonical/Conversation.ts"
import type { StreamEncoder, WireCodec } from "../../wire/WireCodec.ts"
import type { DeliveredPrefix } from "../request/DeliveredPrefix.ts"
import type { Resumption, Work } from "../request/Exchange.ts"
import type { AttemptResult } from "./AttemptResult.ts"

/** The call that goes on: its codec writes into the stream that the client has begun to read. */
export interface ContinuingPart {
  readonly codec: WireCodec
  /** The target has said something for the client. */
  readonly hasContent: () => boolean
}

export interface ContinuationService {
  /** Hot: decides whether the delivered part of a broken answer to this request has to be known. */
  readonly mayContinue: (work: Work) => boolean
  /** Keeps what `encoder` has written for the client. */
  readonly makeDeliveredPrefix: (encoder: StreamEncoder) => DeliveredPrefix
  /** Makes the work for the next target after a break; null when the answer cannot be continued. */
  readonly resume: (work: Work, target: Target, broken: Extract<AttemptResult, { _tag: "Broken" }>) => Work | null
  /** The conversation up to the break. */
  readonly conversation: (asked: Conversation, resumption: Resumption, wire: WireName, model: string) => Conversation
  readonly part: (
    work: Work,
    resumption: Resumption,
    target: Target,
    wire: WireName,
    dropped: ReadonlyArray<string>
  ) => ContinuingPart
  /** The line of the log. */
  readonly story: (work: Work, resumption: Resumption, target: Target, result: AttemptResult) => string
}

/** Null where no answer is continued. */
export class Continuation extends Context.Reference<Continuation>()("gateway/plane/attempt/Continuation", {
  defaultValue: (): ContinuationService | null => null
}) {}
