/**
 * The spellings of one model id: the no-thinking alias, and the suffixes that clients add on their own account (docs/routing.md).
 * Pure, and without a catalogue.
 */
import { allowsModel } from "../../../subjects/auth/KeyPolicy.ts"
import type { ApiKeySettings } from "../../../subjects/keys/entity.ts"

/** Prefix of a `<provider>/<model>` (or any other id) whose reasoning shall be suppressed. */
export const noThinkingPrefix = "claude-3-gateway-no-thinking/"

/** The id behind the no-thinking alias; null when the id is no such alias. An alias of an alias is none. */
export const behindNoThinking = (id: string): string | null =>
  id.startsWith(noThinkingPrefix) && !id.startsWith(noThinkingPrefix, noThinkingPrefix.length)
    ? id.slice(noThinkingPrefix.length)
    : null

/** Prefix of `<group>/<provider>/<model>` when a quota group shall serve the model. */
export const quotaSharePrefix = "qtSd/"

/** The parts of a quota-share id; null when the id is none, or a part is missing. */
export const quotaShareParts = (
  id: string
): { readonly group: string; readonly provider: string; readonly model: string } | null => {
  if (!id.startsWith(quotaSharePrefix)) return null
  const [group = "", provider = "", ...rest] = id.slice(quotaSharePrefix.length).split("/")
  const model = rest.join("/")
  return group === "" || provider === "" || model === "" ? null : { group, provider, model }
}

/** Claude Code's mark for the long window. */
const longWindow = "[1m]"
/** The tag that Ollama's clients add to, or leave away from, a name. */
const defaultTag = ":latest"

const without = (id: string, suffix: string): string | null =>
  id.length > suffix.length && id.toLowerCase().endsWith(suffix) ? id.slice(0, -suffix.length) : null

/** The id without the mark for the long window, which no upstream knows as part of a name. */
export const withoutLongWindow = (id: string): string => without(id, longWindow) ?? id

/** Other spellings of an id, to be tried in this order when nothing goes by the id itself. */
export const otherSpellings = (id: string): ReadonlyArray<string> => {
  const short = withoutLongWindow(id)
  const other = without(short, defaultTag) ?? `${short}${defaultTag}`
  return short === id ? [other] : [short, other]
}

/**
 * Checks whether a key may use a model by the id it was asked for. The alias is judged by the model behind it, so that a
 * pattern that happens to fit the alias's own letters opens nothing; a pattern that names the alias on purpose allows it, too.
 */
export const mayUse = (key: ApiKeySettings, id: string): boolean => {
  const behind = behindNoThinking(id)
  if (behind === null) return allowsModel(key, id) || allowsModel(key, untagged(id))
  if (mayUse(key, behind)) return true
  const named = (key.allowedModels ?? []).filter((pattern) => pattern.startsWith(noThinkingPrefix))
  return named.length > 0 && allowsModel({ ...key, allowedModels: named }, id)
}

const untagged = (id: string): string => {
  const short = withoutLongWindow(id)
  return without(short, defaultTag) ?? short
}
