/**
 * The vision bridge (`docs/guardrails.md`): pictures of a request to models that take none are described by another model, and the words are in
 * their places. Off by default (`visionBridge` of `/api/settings`). It is before the guardrails, so that they see what the pictures say.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mayKeepContent } from "../../../contract/domain/ContentPermission.ts"
import { GatewaySettings } from "../../../subjects/flags/StoredFlags.ts"
import * as Timers from "../../../platform/Timers.ts"
import { Catalog } from "../../providers/Catalog.ts"
import { InnerRequests } from "../../InnerRequests.ts"
import { unlessDisconnected } from "../../request/ClientDisconnect.ts"
import type { Work } from "../../request/Exchange.ts"
import { rewritten } from "../../request/RewrittenWork.ts"
import type { Feature } from "../Feature.ts"
import { GuardrailDecisions } from "../guardrails/Decisions.ts"
import { isChatLike, switchedOff } from "../guardrails/Policy.ts"
import { type Asking, type DescriptionMemory, makeDescriptions, visionPath } from "./Descriptions.ts"
import { replaceImages } from "./Images.ts"

export class VisionBridge extends Context.Tag("gateway/plane/features/vision/VisionBridge")<VisionBridge, Feature>() {}

export const headerName = "X-Gateway-Vision-Bridge"

/** Writes the text in the place of the picture with this number, counted from 1. */
const textOf = (number: number, description: string | null): string =>
  description === null ? `[Image ${number}: no description is available]` : `[Image ${number}]: ${description}`

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog
  const decisions = yield* GuardrailDecisions
  const settings = yield* GatewaySettings
  const { nowMs } = yield* Timers.Timers
  const descriptions = makeDescriptions(yield* InnerRequests, nowMs)

  /** A model of which nothing is known may take pictures. */
  const isBlind = ({ decision: { order } }: Work): boolean =>
    order.length > 0 && order.every(({ account, model }) => catalog.factsOf(account, model).vision === false)

  const concerns = (work: Work): boolean => {
    const { enabled, model } = settings.current().visionBridge
    if (!enabled || model === null) return false
    // Pictures in results of tools are not among those that the envelope names.
    const mayHaveImages = work.envelope.hasImages || work.body.includes("image")
    return mayHaveImages && work.exchange.path !== visionPath && isChatLike(work) && isBlind(work)
  }

  /** The pictures that are not described yet, by their keys: the last ones, as many as may be. */
  const missing = (
    images: ReadonlyArray<{ readonly key: string | null; readonly url: string | null }>,
    most: number,
    memory: DescriptionMemory
  ): ReadonlyMap<string, string> => {
    const last = new Map<string, string>()
    for (const { key, url } of images.toReversed()) {
      if (last.size === most) break
      if (key !== null && url !== null && descriptions.known(memory, key, nowMs()) === null) last.set(key, url)
    }
    return last
  }

  const described = Effect.fnUntraced(function* (work: Work, asking: Asking) {
    const { wire } = work.exchange
    const images: Array<{ readonly key: string | null; readonly url: string | null }> = []
    replaceImages(wire, work.parsed, (url) => {
      images.push({ key: descriptions.keyOf(asking, url), url })
      return null
    })
    if (images.length === 0) return work
    yield* descriptions.ask(asking, missing(images, asking.settings.maxImages, asking.memory))
    const texts = images.map(({ key }) => (key === null ? null : descriptions.known(asking.memory, key, nowMs())))
    let at = 0
    const body = replaceImages(wire, work.parsed, () => {
      at += 1
      return textOf(at, texts[at - 1] ?? null)
    })
    const failed = texts.filter((text) => text === null).length
    if (texts.length > failed) decisions.count("vision-bridge", "describe", texts.length - failed)
    if (failed > 0) decisions.count("vision-bridge", "failed", failed)
    work.trail.addHeader(headerName, failed === 0 ? `${texts.length}` : `${texts.length - failed}; failed=${failed}`)
    const described = rewritten(work, body)
    return { ...described, envelope: { ...described.envelope, hasImages: false } }
  })

  const bridged = (work: Work): Effect.Effect<Work> => {
    const { model, ...rest } = settings.current().visionBridge
    if (model === null || switchedOff(settings.access.guardrails.current(), work.exchange).has("vision-bridge"))
      return Effect.succeed(work)
    const { principal } = work.exchange
    const memory = descriptions.memoryFor(mayKeepContent(principal))
    const asking = { principal, owner: work.owner, settings: { ...rest, model }, memory }
    // For a client that has left, failover ends the request.
    return Effect.catchTag(unlessDisconnected(work.exchange.reply, described(work, asking)), "ClientGone", () =>
      Effect.succeed(work)
    )
  }

  return VisionBridge.of({
    concerns,
    around: (next) => (work) => (concerns(work) ? Effect.flatMap(bridged(work), next) : next(work))
  })
})

export const layer: Layer.Layer<
  VisionBridge,
  never,
  Catalog | GatewaySettings | GuardrailDecisions | InnerRequests | Timers.Timers
> = Layer.effect(VisionBridge, make)
