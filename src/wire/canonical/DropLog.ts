/**
 * Collects what an encoder could not carry over, in the words of the client's own wire: that is what `X-Gateway-Dropped` shows.
 */
import type { WireName } from "../../domain/Wire.ts"

/** Concepts whose name differs between wires. Others are named by the caller. */
const names = {
  stop: { chat: "stop", messages: "stop_sequences" },
  reasoning: { chat: "reasoning_effort", messages: "thinking" },
  reasoningHistory: { chat: "messages.reasoning_content", messages: "messages.content.thinking" },
  outputFormat: { chat: "response_format", messages: "output_config.format" },
  maxOutputTokens: { chat: "max_tokens", messages: "max_tokens" },
  user: { chat: "user", messages: "metadata.user_id" },
  parallel: { chat: "parallel_tool_calls", messages: "tool_choice.disable_parallel_tool_use" },
  imageDetail: { chat: "messages.content.image_url.detail", messages: "messages.content.image.detail" },
  image: { chat: "messages.content.image_url", messages: "messages.content.image" },
  file: { chat: "messages.content.file", messages: "messages.content.document" },
  audio: { chat: "messages.content.input_audio", messages: "messages.content.audio" },
  toolArgs: { chat: "messages.tool_calls.function.arguments", messages: "messages.content.tool_use.input" },
  toolError: { chat: "messages.is_error", messages: "messages.content.tool_result.is_error" },
  toolResultImage: { chat: "messages.content.image_url", messages: "messages.content.tool_result.image" },
  citations: { chat: "messages.annotations", messages: "messages.content.citations" },
  toolStrict: { chat: "tools.function.strict", messages: "tools.strict" }
} as const satisfies Readonly<Record<string, Partial<Record<WireName, string>>>>

export type Concept = keyof typeof names

export interface DropLog {
  readonly dropped: ReadonlySet<string>
  readonly mapped: ReadonlySet<string>
  readonly drop: (concept: Concept) => void
  readonly dropField: (field: string) => void
  readonly map: (concept: Concept) => void
  readonly mapField: (field: string) => void
}

export const makeDropLog = (wire: WireName): DropLog => {
  const dropped = new Set<string>()
  const mapped = new Set<string>()
  const nameOf = (concept: Concept): string => {
    const byWire: Partial<Record<WireName, string>> = names[concept]
    return byWire[wire] ?? concept
  }
  return {
    dropped,
    mapped,
    drop: (concept) => void dropped.add(nameOf(concept)),
    dropField: (field) => void dropped.add(field),
    map: (concept) => void mapped.add(nameOf(concept)),
    mapField: (field) => void mapped.add(field)
  }
}
