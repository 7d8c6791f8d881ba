/**
 * Lines of batches in the form in which a provider runs them itself: read, checked and resolved as any request, and not sent. A line that the
 * gateway would not pass on as it is written cannot be sent to a provider in this way.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type { Principal } from "../subjects/keys/entity.ts"
import type { CallEstimate } from "./ledger/KeyAccount.ts"
import * as IdGen from "../platform/IdGen.ts"
import * as Timers from "../platform/Timers.ts"
import type { Account } from "./providers/Catalog.ts"
import { batchPrice } from "../observe/usage/BatchPrice.ts"
import { PriceBook } from "../observe/usage/PriceBook.ts"
import { relayedCall, wayTo } from "./attempt/UpstreamCall.ts"
import { Hooks } from "../agents/plugins/hooks/Hooks.ts"
import { Features } from "./features/Features.ts"
import type { InnerRequest } from "./InnerRequests.ts"
import { estimatedPrompt, estimateOf } from "./request/CallEstimate.ts"
import { makeInnerReply } from "./request/InnerReply.ts"
import { Opening } from "./request/Opening.ts"
import { OpaqueState } from "./state/kept/OpaqueState.ts"

export interface ProviderLine {
  readonly account: Account
  /** The provider's name of the model. */
  readonly model: string
  /** Body that is sent. */
  readonly body: Buffer
  /** Estimate at the price of a batch. */
  readonly estimate: CallEstimate
}

/** A line in its caller's name, whose rights were judged; it counts when the provider has run it. */
export interface LineRequest extends Pick<InnerRequest, "batchId" | "body" | "path"> {
  readonly principal: Principal
  readonly format: NonNullable<InnerRequest["format"]>
}

export class ProviderLines extends Context.Tag("gateway/plane/ProviderLines")<
  ProviderLines,
  {
    /** Makes the line for a connection; null: for any. Returns null when only the gateway itself can ask it. */
    readonly of: (request: LineRequest, connectionId: string | null) => ProviderLine | null
  }
>() {}

export const make = Effect.gen(function* () {
  const features = yield* Features
  const { listens } = yield* Hooks
  const ids = yield* IdGen.IdGen
  const opening = yield* Opening
  const prices = yield* PriceBook
  const state = yield* OpaqueState
  const timers = yield* Timers.Timers

  const of: typeof ProviderLines.Service.of = ({ batchId, body, path, principal, format }, connectionId) => {
    // Plugins are to see each line. What a provider was promised already goes on.
    if (connectionId === null && (listens.onRequest || listens.onResponse)) return null
    const receivedMs = timers.nowMs()
    const read = opening.read({
      requestId: ids.next(receivedMs),
      receivedMs,
      startedMs: timers.monotonicMs(),
      ...format,
      method: "POST",
      path,
      body: Buffer.from(JSON.stringify(body)),
      fromPath: null,
      atOnce: null,
      headers: {},
      principal,
      madeFor: "resumed",
      ...(batchId === undefined ? {} : { batchId }),
      reply: makeInnerReply()
    })
    if ("_tag" in read) return null
    // The batch as a whole was admitted.
    const work = opening.decide(read, null)
    if ("_tag" in work) return null
    const { auto, combo, quotaGroup, targets } = work.resolution
    const isOneProvider = targets.every(({ account }) => account.spec.id === targets[0]?.account.spec.id)
    if (combo !== null || auto !== null || quotaGroup !== null || !isOneProvider || features.rewrites(work)) return null
    const target = work.decision.order.find(
      ({ account }) => connectionId === null || account.connection.id === connectionId
    )
    if (target === undefined) return null
    const way = wayTo(work, target, state)
    if (Either.isLeft(way) || !way.right.relays) return null
    const { body: sent } = relayedCall(work, way.right).request
    if (!Buffer.isBuffer(sent)) return null
    const { account, model } = target
    const price = prices.price(account.spec.id, model)
    const estimate = estimateOf(work, estimatedPrompt(work), price === null ? null : batchPrice(price))
    return { account, model, body: sent, estimate }
  }

  return ProviderLines.of({ of })
})

export const layer: Layer.Layer<
  ProviderLines,
  never,
  Features | Hooks | IdGen.IdGen | OpaqueState | Opening | PriceBook | Timers.Timers
> = Layer.effect(ProviderLines, make)
