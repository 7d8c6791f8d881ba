/**
 * What a client's model id leads to: what it resolves to, else what the setting `modelFallbacks` puts in its place. Ids that the gateway
 * itself names (a judge, the emergency fallback) are resolved without it. Pure.
 */
import { ModelNotFound, type NoTarget } from "../../domain/Errors.ts"
import { behindNoThinking, noThinkingPrefix, otherSpellings } from "./ModelIds.ts"
import { resolve, type Resolution, told } from "./ModelResolver.ts"
import { isFailure, type ResolverView } from "./ModelTargets.ts"

export type FallbackOf = (id: string) => string | null

const mapped = (fallbackOf: FallbackOf, id: string): string | null => {
  for (const spelling of [id, ...otherSpellings(id)]) {
    const model = fallbackOf(spelling)
    if (model !== null) return model
  }
  return null
}

export const resolveRequested = (
  view: ResolverView,
  fallbackOf: FallbackOf,
  id: string
): Resolution | ModelNotFound | NoTarget => {
  const found = resolve(view, id)
  if (!(found instanceof ModelNotFound)) return found
  const behind = behindNoThinking(id)
  const model = mapped(fallbackOf, behind ?? id)
  if (model === null) return found
  const wanted = behind === null || behindNoThinking(model) !== null ? model : noThinkingPrefix + model
  const instead = resolve(view, wanted)
  return isFailure(instead)
    ? told(id, `modelFallbacks maps it to '${model}'`, instead, "")
    : { ...instead, fallbackModel: model }
}
