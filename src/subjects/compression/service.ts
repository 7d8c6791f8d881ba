/** The compression of requests, for people who run the gateway: its settings, and what it would make of a request. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { CompressionPreviewInput } from "./routes.ts"
import { readBlocks } from "../../plane/compression/Blocks.ts"
import { compress } from "../../plane/compression/Compressor.ts"
import type { EngineName } from "../../plane/compression/Engine.ts"
import { enginesFor, type Mode, panelOf } from "../../plane/compression/Modes.ts"
import { comboNamed, Profiles } from "../../plane/compression/Profiles.ts"
import { RawOutputs } from "../../plane/compression/RawOutputs.ts"
import { RtkFilters } from "../../plane/compression/rtk/RtkFilters.ts"
import { limitsOf } from "../../plane/compression/rtk/Settings.ts"
import { rtkEngine } from "../../plane/compression/ResultEngines.ts"
import { protectedSpans } from "../../plane/compression/Spans.ts"
import { type CompressionSettings, type CompressionSettingsPatch, defaultCompressionSettings } from "./entity.ts"
import { GatewaySettings } from "../flags/StoredFlags.ts"
import * as Timers from "../../platform/Timers.ts"
import type { StoreError } from "../../store/Errors.ts"
import { Tokeniser } from "../../plane/tokens/Tokeniser.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import * as Errors from "../Errors.ts"

export interface Preview {
  readonly mode: Mode
  readonly body: JsonObject
  readonly tokensBefore: number
  readonly tokensAfter: number
  readonly perEngine: ReadonlyArray<{
    readonly engine: EngineName
    readonly tokensBefore: number
    readonly tokensAfter: number
    readonly elapsedMs: number
  }>
  readonly kept: ReadonlyArray<string>
}

export class CompressionPreviews extends Context.Tag("gateway/subjects/compression/CompressionPreviews")<
  CompressionPreviews,
  {
    readonly settings: () => CompressionSettings
    /** Replaces the settings; an absent one gets its default. */
    readonly replaceSettings: (
      input: CompressionSettingsPatch
    ) => Effect.Effect<CompressionSettings, Errors.InvalidInput | StoreError>
    readonly preview: (input: CompressionPreviewInput) => Effect.Effect<Preview, Errors.InvalidInput>
  }
>() {}

const mostKept = 200

const keptIn = (texts: ReadonlyArray<string>): ReadonlyArray<string> => {
  const kept = new Set<string>()
  for (const text of texts) {
    for (const { end, start } of protectedSpans(text)) {
      if (kept.size >= mostKept) return [...kept]
      kept.add(text.slice(start, end).trim())
    }
  }
  return [...kept]
}

export const make = Effect.gen(function* () {
  const filters = yield* RtkFilters
  const profiles = yield* Profiles
  const raw = yield* RawOutputs
  const settings = yield* GatewaySettings
  const tokeniser = yield* Tokeniser
  const { monotonicMs } = yield* Timers.Timers

  /** One that is there, and not beside an engine. */
  const checked = ({ combo, engine }: Pick<CompressionSettingsPatch, "combo" | "engine">) => {
    if (combo === undefined || combo === null) return Effect.void
    const isKnown = comboNamed(profiles.combos.current().combos, combo) !== null
    const message = isKnown ? "cannot be given beside 'engine'" : "is the name and id of no compression combo"
    return Errors.refuseOne(isKnown && (engine ?? null) === null ? null : { field: "combo", message })
  }

  const choiceOf = ({ combo, engine }: Pick<CompressionPreviewInput, "combo" | "engine">) => {
    const current = settings.access.compression.current()
    const asked =
      combo === undefined && engine === undefined ? current : { combo: combo ?? null, engine: engine ?? current.engine }
    return panelOf(asked, profiles.combos.current().combos)("default")
  }

  const preview = Effect.fn("CompressionPreviews.preview")(function* (input: CompressionPreviewInput) {
    const { wire = "chat" } = input
    yield* checked(input)
    // Of JSON: whatever the payload's schema says of its values.
    const body = input.body as JsonObject
    const { mode, pipeline } = choiceOf(input)
    const own = raw.settings.current()
    const rtk = own.enabled ? rtkEngine(filters.inForce(), limitsOf(own)) : null
    const { perEngine, ...compressed } = compress({
      wire,
      body,
      engines: enginesFor(pipeline, { caveman: profiles.caveman.current(), rtk }),
      // What is only looked at is not kept, but has the id that it would have.
      tools: { keep: (text) => raw.idOf(null, text) },
      owner: "",
      asTheyCame: false,
      stability: null,
      monotonicMs
    })
    const counted = yield* Effect.forEach(perEngine, ({ changes, elapsedMs, engine: name }) =>
      Effect.zipWith(
        tokeniser.count(changes.map(({ before }) => before)),
        tokeniser.count(changes.map(({ after }) => after)),
        (tokensBefore, tokensAfter) => ({ engine: name, tokensBefore, tokensAfter, elapsedMs })
      )
    )
    const tokensBefore = yield* tokeniser.count(readBlocks(wire, body).blocks.map(({ text }) => text))
    const tokensAfter = counted.reduce((left, each) => left - each.tokensBefore + each.tokensAfter, tokensBefore)
    const kept = keptIn(compressed.changes.map(({ before }) => before))
    return { mode, body: compressed.body, tokensBefore, tokensAfter, perEngine: counted, kept }
  })

  return CompressionPreviews.of({
    settings: settings.access.compression.current,
    replaceSettings: (input) =>
      Effect.zipRight(checked(input), settings.access.compression.patch({ ...defaultCompressionSettings, ...input })),
    preview
  })
})

export const layer: Layer.Layer<
  CompressionPreviews,
  never,
  GatewaySettings | Profiles | RawOutputs | RtkFilters | Timers.Timers | Tokeniser
> = Layer.effect(CompressionPreviews, make)
