/**
 * Makes the texts of a request smaller before they are sent (`docs/compression.md`). Off by default. Where it is on but a request passes no
 * engine, its turns are remembered as they went out, so that a later request of the session sends them the same.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { headerOf } from "../../subjects/auth/Credentials.ts"
import { CompressionAnalytics } from "../compression/Analytics.ts"
import { type Compressed, compressInSlices } from "../compression/Compressor.ts"
import { chosen, enginesFor, type Mode, type Source } from "../compression/Modes.ts"
import { Profiles } from "../compression/Profiles.ts"
import { RawOutputs } from "../compression/RawOutputs.ts"
import { isFailure } from "../compression/rtk/Kept.ts"
import { RtkFilters } from "../compression/rtk/RtkFilters.ts"
import { limitsOf } from "../compression/rtk/Settings.ts"
import { rtkEngine } from "../compression/ResultEngines.ts"
import { Stability } from "../compression/Stability.ts"
import { mayShowContent } from "../../contract/domain/ContentPermission.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import * as Timers from "../../platform/Timers.ts"
import { estimateTexts } from "../tokens/TextEstimate.ts"
import { Tokeniser } from "../tokens/Tokeniser.ts"
import { codecs } from "../../wire/Codec.ts"
import { promptTexts } from "../request/PromptTokens.ts"
import { apiKeyIdOf, type Work } from "../request/Exchange.ts"
import { rewritten } from "../request/RewrittenWork.ts"
import type { Feature } from "./Feature.ts"

export class Compression extends Context.Tag("gateway/plane/features/Compression")<Compression, Feature>() {}

/** Names the owner of a conversation: the client's own id of its session distinguishes two that begin the same. */
const ownerOf = ({ owner, parsed, sessionId }: Work): string =>
  JSON.stringify([owner, sessionId, parsed["previous_response_id"] ?? null])

export const make = Effect.gen(function* () {
  const analytics = yield* CompressionAnalytics
  const filters = yield* RtkFilters
  const profiles = yield* Profiles
  const raw = yield* RawOutputs
  const settings = yield* GatewaySettings
  const tokeniser = yield* Tokeniser
  const { monotonicMs, nowMs, soon } = yield* Timers.Timers
  const pause = Effect.async<void>((resume) => soon(() => resume(Effect.void)))
  const stability = new Stability()

  const isOn = (): boolean => settings.access.compression.current().enabled

  const isCompressible = ({ exchange }: Work): boolean => exchange.codec === codecs[exchange.wire]

  const concerns = (work: Work): boolean => isOn() && isCompressible(work)

  const run = (
    work: Work
  ): { readonly compressing: Effect.Effect<Compressed>; readonly mode: Mode; readonly source: Source } => {
    const { exchange, parsed } = work
    const apiKeyId = apiKeyIdOf(exchange)
    const permission = mayShowContent(exchange.principal)
    const { mode, pipeline, source } = chosen(
      settings.access.compression.current(),
      { combos: profiles.combos.current().combos, routingComboId: work.resolution.combo?.id ?? null },
      headerOf(exchange.headers, "x-gateway-compression"),
      () => estimateTexts(promptTexts(work, work.envelope.model))
    )
    const own = raw.settings.current()
    const rtk = own.enabled ? rtkEngine(filters.inForce(), limitsOf(own)) : null
    const engines = enginesFor(pipeline, { caveman: profiles.caveman.current(), rtk })
    const options = {
      wire: exchange.wire,
      body: parsed,
      engines,
      // Where nothing may be kept, nothing is left out that would have to be.
      tools: {
        keep: (text: string) => (permission === null ? null : raw.keep(permission, apiKeyId, text, isFailure(text)))
      },
      owner: ownerOf(work),
      asTheyCame: mode === "off" && source === "request-header",
      stability: permission === null ? null : stability.of(permission),
      monotonicMs
    }
    // Engines that are switched off in their own settings do nothing.
    return { compressing: compressInSlices(options, pause), mode: engines.length === 0 ? "off" : mode, source }
  }

  /** Tokens of the request before and after: what did not change is counted once. */
  const saved = (work: Work, { changes }: Compressed): Effect.Effect<readonly [before: number, after: number]> =>
    Effect.map(
      Effect.all([
        tokeniser.count(promptTexts(work, work.envelope.model)),
        tokeniser.count(changes.map(({ before }) => before)),
        tokeniser.count(changes.map(({ after }) => after))
      ]),
      ([all, before, after]) => [all, Math.max(0, all - before + after)] as const
    )

  const logFailure = ({ failures: [failed] }: Compressed): Effect.Effect<void> =>
    failed === undefined
      ? Effect.void
      : Effect.logWarning(`The compression engine ${failed.engine} failed; texts were left as they are`, failed.cause)

  const compressed = Effect.fnUntraced(function* (work: Work) {
    const { compressing, mode, source } = run(work)
    const found = yield* compressing
    yield* logFailure(found)
    work.trail.addHeader("X-Gateway-Compression", `${mode}; source=${source}`)
    if (found.changes.length === 0) {
      analytics.count({ atMs: nowMs(), mode, source, tokens: null })
      return work
    }
    const [before, after] = yield* saved(work, found)
    analytics.count({ atMs: nowMs(), mode, source, tokens: { before, after } })
    work.trail.addHeader("X-Gateway-Compression-Saved", `${before}-${after}`)
    return rewritten(work, found.body)
  })

  const smaller = (work: Work): Effect.Effect<Work> =>
    Effect.catchAllDefect(compressed(work), (defect) =>
      Effect.as(Effect.logError("A request could not be compressed; it goes on as it is", defect), work)
    )

  return Compression.of({
    concerns,
    remark: (work) => {
      if (!isOn() && isCompressible(work)) work.trail.addHeader("X-Gateway-Compression", "off; source=off")
    },
    around: (next) => (work) => (concerns(work) ? Effect.flatMap(smaller(work), next) : next(work))
  })
})

export const layer: Layer.Layer<
  Compression,
  never,
  CompressionAnalytics | GatewaySettings | Profiles | RawOutputs | RtkFilters | Timers.Timers | Tokeniser
> = Layer.effect(Compression, make)
