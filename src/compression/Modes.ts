/** Which engines a request passes, and why these: what the header, the settings and the size of the request say. Pure. */
import type { CompressionSettings } from "../domain/CompressionSettings.ts"
import { type CavemanOptions, cavemanEngine } from "./caveman/Caveman.ts"
import type { Engine, EngineName } from "./Engine.ts"
import { liteEngine } from "./lite/Lite.ts"

/** What clients read in `X-Gateway-Compression`. */
export const modes = ["off", "lite", "standard", "rtk", "stacked"] as const
export type Mode = (typeof modes)[number]

export type Source = "request-header" | "routing-override" | "active-profile" | "auto-trigger" | "default" | "off"

export interface Choice {
  readonly mode: Mode
  readonly source: Source
}

const enginesOf: Readonly<Record<Mode, ReadonlyArray<EngineName>>> = {
  off: [],
  lite: ["lite"],
  standard: ["caveman"],
  rtk: ["rtk"],
  stacked: ["rtk", "caveman"]
}

/** A mode by its own name, or by the name of its engine. */
export const modeNamed = (name: string): Mode | null =>
  name === "caveman" ? "standard" : (modes.find((mode) => mode === name) ?? null)

/** What `x-gateway-compression` asks for; null: nothing that is known. */
const asked = (header: string, panel: Mode): Mode | null => {
  const value = header.trim().toLowerCase().slice(0, 100)
  if (value === "off") return "off"
  if (value === "default") return panel
  return value.startsWith("engine:") ? modeNamed(value.slice("engine:".length)) : null
}

/** `tokens`: of the request, estimated. Where compression is off altogether, a header cannot switch it on. */
export const chosen = (
  { autoTriggerTokens, enabled, engine }: CompressionSettings,
  header: string | null,
  tokens: () => number
): Choice => {
  if (!enabled) return { mode: "off", source: "off" }
  const panel = modeNamed(engine) ?? "off"
  const named = header === null ? null : asked(header, panel)
  if (named !== null) return { mode: named, source: "request-header" }
  if (autoTriggerTokens > 0) {
    return tokens() >= autoTriggerTokens ? { mode: panel, source: "auto-trigger" } : { mode: "off", source: "off" }
  }
  return panel === "off" ? { mode: "off", source: "off" } : { mode: panel, source: "default" }
}

export interface EngineParts {
  readonly caveman: CavemanOptions
  readonly rtk: Engine
}

export const enginesFor = (mode: Mode, { caveman, rtk }: EngineParts): ReadonlyArray<Engine> =>
  enginesOf[mode].map((name) => {
    switch (name) {
      case "lite":
        return liteEngine
      case "caveman":
        return cavemanEngine(caveman)
      case "rtk":
        return rtk
    }
  })
