/** Loads and builds the playground by its first use: a gateway whose playground is not used has neither its code nor its memory. */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { PresetFields } from "../../subjects/playground/entity.ts"
import type { TrafficRecord } from "../../contract/domain/TrafficRecord.ts"
import * as BuiltOnce from "../../platform/BuiltOnce.ts"
import type { Compare } from "./Compare.ts"
import type { NotAPreset } from "./Errors.ts"
import type { Improve } from "./Improve.ts"
import type { Presets } from "./Presets.ts"
import type { Snippet } from "./snippets/SnippetRequest.ts"
import type { Snippets } from "./snippets/Snippets.ts"

export interface PlaygroundServices {
  readonly presets: typeof Presets.Service
  readonly improve: Improve
  readonly compare: Compare
  readonly snippets: (base: string, snippet: Snippet) => Snippets
  readonly presetOf: (record: TrafficRecord) => PresetFields | NotAPreset
}

export class LazyPlayground extends Context.Tag("gateway/agents/playground/LazyPlayground")<
  LazyPlayground,
  BuiltOnce.BuiltOnce<PlaygroundServices>
>() {}

export const layer = <R>(
  load: BuiltOnce.Load<PlaygroundServices, R>
): Layer.Layer<LazyPlayground, never, Exclude<R, Scope.Scope>> =>
  Layer.scoped(LazyPlayground, BuiltOnce.make(load)) as Layer.Layer<LazyPlayground, never, Exclude<R, Scope.Scope>>
