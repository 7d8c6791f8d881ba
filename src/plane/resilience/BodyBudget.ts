/**
 * One budget of bytes for all request bodies in progress (`GATEWAY_MAX_BUFFERED_MB`), frames of sockets included: a limit per body alone lets many of
 * them fill the memory. One API key gets three quarters of it, and a largest body in any case. What counts is what is held, not what was announced:
 * else a few idle connections could take it all.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { BufferFull } from "../../contract/domain/Errors.ts"
import { mostHeld } from "../../kernel/collections/FairShare.ts"
import * as AppConfig from "../../platform/AppConfig.ts"
import * as Settings from "./Settings.ts"

/** Share of one body in the budget. */
export interface BodyShare {
  /**
   * Hot: takes `bytes` more; false when they may not be held, and nothing is taken. After `release` nothing is counted
   * any more.
   */
  readonly take: (bytes: number) => boolean
  /** Gives all of it back; further calls do nothing. */
  readonly release: () => void
}

export class BodyBudget extends Context.Tag("gateway/plane/resilience/BodyBudget")<
  BodyBudget,
  {
    /** Hot: a share of its own for one body, `apiKeyId` null for callers without a key; empty at first, to be released however its request ends. */
    readonly share: (apiKeyId: string | null) => BodyShare
    /** Makes the error for a body beyond the budget. */
    readonly refusal: () => BufferFull
    readonly heldBytes: () => number
    /** Bodies refused since the start. */
    readonly refused: () => number
  }
>() {}

export const make = Effect.gen(function* () {
  const { maxBodyBytes, maxBufferedBytes } = yield* AppConfig.AppConfig
  const mostOfKey = Math.max(maxBodyBytes, mostHeld(maxBufferedBytes))
  const settings = yield* Settings.Settings
  let heldBytes = 0
  let refused = 0

  const byKey = new Map<string, number>()

  const bytesOfKey = (apiKeyId: string | null): number => (apiKeyId === null ? 0 : (byKey.get(apiKeyId) ?? 0))

  const hold = (apiKeyId: string | null, bytes: number): void => {
    heldBytes += bytes
    if (apiKeyId === null) return
    const own = bytesOfKey(apiKeyId) + bytes
    if (own > 0) byKey.set(apiKeyId, own)
    else byKey.delete(apiKeyId)
  }

  const share = (apiKeyId: string | null): BodyShare => {
    let ownBytes = 0
    let released = false
    return {
      take: (bytes) => {
        if (released) return true
        if (heldBytes + bytes > maxBufferedBytes) return false
        if (bytesOfKey(apiKeyId) + bytes > mostOfKey && apiKeyId !== null) return false
        hold(apiKeyId, bytes)
        ownBytes += bytes
        return true
      },
      release: () => {
        if (released) return
        released = true
        hold(apiKeyId, -ownBytes)
      }
    }
  }

  const refusal = (): BufferFull => {
    refused += 1
    return new BufferFull({ retryAfterMs: settings.current().loadShedding.retryAfterMs })
  }
  return BodyBudget.of({ share, refusal, heldBytes: () => heldBytes, refused: () => refused })
})

export const layer: Layer.Layer<BodyBudget, never, AppConfig.AppConfig | Settings.Settings> = Layer.effect(
  BodyBudget,
  make
)
