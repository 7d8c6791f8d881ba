/**
 * Tokens of prefixes of a prompt. Estimates are stretched to what the provider counted: of this call as a whole, and of earlier calls that ended
 * or were cached on the way. Pure.
 */
import { type ChainNode, stateOf } from "./PromptChains.ts"

export interface PrefixTokens {
  /** Tokens of so many parts. */
  readonly at: (depth: number) => number
  /** Checks whether the provider counted exactly that. */
  readonly isCounted: (depth: number) => boolean
  /** Tokens for one estimated token, over the whole prompt. */
  readonly scale: number
  readonly total: number
}

interface Anchor {
  readonly depth: number
  readonly tokens: number
}

/** `total`: tokens of the whole prompt as reported; null when they were not. */
export const prefixTokens = (path: ReadonlyArray<ChainNode>, scope: string, total: number | null): PrefixTokens => {
  const sumAt = (depth: number): number => path[depth - 1]?.sum ?? 0
  const estimated = sumAt(path.length)
  const anchors: Array<Anchor> = total === null ? [] : [{ depth: path.length, tokens: total }]
  for (let depth = path.length; depth > 0; depth -= 1) {
    const node = path[depth - 1]
    const tokens = node === undefined ? null : (stateOf(node, scope)?.tokens ?? null)
    // An earlier count may include reasoning that was dropped since; it then is no size of the prefix.
    if (tokens !== null && tokens > 0 && tokens < (anchors.at(-1)?.tokens ?? Number.POSITIVE_INFINITY)) {
      if (anchors.at(-1)?.depth !== depth) anchors.push({ depth, tokens })
    }
  }
  anchors.reverse()
  const scale = total !== null && estimated > 0 ? total / estimated : 1
  const at = (depth: number): number => {
    const next = anchors.findIndex((anchor) => anchor.depth >= depth)
    const upper = next < 0 ? undefined : anchors[next]
    const lower = (next < 0 ? anchors.at(-1) : anchors[next - 1]) ?? { depth: 0, tokens: 0 }
    const from = sumAt(lower.depth)
    if (upper === undefined) return lower.tokens + sumAt(depth) - from
    const stretch = sumAt(upper.depth) - from
    return stretch <= 0
      ? upper.tokens
      : lower.tokens + ((sumAt(depth) - from) / stretch) * (upper.tokens - lower.tokens)
  }
  return {
    at,
    isCounted: (depth) => anchors.some((anchor) => anchor.depth === depth),
    scale,
    total: total ?? at(path.length)
  }
}
