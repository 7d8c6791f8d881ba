/** The settings of `subjects/settings/entity/AccessSettings` and `subjects/guardrails/entity`, each kept under its own name and ready for the request path. */
import * as Effect from "effect/Effect"
import * as Shape from "../settings/entity/AccessSettings.ts"
import * as Compression from "../compression/entity.ts"
import * as Guard from "../guardrails/entity.ts"
import { makeIpRanges } from "../../kernel/IpRanges.ts"
import * as StoredSettings from "../../store/StoredSettings.ts"

export interface AccessSettings {
  readonly ipFilter: StoredSettings.StoredSettings<Shape.IpFilter, Shape.IpFilterPatch>
  readonly thinkingBudget: StoredSettings.StoredSettings<Shape.ThinkingBudget, Shape.ThinkingBudgetPatch>
  readonly systemPrompt: StoredSettings.StoredSettings<Shape.SystemPrompt, Shape.SystemPromptPatch>
  readonly requireLogin: StoredSettings.StoredSettings<Shape.RequireLogin, Shape.RequireLoginPatch>
  readonly guardrails: StoredSettings.StoredSettings<Guard.GuardrailSettings, Guard.GuardrailSettingsPatch>
  readonly compression: StoredSettings.StoredSettings<
    Compression.CompressionSettings,
    Compression.CompressionSettingsPatch
  >
  /** Hot: returns the check whether an address of a socket is refused; null while the filter is off. */
  readonly refusesAddress: () => ((socketAddress: string) => boolean) | null
  /** Hot: returns the text around system texts; null for none. */
  readonly promptAround: () => Shape.SystemPrompt | null
  /** Hot: returns the budget for thinking; null as the client asks. */
  readonly thinking: () => Shape.ThinkingBudget | null
}

const place = (key: string) => ({ namespace: "gateway", key, name: `settings '${key}'` })

/** A stored range that cannot be read is one that a list does not have. */
const refusing = ({ blacklist, enabled, mode, whitelist }: Shape.IpFilter): ((address: string) => boolean) | null => {
  if (!enabled) return null
  const isListed = makeIpRanges(mode === "blacklist" ? blacklist : whitelist)
  return mode === "blacklist" ? isListed : (address) => !isListed(address)
}

const around = (prompt: Shape.SystemPrompt): Shape.SystemPrompt | null =>
  prompt.enabled && (prompt.prefixPrompt !== "" || prompt.suffixPrompt !== "") ? prompt : null

export const make = Effect.gen(function* () {
  let refuses: ((socketAddress: string) => boolean) | null = null
  let prompt: Shape.SystemPrompt | null = null
  let thinking: Shape.ThinkingBudget | null = null
  const { merged } = Shape
  const ipFilter = yield* StoredSettings.make(
    place("ipFilter"),
    {
      patch: Shape.IpFilterPatch,
      defaults: Shape.defaultIpFilter,
      merge: (settings: Shape.IpFilter, patch: Shape.IpFilterPatch) => merged(settings, patch)
    },
    (settings) => {
      refuses = refusing(settings)
    }
  )
  const thinkingBudget = yield* StoredSettings.make(
    place("thinkingBudget"),
    {
      patch: Shape.ThinkingBudgetPatch,
      defaults: Shape.defaultThinkingBudget,
      merge: (settings: Shape.ThinkingBudget, patch: Shape.ThinkingBudgetPatch) => merged(settings, patch)
    },
    (settings) => {
      thinking = settings.mode === "passthrough" ? null : settings
    }
  )
  const systemPrompt = yield* StoredSettings.make(
    place("systemPrompt"),
    {
      patch: Shape.SystemPromptPatch,
      defaults: Shape.defaultSystemPrompt,
      merge: (settings: Shape.SystemPrompt, patch: Shape.SystemPromptPatch) => merged(settings, patch)
    },
    (settings) => {
      prompt = around(settings)
    }
  )
  const requireLogin = yield* StoredSettings.make(place("requireLogin"), {
    patch: Shape.RequireLoginPatch,
    defaults: Shape.defaultRequireLogin,
    merge: (settings: Shape.RequireLogin, patch: Shape.RequireLoginPatch) => merged(settings, patch)
  })
  const guardrails = yield* StoredSettings.make(place("guardrails"), {
    patch: Guard.GuardrailSettingsPatch,
    defaults: Guard.defaultGuardrailSettings,
    merge: (settings: Guard.GuardrailSettings, patch: Guard.GuardrailSettingsPatch) => merged(settings, patch)
  })
  const compression = yield* StoredSettings.make(place("compression"), {
    patch: Compression.CompressionSettingsPatch,
    defaults: Compression.defaultCompressionSettings,
    merge: (settings: Compression.CompressionSettings, patch: Compression.CompressionSettingsPatch) =>
      merged(settings, patch)
  })
  const settings: AccessSettings = {
    ipFilter,
    thinkingBudget,
    systemPrompt,
    requireLogin,
    guardrails,
    compression,
    refusesAddress: () => refuses,
    promptAround: () => prompt,
    thinking: () => thinking
  }
  return settings
})
