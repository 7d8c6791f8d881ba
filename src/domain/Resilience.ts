/**
 * Resilience settings as the contract shows them (B3 `/api/resilience`, B5 "Timeouts"): shape, limits and defaults.
 */
import * as Schema from "effect/Schema"

const timeoutMs = Schema.Int.pipe(Schema.between(50, 86_400_000))

/** The four timeouts of a request, in milliseconds. */
export const Timeouts = Schema.Struct({
  /** One connection attempt: DNS, TCP and TLS. */
  connectMs: timeoutMs,
  /** Each attempt until its first content. */
  firstByteMs: timeoutMs,
  /** Between upstream bytes after content has begun. */
  idleMs: timeoutMs,
  /** The whole client request over all attempts. */
  totalMs: timeoutMs
}).annotations({ identifier: "Timeouts" })
export type Timeouts = typeof Timeouts.Type

export const ResilienceSettings = Schema.Struct({ timeouts: Timeouts }).annotations({ identifier: "Resilience" })
export type ResilienceSettings = typeof ResilienceSettings.Type

/** Any part of the settings; null and absent both mean "leave it". */
const part = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true, nullable: true })

export const ResiliencePatch = Schema.Struct({
  timeouts: part(
    Schema.Struct({
      connectMs: part(timeoutMs),
      firstByteMs: part(timeoutMs),
      idleMs: part(timeoutMs),
      totalMs: part(timeoutMs)
    })
  )
})
export type ResiliencePatch = typeof ResiliencePatch.Type

export const defaultResilience: ResilienceSettings = {
  timeouts: { connectMs: 30_000, firstByteMs: 180_000, idleMs: 300_000, totalMs: 600_000 }
}

/** Lays a patch over settings; what the patch leaves out stays. */
export const mergeResilience = (settings: ResilienceSettings, patch: ResiliencePatch): ResilienceSettings => ({
  timeouts: { ...settings.timeouts, ...patch.timeouts }
})
