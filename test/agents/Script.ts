/** What the scripted model says: it reads a file, changes it, and tells so; and what it noticed while it was at it. */
import type { Agent } from "./Agents.ts"
import * as Conversation from "./Conversation.ts"
import type { UpstreamWire } from "./upstream/Words.ts"

export interface Script extends Conversation.Conversation {
  /** What the file holds before, and what it must hold after. */
  readonly before: string
  readonly after: string
  /** What the agent must show in the end. */
  readonly lastWords: string
  /** Tool turns whose proof of reasoning was in the last request, and how many there were to come back. */
  readonly reasoning: () => { readonly back: number; readonly of: number }
}

export const make = (wire: UpstreamWire, agent: Agent, file: string, nonce: string): Script => {
  const before = `blue-${nonce}`
  const after = `green-${nonce}`
  const lastWords = `Done, it is ${after} now ✓ ünïcode`
  const turns = [
    Conversation.turnOf(nonce, 1, { text: "I look at the file first.", use: agent.read(file) }),
    Conversation.turnOf(nonce, 2, { text: "Now I change it.", use: agent.edit(file, before, after) }),
    Conversation.turnOf(nonce, 3, { text: lastWords, use: null })
  ] as const
  const known = new Set(turns.map(wire.proofOf))
  const toolProofs = turns.filter((each) => each.call !== null).map(wire.proofOf)
  const conversation = Conversation.make(wire, {
    nonce,
    tool: turns[0].call?.tool ?? "",
    knows: (proof) => known.has(proof),
    next: ({ length }) => turns[Math.min(length, 2)] ?? turns[2]
  })
  const reasoning = () => {
    const last = conversation.main.at(-1)
    return { back: toolProofs.filter((proof) => last?.proofs.includes(proof)).length, of: toolProofs.length }
  }
  return { ...conversation, before, after, lastWords, reasoning }
}
