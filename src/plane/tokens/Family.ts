/**
 * Factors by which model families count tokens in comparison with o200k. Figures are the makers' published ones where there are any;
 * the factors are coarse, because neither Anthropic nor Google publishes a vocabulary: measured on prose, code and JSON, older Claude
 * counts were 3 to 17 % above o200k, and newer Claude models count more still.
 */
import type { ImageSize } from "./ImageSize.ts"

export interface Family {
  /** Tokens of this family for one token of o200k. */
  readonly factor: number
  /** Overhead of a message. */
  readonly perMessage: number
  /** Instructions the provider adds when tools are offered. */
  readonly perToolset: number
  /** An image; null size when its header could not be read. */
  readonly image: (size: ImageSize | null, detail: string | null) => number
  /** One page of a document, its text and its image together. */
  readonly perPage: number
  readonly audioPerSecond: number
  /** Reasoning of earlier turns is removed by the provider and so not counted. */
  readonly dropsOldReasoning: boolean
}

/** Images are scaled down to a long edge of 1568 pixels and about 1600 tokens. */
const claudeImage = (size: ImageSize | null): number => {
  if (size === null) return 1_600
  const scale = Math.min(1, 1_568 / Math.max(size.width, size.height))
  return Math.min(1_600, Math.ceil((size.width * scale * size.height * scale) / 750))
}

/** A small image is one tile; a larger one is cut into tiles of 768 pixels. */
const geminiImage = (size: ImageSize | null): number => {
  if (size === null || (size.width <= 384 && size.height <= 384)) return 258
  return 258 * Math.min(64, Math.ceil(size.width / 768) * Math.ceil(size.height / 768))
}

/** Fitted into 2048 pixels, its short edge brought down to 768, then cut into tiles of 512. */
const gptImage = (size: ImageSize | null, detail: string | null): number => {
  if (detail === "low") return 85
  if (size === null) return 765
  const fit = Math.min(1, 2_048 / Math.max(size.width, size.height))
  const short = Math.min(size.width, size.height) * fit
  const scale = fit * Math.min(1, 768 / short)
  return 85 + 170 * Math.ceil((size.width * scale) / 512) * Math.ceil((size.height * scale) / 512)
}

const claude: Family = {
  factor: 1.2,
  perMessage: 4,
  perToolset: 346,
  image: claudeImage,
  perPage: 2_200,
  audioPerSecond: 32,
  dropsOldReasoning: true
}

const gemini: Family = {
  factor: 1,
  perMessage: 2,
  perToolset: 0,
  image: geminiImage,
  perPage: 258,
  audioPerSecond: 32,
  dropsOldReasoning: false
}

const other: Family = {
  factor: 1,
  perMessage: 3,
  perToolset: 0,
  image: gptImage,
  perPage: 1_500,
  audioPerSecond: 10,
  dropsOldReasoning: false
}

/** The family of a model by its name, whatever the provider. */
export const familyOf = (model: string): Family => {
  if (/claude/i.test(model)) return claude
  return /gemini|gemma/i.test(model) ? gemini : other
}
