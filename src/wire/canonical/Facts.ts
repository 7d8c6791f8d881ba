/** The state of a relayed stream (`StreamFacts`), updated from canonical events. */
import type { OpaquePart } from "./Conversation.ts"
import type { StreamEvent, UpstreamProblem } from "./Event.ts"
import type { Stop } from "./Response.ts"
import { mergeUsage, type Usage } from "./Usage.ts"

export interface MutableFacts {
  events: number
  content: boolean
  stop: Stop | null
  stopRead?: boolean
  terminated: boolean
  usage: Usage | null
  problem: UpstreamProblem | null
  textChars: number
  toolArgChars: number
  reasoningChars: number
}

export const startFacts = (): MutableFacts => ({
  events: 0,
  content: false,
  stop: null,
  terminated: false,
  usage: null,
  problem: null,
  textChars: 0,
  toolArgChars: 0,
  reasoningChars: 0
})

const lengthOf = (value: string | null | undefined): number => value?.length ?? 0

/** Counts text; the first non-empty piece is the beginning of content. */
export const observeText = (facts: MutableFacts, text: string | null | undefined): void => {
  if (lengthOf(text) === 0) return
  facts.content = true
  facts.textChars += lengthOf(text)
}

export const observeReasoning = (facts: MutableFacts, text: string | null | undefined): void => {
  if (lengthOf(text) === 0) return
  facts.content = true
  facts.reasoningChars += lengthOf(text)
}

/** A tool call is content from its start, before any argument. */
export const observeToolArgs = (facts: MutableFacts, text: string | null | undefined): void => {
  facts.content = true
  facts.toolArgChars += lengthOf(text)
}

/**
 * Updates a translator's facts: one call per event. `arrives`: whether an opaque block is content for the client. Reasoning text is
 * distinguished from answer text by its block.
 */
export const makeObserver = (
  facts: MutableFacts,
  arrives: (part: OpaquePart) => boolean = () => true
): ((event: StreamEvent) => void) => {
  const reasoning = new Set<number>()
  return (event) => {
    facts.events += 1
    switch (event.type) {
      case "block_start":
        if (event.block.type === "reasoning") reasoning.add(event.index)
        if (event.block.type === "tool_call" || (event.block.type === "opaque" && arrives(event.block.part))) {
          facts.content = true
        }
        return
      case "delta":
        if (event.delta.type === "args") observeToolArgs(facts, event.delta.text)
        else if (event.delta.type !== "text") return
        else if (reasoning.has(event.index)) observeReasoning(facts, event.delta.text)
        else observeText(facts, event.delta.text)
        return
      case "block_stop":
        reasoning.delete(event.index)
        return
      case "usage":
        facts.usage = mergeUsage(facts.usage, event.usage)
        return
      case "finish":
        facts.stop = event.stop
        return
      case "done":
        facts.terminated = true
        return
      case "error":
        facts.problem = event.problem
        return
      case "start":
      case "ping":
    }
  }
}
