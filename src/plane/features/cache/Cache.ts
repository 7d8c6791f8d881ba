/**
 * The cache of answers: the same request of the same API key is answered with what it was answered with before, and where `cache.semantic` is on
 * one that asks the same in other words, too. Off by default (`cache` in `/api/settings`, `docs/cache.md`). Lines of batches are asked for, too.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AnswerCache } from "../../cache/AnswerCache.ts"
import { cacheKey } from "../../cache/CacheKey.ts"
import { hasToolCalls, isCacheable, isWhole, refusesCache, takesToolCalls } from "../../cache/Eligibility.ts"
import type { CachedAnswer, Meaning } from "../../../subjects/cache/entity.ts"
import { mayKeepContent } from "../../../contract/domain/ContentPermission.ts"
import { GatewaySettings } from "../../../subjects/flags/StoredFlags.ts"
import * as Timers from "../../../platform/Timers.ts"
import type { Target } from "../../routing/resolve/ModelResolver.ts"
import { codecs } from "../../../wire/Codec.ts"
import { Embedder } from "../../embedding/Embedder.ts"
import { headerIn } from "../../reply/ReplyHeaders.ts"
import { type Recorded, recording } from "../../reply/Recorder.ts"
import type { Work } from "../../request/Exchange.ts"
import type { Trail } from "../../request/Trail.ts"
import type { Answer, Answered, Feature } from "../Feature.ts"
import { answerFields } from "../sharing/AnswerFields.ts"
import { type Hit, hitOf, keptEnd, variantOf } from "./CacheHit.ts"
import { readStream, readWhole } from "./KeptResponse.ts"
import { makeMeanings, type MeaningOf } from "./Meanings.ts"

export class Cache extends Context.Tag("gateway/plane/features/cache/Cache")<Cache, Feature>() {}

/** A larger answer is not kept. */
export const maxAnswerBytes = 2 * 1_048_576

/** Facts of an answer that is being received: it is stored once it is complete. */
interface Pending {
  /** Null until it is complete. */
  target: Target | null
  costNanoUsd: number
  /** Meaning of its question; null where that is not compared. */
  readonly meaning: Meaning | null
}

const services = Effect.all({ cache: AnswerCache, settings: GatewaySettings, timers: Timers.Timers })
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly pending: WeakMap<Trail, Pending>
  readonly meaningOf: (work: Work, fields: string) => Effect.Effect<MeaningOf | null>
}

const concerns = ({ settings }: Deps, { envelope, exchange, parsed }: Work): boolean => {
  const { anyTemperature, enabled } = settings.current().cache
  return (
    enabled &&
    // What may not be kept is not looked for either: nothing of the caller is there.
    mayKeepContent(exchange.principal) !== null &&
    exchange.codec === codecs[exchange.wire] &&
    isCacheable(exchange.wire, parsed, { anyTemperature, candidates: envelope.candidates }) &&
    !refusesCache(exchange.headers)
  )
}

/** The answer as it is kept; null when it is not complete, or may not be kept. */
const keptOf = (
  { settings, timers }: Deps,
  work: Work,
  recorded: Recorded,
  target: Target,
  costNanoUsd: number
): CachedAnswer | null => {
  const { envelope, exchange } = work
  const body = Buffer.concat(recorded.chunks)
  const read = envelope.stream ? readStream(exchange.codec, body) : readWhole(exchange.codec, body)
  if (read === null || !isWhole(read.response)) return null
  const calls = hasToolCalls(read.response)
  if (calls && !takesToolCalls(exchange.headers)) return null
  const createdAtMs = timers.nowMs()
  return {
    form: envelope.stream ? "stream" : "whole",
    variant: variantOf(work),
    contentType: headerIn(recorded.headers, "content-type") ?? "application/json",
    body,
    hasToolCalls: calls,
    provider: target.account.spec.id,
    model: target.model,
    costNanoUsd,
    createdAtMs,
    expiresAtMs: createdAtMs + settings.current().cache.ttlSeconds * 1_000
  }
}

