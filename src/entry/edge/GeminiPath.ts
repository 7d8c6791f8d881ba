/**
 * The gemini wire has model and action in the path: `/v1beta/models/<id>:<action>`. Ids may hold slashes, and some
 * clients leave out `models/` for those. Pure.
 */
export interface GeminiPath {
  readonly model: string
  /** Null when the path names no action. */
  readonly action: string | null
}

/** Actions of a model. */
export const geminiActions: ReadonlyArray<string> = [
  "generateContent",
  "streamGenerateContent",
  "countTokens",
  "embedContent",
  "batchEmbedContents"
]

/** Checks whether the action makes embeddings. */
export const isEmbedding = (action: string | null): boolean =>
  action === "embedContent" || action === "batchEmbedContents"

/** Returns the part after `/v1beta/` that names the model. */
export const behindModels = (rest: string): string => rest.replace(/^models(?:\/|$)/i, "")

/** Reads `<id>:<action>`; null when it names no model. */
export const geminiPath = (tail: string): GeminiPath | null => {
  if (tail === "") return null
  const colon = tail.lastIndexOf(":")
  return colon <= 0 ? { model: tail, action: null } : { model: tail.slice(0, colon), action: tail.slice(colon + 1) }
}
