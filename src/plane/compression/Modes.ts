/**
 * Chooses the engines that a request passes, and the reason: by the header, the settings and the size of the request.
 * Pure.
 */
import type {
  CavemanSettings,
  CompressionCombo,
  PipelineStep
} from "../../subjects/compression/entity/CompressionProfiles.ts"
import type { CompressionSettings } from "../../subjects/compression/entity.ts"
import { aggressiveEngine } from "./engines/Aggressive.ts"
import { type CavemanOptions, cavemanEngine } from "./caveman/Caveman.ts"
import type { Engine, EngineName } from "./Engine.ts"
import { ccrEngine, dedupEngine, headroomEngine } from "./ResultEngines.ts"
import { liteEngine } from "./engines/Lite.ts"
import { comboNamed } from "./Profiles.ts"
import { ultraEngine } from "./ultra/Ultra.ts"

/** Modes as clients read them in `X-Gateway-Compression`. */
export const modes = [
  "off",
  "lite",
  "standard",
  "rtk",
  "aggressive",
  "ultra",
  "headroom",
  "session-dedup",
  "ccr",
  "stacked"
] as const
export type Mode = (typeof modes)[number]

export type Source = "request-header" | "routing-override" | "active-profile" | "auto-trigger" | "default" | "off"

/** Pipelines with names, and what decides between them. */
export interface Named {
  readonly combos: ReadonlyArray<CompressionCombo>
  /** Id of the routing combo that the request asks for; null: none. */
  readonly routingComboId: string | null
}

export interface Choice {
  /** `stacked` for a pipeline with a name. */
  readonly mode: Mode
  readonly source: Source
  readonly pipeline: ReadonlyArray<PipelineStep>
}

const enginesOf: Readonly<Record<Mode, ReadonlyArray<EngineName>>> = {
  off: [],
  lite: ["lite"],
  standard: ["caveman"],
  rtk: ["rtk"],
  aggressive: ["aggressive"],
  ultra: ["ultra"],
  headroom: ["headroom"],
  "session-dedup": ["session-dedup"],
  ccr: ["ccr"],
  stacked: ["rtk", "caveman"]
}

/** A mode by its own name, or by the name of its engine. */
export const modeNamed = (name: string): Mode | null =>
  name === "caveman" ? "standard" : (modes.find((mode) => mode === name) ?? null)

export const pipelineOf = (mode: Mode): ReadonlyArray<PipelineStep> => enginesOf[mode].map((engine) => ({ engine }))

const byMode = (mode: Mode, source: Source): Choice => ({ mode, source, pipeline: pipelineOf(mode) })

const byCombo = ({ pipeline }: CompressionCombo, source: Source): Choice => ({ mode: "stacked", source, pipeline })

/** Chooses for requests that nothing else decides. */
type Panel = (source: Source) => Choice

export const panelOf =
  ({ combo, engine }: Pick<CompressionSettings, "combo" | "engine">, combos: ReadonlyArray<CompressionCombo>): Panel =>
  (source) => {
    const named = combo === null ? null : comboNamed(combos, combo)
    return named === null ? byMode(modeNamed(engine) ?? "off", source) : byCombo(named, source)
  }

/** Reads the choice in `x-gateway-compression`; null: none that is known. */
const asked = (header: string, panel: Panel, combos: ReadonlyArray<CompressionCombo>): Choice | null => {
  const value = header.trim().slice(0, 200)
  const lower = value.toLowerCase()
  if (lower === "off") return byMode("off", "request-header")
  if (lower === "default") return panel("request-header")
  if (lower.startsWith("engine:")) {
    const mode = modeNamed(lower.slice("engine:".length))
    return mode === null ? null : byMode(mode, "request-header")
  }
  const combo = comboNamed(combos, value)
  return combo === null ? null : byCombo(combo, "request-header")
}

/** `tokens`: of the request, estimated. Where compression is off altogether, a header cannot switch it on. */
export const chosen = (
  { autoTriggerTokens, combo, enabled, engine }: CompressionSettings,
  { combos, routingComboId }: Named,
  header: string | null,
  tokens: () => number
): Choice => {
  if (!enabled) return byMode("off", "off")
  const panel = panelOf({ combo, engine }, combos)
  const named = header === null ? null : asked(header, panel, combos)
  if (named !== null) return named
  const override =
    routingComboId === null ? undefined : combos.find(({ routingComboIds }) => routingComboIds.includes(routingComboId))
  if (override !== undefined) return byCombo(override, "routing-override")
  const active = combos.find(({ isActive }) => isActive)
  if (active !== undefined) return byCombo(active, "active-profile")
  if (autoTriggerTokens > 0) {
    return tokens() >= autoTriggerTokens ? panel("auto-trigger") : byMode("off", "off")
  }
  const choice = panel("default")
  return choice.mode === "off" ? byMode("off", "off") : choice
}

export interface EngineParts {
  readonly caveman: CavemanSettings
  /** Null: it is switched off in its own settings. */
  readonly rtk: Engine | null
}

const cavemanOptions = ({ intensity, language, minLength, roles }: CavemanSettings): CavemanOptions => ({
  intensity,
  language,
  roles,
  minChars: minLength
})

const engineFor = ({ engine, intensity }: PipelineStep, { caveman, rtk }: EngineParts): ReadonlyArray<Engine> => {
  switch (engine) {
    case "lite":
      return [liteEngine]
    case "caveman":
      return caveman.enabled
        ? [cavemanEngine({ ...cavemanOptions(caveman), ...(intensity === undefined ? {} : { intensity }) })]
        : []
    case "rtk":
      return rtk === null ? [] : [rtk]
    case "aggressive":
      return [aggressiveEngine]
    case "ultra":
      return [ultraEngine]
    case "headroom":
      return [headroomEngine]
    case "session-dedup":
      return [dedupEngine]
    case "ccr":
      return [ccrEngine]
  }
}

export const enginesFor = (pipeline: ReadonlyArray<PipelineStep>, parts: EngineParts): ReadonlyArray<Engine> =>
  pipeline.flatMap((step) => engineFor(step, parts))