const over = (
  deps: Deps,
  work: Work,
  key: string,
  { costNanoUsd, meaning, target }: Pending,
  recorded: Recorded | null
): void => {
  if (recorded === null || target === null || !recorded.isEnded || recorded.status !== 200) return
  const kept = keptOf(deps, work, recorded, target, costNanoUsd)
  const permission = mayKeepContent(work.exchange.principal)
  if (kept !== null && permission !== null)
    deps.cache.keep(permission, key, work.owner, kept, kept.hasToolCalls ? null : meaning)
}

const watched = (
  deps: Deps,
  next: Answer,
  work: Work,
  key: string,
  meaning: Meaning | null
): Effect.Effect<Answered> => {
  const { cache, pending } = deps
  const underWay: Pending = { target: null, costNanoUsd: 0, meaning }
  cache.count("miss")
  pending.set(work.trail, underWay)
  work.trail.addHeader("X-Gateway-Cache", "MISS")
  const { exchange } = work
  const reply = recording(exchange.reply, maxAnswerBytes, (recorded) => over(deps, work, key, underWay, recorded))
  return Effect.map(next({ ...work, exchange: { ...exchange, reply } }), (answered) => {
    const { end } = answered
    if (end._tag === "Answered" && end.result._tag === "Completed") underWay.target = end.target
    return answered
  })
}

const answeredFrom = ({ timers }: Deps, work: Work, kept: CachedAnswer, hit: Hit): Answered => ({
  work,
  end: keptEnd(work, kept, hit, timers.monotonicMs),
  others: []
})

/** A request that asks the same in other words. */
const byMeaning = Effect.fn("Cache.byMeaning")(function* (
  deps: Deps,
  next: Answer,
  work: Work,
  key: string,
  fields: string
) {
  const { cache, meaningOf, timers } = deps
  const asked = yield* meaningOf(work, fields)
  if (asked === null) return yield* watched(deps, next, work, key, null)
  const found = yield* cache.nearest(asked.meaning, asked.threshold)
  const hit = found === null || found.answer.hasToolCalls ? null : hitOf(work, found.answer, timers.nowMs())
  if (found === null || hit === null) return yield* watched(deps, next, work, key, asked.meaning)
  cache.count("semantic-hit")
  work.trail.addHeader("X-Gateway-Cache-Similarity", found.near.similarity.toFixed(4))
  return answeredFrom(deps, work, found.answer, hit)
})

const answered = (deps: Deps, next: Answer, work: Work): Effect.Effect<Answered> =>
  Effect.suspend(() => {
    const fields = answerFields(work)
    const key = cacheKey(fields, work.parsed)
    return Effect.flatMap(deps.cache.find(key), (kept) => {
      const isUsable = kept !== null && (!kept.hasToolCalls || takesToolCalls(work.exchange.headers))
      const hit = isUsable ? hitOf(work, kept, deps.timers.nowMs()) : null
      if (kept === null || hit === null) return byMeaning(deps, next, work, key, fields)
      deps.cache.count("hit")
      return Effect.succeed(answeredFrom(deps, work, kept, hit))
    })
  })

export const make = Effect.gen(function* () {
  const all = yield* services
  const meaningOf = makeMeanings({ embedder: yield* Embedder, settings: all.settings, timers: all.timers })
  const pending = new WeakMap<Trail, Pending>()
  const deps: Deps = { ...all, pending, meaningOf }

  return Cache.of({
    concerns: (work) => concerns(deps, work),
    around: (next) => (work) => (concerns(deps, work) ? answered(deps, next, work) : next(work)),
    ended: ({ trail }, _end, bill) => {
      const underWay = pending.get(trail)
      if (underWay !== undefined) underWay.costNanoUsd = bill.costNanoUsd
    }
  })
})

export const layer: Layer.Layer<Cache, never, Effect.Effect.Context<typeof services> | Embedder> = Layer.effect(
  Cache,
  make
)
