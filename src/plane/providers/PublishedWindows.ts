/**
 * Context windows that come with the program, per provider, from the embedded data package. Its numbers are rounded, so they
 * are asked last. Loaded when a catalogue is built, never at import time; it is only read.
 */
import * as Effect from "effect/Effect"
import { publishedAs } from "./PublishedAs.ts"

export interface PublishedWindows {
  /** Tokens; null when nothing is published. Slow: memoise. */
  readonly find: (provider: string, model: string) => number | null
}

export const load: Effect.Effect<PublishedWindows> = Effect.promise(() => import("@pydantic/genai-prices")).pipe(
  Effect.map(({ calcPrice }) => ({
    find: (provider, model) => {
      const providerId = publishedAs.get(provider)
      if (providerId === undefined) return null
      const found = calcPrice({}, model, { providerId, timestamp: new Date(0) })
      return found?.model.context_window ?? null
    }
  }))
)
