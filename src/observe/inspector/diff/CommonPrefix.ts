/** Measures how far two prompts are the same, in the order in which providers cache them. Pure. */
import type { Prompt, Segment } from "../prompt/Prompt.ts"
import { segmentTokens } from "../prompt/SegmentTokens.ts"
import { firstLeaf } from "./FirstLeaf.ts"
import { commonChars } from "./Shown.ts"

export interface CommonPrefix {
  /** UTF-8 bytes of the parts of the prompt, as JSON. */
  readonly bytes: number
  /** Estimated. */
  readonly tokens: number
  /** Path of the first difference in the second prompt; of what is missing there, in the first. Null when the prompts are the same. */
  readonly firstDifference: string | null
}

/** Checks whether a message begins with a part. Its index may differ: messages of reasoning alone are dropped. */
const begins = (segments: ReadonlyArray<Segment>, at: number): boolean =>
  segments[at]?.message !== segments[at - 1]?.message

const isSame = (one: Prompt, other: Prompt, at: number): boolean =>
  one.segments[at]?.hash === other.segments[at]?.hash && begins(one.segments, at) === begins(other.segments, at)

/** Path of the first difference of two parts at the same place. */
export const differingPath = (before: Segment | undefined, after: Segment | undefined): string | null => {
  if (before === undefined || after === undefined) return (after ?? before)?.path ?? null
  if (before.kind !== after.kind) return after.path
  if (before.role !== after.role || before.text === after.text) return after.path
  const leaf = firstLeaf(before.value, after.value, "")?.path ?? ""
  if (after.isText || leaf === "") return after.path
  return leaf.startsWith("[") ? `${after.path}${leaf}` : `${after.path}.${leaf}`
}

export const commonPrefix = (one: Prompt, other: Prompt, model: string): CommonPrefix => {
  let [bytes, tokens, at] = [0, 0, 0]
  for (; at < one.segments.length && at < other.segments.length; at += 1) {
    const after = other.segments[at]
    if (after === undefined || !isSame(one, other, at)) break
    bytes += after.bytes
    tokens += segmentTokens(after, model)
  }
  const [before, after] = [one.segments[at], other.segments[at]]
  if (before !== undefined && after !== undefined && before.kind === after.kind && before.role === after.role) {
    const chars = commonChars(before.text, after.text)
    bytes += Buffer.byteLength(after.text.slice(0, chars))
    tokens += after.text.length === 0 ? 0 : segmentTokens(after, model) * (chars / after.text.length)
  }
  return { bytes, tokens: Math.round(tokens), firstDifference: differingPath(before, after) }
}
