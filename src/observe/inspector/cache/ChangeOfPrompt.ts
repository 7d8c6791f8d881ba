/** Finds the change of a prompt that makes the cache of the earlier call unfit. Pure. */
import type { CacheRule } from "./CacheCall.ts"
import type { Overlap } from "./Overlap.ts"
import { type PartDifference, partDifference } from "./PartDifference.ts"
import type { Segment } from "../prompt/Prompt.ts"
import type { ChainNode } from "./PromptChains.ts"

export interface ChangeOfPrompt extends PartDifference {
  readonly rule: Extract<CacheRule, "tools_changed" | "system_changed" | "message_changed" | "history_rewritten">
}

const order = { tools: 0, system: 1, message: 2 } as const

/** Contents of messages by the index of the message, joined. */
const byMessage = (
  parts: Iterable<readonly [message: number | null, content: string]>
): ReadonlyMap<number, string> => {
  const messages = new Map<number, string>()
  for (const [message, content] of parts) {
    if (message !== null) messages.set(message, `${messages.get(message) ?? ""} ${content}`)
  }
  return messages
}

const isAnswer = ({ role }: ChainNode): boolean => role === "assistant" || role === "model"

/** One message was changed and all others stayed where they were; else the history was written anew. */
const messageRule = (tail: ReadonlyArray<ChainNode>, now: ReadonlyArray<ChainNode>): ChangeOfPrompt["rule"] => {
  const [olds, news] = [tail, now].map((parts) =>
    byMessage(parts.map(({ content, message }) => [message, content] as const))
  )
  let changed = 0
  for (const [message, contents] of olds ?? []) if (news?.get(message) !== contents) changed += 1
  return changed <= 1 ? "message_changed" : "history_rewritten"
}

/**
 * Null where nothing of the earlier prompt changed: it goes on, ends earlier, or branches off (a user asks something else instead; nothing that
 * was said later comes again).
 */
export const changeOfPrompt = (
  { againMessages, shared, tail }: Overlap,
  path: ReadonlyArray<ChainNode>,
  segments: ReadonlyArray<Segment>
): ChangeOfPrompt | null => {
  const [before, node, after] = [tail[0], path[shared], segments[shared]]
  if (before === undefined || node === undefined || after === undefined) return null
  const difference = partDifference(before, after)
  if (difference === null) return null
  const kind = order[before.kind] < order[node.kind] ? before.kind : node.kind
  if (kind === "tools") return { rule: "tools_changed", ...difference }
  if (kind === "system") return { rule: "system_changed", ...difference }
  const rest = path.slice(shared)
  if (againMessages === 0 && !rest.some(isAnswer)) return null
  return { rule: messageRule(tail, rest), ...difference }
}
