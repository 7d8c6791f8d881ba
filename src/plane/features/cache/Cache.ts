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
import { mayKeepContent } from "../../../domain/ContentPermission.ts"
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
import { makeMeanings } from "./Meanings.ts"

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

export const make = Effect.gen(function* () {
  const cache = yield* AnswerCache
  const settings = yield* GatewaySettings
  const timers = yield* Timers.Timers
  const { monotonicMs, nowMs } = timers
  const meaningOf = makeMeanings({ embedder: yield* Embedder, settings, timers })
  const pending = new WeakMap<Trail, Pending>()

  const concerns = ({ envelope, exchange, parsed }: Work): boolean => {
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
  const keptOf = (work: Work, recorded: Recorded, target: Target, costNanoUsd: number): CachedAnswer | null => {
    const { envelope, exchange } = work
    const body = Buffer.concat(recorded.chunks)
    const read = envelope.stream ? readStream(exchange.codec, body) : readWhole(exchange.codec, body)
    if (read === null || !isWhole(read.response)) return null
    const calls = hasToolCalls(read.response)
    if (calls && !takesToolCalls(exchange.headers)) return null
    const createdAtMs = nowMs()
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
    work: Work,
    key: string,
    { costNanoUsd, meaning, target }: Pending,
    recorded: Recorded | null
  ): void => {
    if (recorded === null || target === null || !recorded.isEnded || recorded.status !== 200) return
    const kept = keptOf(work, recorded, target, costNanoUsd)
    const permission = mayKeepContent(work.exchange.principal)
    if (kept !== null && permission !== null)
      cache.keep(permission, key, work.owner, kept, kept.hasToolCalls ? null : meaning)
  }

  const watched = (next: Answer, work: Work, key: string, meaning: Meaning | null): Effect.Effect<Answered> => {
    const underWay: Pending = { target: null, costNanoUsd: 0, meaning }
    cache.count("miss")
    pending.set(work.trail, underWay)
    work.trail.addHeader("X-Gateway-Cache", "MISS")
    const { exchange } = work
    const reply = recording(exchange.reply, maxAnswerBytes, (recorded) => over(work, key, underWay, recorded))
    return Effect.map(next({ ...work, exchange: { ...exchange, reply } }), (answered) => {
      const { end } = answered
      if (end._tag === "Answered" && end.result._tag === "Completed") underWay.target = end.target
      return answered
    })
  }

  const given = (work: Work, kept: CachedAnswer, hit: Hit): Answered => ({
    work,
    end: keptEnd(work, kept, hit, monotonicMs),
    others: []
  })

  /** A request that asks the same in other words. */
  const byMeaning = Effect.fn("Cache.byMeaning")(function* (next: Answer, work: Work, key: string, fields: string) {
    const asked = yield* meaningOf(work, fields)
    if (asked === null) return yield* watched(next, work, key, null)
    const found = yield* cache.nearest(asked.meaning, asked.threshold)
    const hit = found === null || found.answer.hasToolCalls ? null : hitOf(work, found.answer, nowMs())
    if (found === null || hit === null) return yield* watched(next, work, key, asked.meaning)
    cache.count("semantic-hit")
    work.trail.addHeader("X-Gateway-Cache-Similarity", found.near.similarity.toFixed(4))
    return given(work, found.answer, hit)
  })

  const answered = (next: Answer, work: Work): Effect.Effect<Answered> =>
    Effect.suspend(() => {
      const fields = answerFields(work)
      const key = cacheKey(fields, work.parsed)
      return Effect.flatMap(cache.find(key), (kept) => {
        const isGiven = kept !== null && (!kept.hasToolCalls || takesToolCalls(work.exchange.headers))
        const hit = isGiven ? hitOf(work, kept, nowMs()) : null
        if (kept === null || hit === null) return byMeaning(next, work, key, fields)
        cache.count("hit")
        return Effect.succeed(given(work, kept, hit))
      })
    })

  return Cache.of({
    concerns,
    around: (next) => (work) => (concerns(work) ? answered(next, work) : next(work)),
    ended: ({ trail }, _end, bill) => {
      const underWay = pending.get(trail)
      if (underWay !== undefined) underWay.costNanoUsd = bill.costNanoUsd
    }
  })
})

export const layer: Layer.Layer<Cache, never, AnswerCache | Embedder | GatewaySettings | Timers.Timers> = Layer.effect(
  Cache,
  make
)
