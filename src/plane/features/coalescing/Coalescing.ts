/**
 * Coalescing: equal requests of a caller at the same time, whose answer is the same each time, share one call (`docs/idempotency.md`). Not for
 * requests that the gateway makes itself, requests with files or a key of their own, searches and jobs.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { headerOf } from "../../../subjects/auth/Credentials.ts"
import { GatewaySettings } from "../../../subjects/flags/StoredFlags.ts"
import { Timers } from "../../../platform/Timers.ts"
import { Rooms } from "../../reply/HeldChunks.ts"
import type { Work } from "../../request/Exchange.ts"
import type { Feature } from "../Feature.ts"
import { SharedCall } from "../sharing/SharedCall.ts"
import { callKey } from "./CallKey.ts"
import { isDeterministic } from "./Deterministic.ts"

export class Coalescing extends Context.Tag("gateway/plane/features/coalescing/Coalescing")<Coalescing, Feature>() {}

/** A larger answer cannot be joined any more. */
const maxAnswerBytes = 8 * 1_048_576
/** Most bytes of all answers that are being received. */
const roomBytes = 64 * 1_048_576

const noMarks: ReadonlyArray<string> = []

/** Hot. A request with an `Idempotency-Key` is meant for itself, and one that wants no kept answer, too. */
const mayShare = ({ exchange }: Work): boolean =>
  exchange.madeFor === "client" &&
  exchange.service === undefined &&
  exchange.job === undefined &&
  exchange.uploads === undefined &&
  headerOf(exchange.headers, "idempotency-key") === null &&
  headerOf(exchange.headers, "x-gateway-no-cache") !== "true"

export const make = Effect.gen(function* () {
  const settings = yield* GatewaySettings
  const timers = yield* Timers
  const rooms = new Rooms(roomBytes)
  /** Calls by key; as many as there are requests in progress. */
  const calls = new Map<string, SharedCall>()

  const concerns = (work: Work): boolean =>
    settings.current().coalescing.enabled && isDeterministic(work.exchange, work.parsed) && mayShare(work)

  return Coalescing.of({
    concerns,
    around: (next) => (work) =>
      Effect.suspend(() => {
        if (!concerns(work)) return next(work)
        const key = callKey(work)
        const running = calls.get(key)
        if (running?.isJoinable === true) return running.follow(work, noMarks)
        const call: SharedCall = new SharedCall(work, {
          maxBytes: maxAnswerBytes,
          room: rooms.of(work.owner),
          timers,
          over: () => {
            if (calls.get(key) === call) calls.delete(key)
          }
        })
        calls.set(key, call)
        return call.lead(next)
      })
  })
})

export const layer: Layer.Layer<Coalescing, never, GatewaySettings | Timers> = Layer.effect(Coalescing, make)
