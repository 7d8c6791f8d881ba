/**
 * The generative-language wire tells model and action in the path: `/v1beta/models/<id>:<action>`. Ids may hold slashes, and some
 * clients leave out `models/` for those. Pure.
 */
import type { NormalPath } from "../kernel/NormalPath.ts"

export interface GeminiPath {
  readonly model: string
  /** Null when the path names no action. */
  readonly action: string | null
}

/** Reads a normalised path that begins with `v1beta`; null when it names no model. */
export const geminiPath = (segments: NormalPath): GeminiPath | null => {
  const rest = segments[1]?.toLowerCase() === "models" ? segments.slice(2) : segments.slice(1)
  const tail = rest.join("/")
  if (tail === "") return null
  const colon = tail.lastIndexOf(":")
  return colon <= 0 ? { model: tail, action: null } : { model: tail.slice(0, colon), action: tail.slice(colon + 1) }
}
