/**
 * One budget of bytes for all request bodies under way (`GATEWAY_MAX_BUFFERED_MB`), frames of sockets included: a limit per body alone
 * lets many of them fill the memory. What counts is what is held, not what was announced: else a few idle connections could take it all.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { BufferFull } from "../domain/Errors.ts"
import * as AppConfig from "../platform/AppConfig.ts"
import * as Settings from "./Settings.ts"

/** What one body takes of the budget. */
export interface BodyShare {
  /** Hot: whether so many more bytes may be held; when not, nothing is taken. After `release` nothing is counted any more. */
  readonly take: (bytes: number) => boolean
  /** Gives all of it back; further calls do nothing. */
  readonly release: () => void
}

export class BodyBudget extends Context.Tag("gateway/resilience/BodyBudget")<
  BodyBudget,
  {
    /** Hot: a share of its own for one body, empty at first, to be released however its request ends. */
    readonly share: () => BodyShare
    /** What a body beyond the budget is told. */
    readonly refusal: () => BufferFull
    readonly heldBytes: () => number
    /** Bodies refused since the start. */
    readonly refused: () => number
  }
>() {}

export const make = Effect.gen(function* () {
  const { maxBufferedBytes } = yield* AppConfig.AppConfig
  const settings = yield* Settings.Settings
  let heldBytes = 0
  let refused = 0

  const share = (): BodyShare => {
    let ownBytes = 0
    let released = false
    return {
      take: (bytes) => {
        if (released) return true
        if (heldBytes + bytes > maxBufferedBytes) return false
        heldBytes += bytes
        ownBytes += bytes
        return true
      },
      release: () => {
        if (released) return
        released = true
        heldBytes -= ownBytes
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
