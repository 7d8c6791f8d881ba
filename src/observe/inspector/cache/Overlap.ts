/** Compares two prompts: the common prefix, and the parts that come again behind the first difference. Pure. */
import type { KnownPrompt } from "./KnownCall.ts"
import { type ChainNode, rootNode } from "./PromptChains.ts"

export interface Overlap {
  /** Parts both begin with. */
  readonly shared: number
  /** The last of them. */
  readonly last: ChainNode
  /** Parts of the earlier prompt behind that, in order. */
  readonly tail: ReadonlyArray<ChainNode>
  /** Estimated tokens of parts that come again in the later prompt: the earlier call had them in the cache. */
  readonly again: number
  readonly againTools: number
  readonly againSystem: number
  readonly againMessages: number
  /** Parts of messages in both. */
  readonly messages: number
  /** Estimated tokens of the first part that differs which it has in common with the one it replaces. */
  readonly alike: number
}

/** Parts at both ends that are the same, of the shorter text, from 0 to 1. Only as far as the earlier text is kept. */
export const likeness = (before: ChainNode | undefined, after: ChainNode | undefined): number => {
  if (before === undefined || after === undefined || before.kind !== after.kind || before.role !== after.role) return 0
  const most = Math.min(before.text.length, after.text.length)
  if (most === 0) return 0
  let head = 0
  while (head < most && before.text.charCodeAt(head) === after.text.charCodeAt(head)) head += 1
  let tail = 0
  if (!before.isCut && !after.isCut) {
    while (
      tail < most - head &&
      before.text.charCodeAt(before.text.length - 1 - tail) === after.text.charCodeAt(after.text.length - 1 - tail)
    ) {
      tail += 1
    }
  }
  return (head + tail) / Math.max(before.text.length, after.text.length)
}

/** Takes time linear in both prompts. `cachedDepth`: parts of the earlier prompt behind it were not cached and do not count as lost. */
export const overlapOf = (
  { cachedDepth, end }: Pick<KnownPrompt, "cachedDepth" | "end">,
  path: ReadonlyArray<ChainNode>
): Overlap => {
  const tail: Array<ChainNode> = []
  let node = end
  while (node.depth > 0 && path[node.depth - 1] !== node) {
    tail.push(node)
    node = node.parent ?? rootNode
  }
  tail.reverse()
  const counts = new Map<string, number>()
  for (const { content, depth } of tail) if (depth <= cachedDepth) counts.set(content, (counts.get(content) ?? 0) + 1)
  const shared = node.depth
  const sums = { tools: 0, system: 0, message: 0 }
  let messages = node.message === null ? 0 : node.depth - firstMessage(path)
  for (let at = shared; at < path.length && counts.size > 0; at += 1) {
    const part = path[at]
    const left = part === undefined ? undefined : counts.get(part.content)
    if (part === undefined || left === undefined || left === 0) continue
    counts.set(part.content, left - 1)
    sums[part.kind] += part.tokens
    if (part.kind === "message") messages += 1
  }
  const next = path[shared]
  return {
    shared,
    last: node,
    tail,
    again: sums.tools + sums.system + sums.message,
    againTools: sums.tools,
    againSystem: sums.system,
    againMessages: sums.message,
    messages,
    alike: tail.length === 0 || next === undefined ? 0 : likeness(tail[0], next) * next.tokens
  }
}

/** Parts before the first message. */
const firstMessage = (path: ReadonlyArray<ChainNode>): number => {
  const at = path.findIndex(({ kind }) => kind === "message")
  return at < 0 ? path.length : at
}
