/** Collects what an encoder could not carry over, by the field names of the client's own wire, for `X-Gateway-Dropped`. */
import type { WireName } from "../../contract/domain/Wire.ts"

/** Concepts whose name differs between wires. Others are named by the caller. */
const names = {
  stop: { chat: "stop", messages: "stop_sequences", ollama: "options.stop", gemini: "generationConfig.stopSequences" },
  reasoning: {
    chat: "reasoning_effort",
    messages: "thinking",
    ollama: "think",
    responses: "reasoning",
    gemini: "generationConfig.thinkingConfig"
  },
  reasoningHistory: {
    chat: "messages.reasoning_content",
    messages: "messages.content.thinking",
    ollama: "messages.thinking",
    responses: "input.reasoning",
    gemini: "contents.parts.thought"
  },
  signature: {
    chat: "messages.reasoning_content",
    messages: "messages.content.thinking.signature",
    ollama: "messages.thinking",
    responses: "input.reasoning.encrypted_content",
    gemini: "contents.parts.thoughtSignature"
  },
  outputFormat: {
    chat: "response_format",
    messages: "output_config.format",
    ollama: "format",
    responses: "text.format",
    gemini: "generationConfig.responseMimeType"
  },
  outputSchema: {
    chat: "response_format.json_schema.schema",
    messages: "output_config.format.schema",
    ollama: "format",
    responses: "text.format.schema",
    gemini: "generationConfig.responseSchema"
  },
  maxOutputTokens: {
    chat: "max_tokens",
    messages: "max_tokens",
    ollama: "options.num_predict",
    responses: "max_output_tokens",
    gemini: "generationConfig.maxOutputTokens"
  },
  user: { chat: "user", messages: "metadata.user_id", responses: "user" },
  parallel: {
    chat: "parallel_tool_calls",
    messages: "tool_choice.disable_parallel_tool_use",
    responses: "parallel_tool_calls"
  },
  imageDetail: {
    chat: "messages.content.image_url.detail",
    messages: "messages.content.image.detail",
    responses: "input.content.input_image.detail"
  },
  image: {
    chat: "messages.content.image_url",
    messages: "messages.content.image",
    ollama: "messages.images",
    responses: "input.content.input_image",
    // Inline images are supported by every wire.
    gemini: "contents.parts.fileData"
  },
  file: {
    chat: "messages.content.file",
    messages: "messages.content.document",
    responses: "input.content.input_file",
    gemini: "contents.parts.fileData"
  },
  fileInline: {
    chat: "messages.content.file",
    messages: "messages.content.document",
    responses: "input.content.input_file",
    gemini: "contents.parts.inlineData"
  },
  filename: {
    chat: "messages.content.file.filename",
    messages: "messages.content.document.title",
    responses: "input.content.input_file.filename",
    gemini: "contents.parts.inlineData.displayName"
  },
  audio: {
    chat: "messages.content.input_audio",
    messages: "messages.content.audio",
    responses: "input.content.input_audio",
    gemini: "contents.parts.inlineData"
  },
  toolArgs: {
    chat: "messages.tool_calls.function.arguments",
    messages: "messages.content.tool_use.input",
    ollama: "messages.tool_calls.function.arguments",
    responses: "input.arguments",
    gemini: "contents.parts.functionCall.args"
  },
  toolResult: {
    chat: "messages.tool_call_id",
    messages: "messages.content.tool_result",
    ollama: "messages.tool_call_id",
    responses: "input.function_call_output",
    gemini: "contents.parts.functionResponse"
  },
  toolError: {
    chat: "messages.is_error",
    messages: "messages.content.tool_result.is_error",
    gemini: "contents.parts.functionResponse.response.error"
  },
  toolResultImage: {
    chat: "messages.content.image_url",
    messages: "messages.content.tool_result.image",
    ollama: "messages.images",
    responses: "input.output.input_image",
    gemini: "contents.parts.functionResponse.parts"
  },
  citations: {
    chat: "messages.annotations",
    messages: "messages.content.citations",
    responses: "input.content.annotations"
  },
  toolSchema: {
    chat: "tools.function.parameters",
    messages: "tools.input_schema",
    ollama: "tools.function.parameters",
    responses: "tools.parameters",
    gemini: "tools.functionDeclarations.parameters"
  },
  toolStrict: {
    chat: "tools.function.strict",
    messages: "tools.strict",
    ollama: "tools.function.strict",
    responses: "tools.strict"
  }
} as const satisfies Readonly<Record<string, Partial<Record<WireName, string>>>>

export type Concept = keyof typeof names

/** Paths, by wire, of members that it nests and others have at the top level. */
const nested: Partial<Record<WireName, ReadonlyMap<string, string>>> = {
  ollama: new Map(
    Object.entries({
      temperature: "options.temperature",
      top_p: "options.top_p",
      top_k: "options.top_k",
      seed: "options.seed",
      presence_penalty: "options.presence_penalty",
      frequency_penalty: "options.frequency_penalty"
    })
  ),
  // An entry of `include`.
  responses: new Map([["logprobs", "include"]]),
  gemini: new Map(
    Object.entries({
      temperature: "generationConfig.temperature",
      top_p: "generationConfig.topP",
      top_k: "generationConfig.topK",
      seed: "generationConfig.seed",
      presence_penalty: "generationConfig.presencePenalty",
      frequency_penalty: "generationConfig.frequencyPenalty",
      logprobs: "generationConfig.responseLogprobs",
      top_logprobs: "generationConfig.logprobs",
      tool_choice: "toolConfig"
    })
  )
}

/** Wires that call `messages` something else: members of a message or of its content are under this path. */
const roots: Partial<Record<WireName, string>> = { responses: "input.", gemini: "contents.parts." }
const messageMember = /^messages\.(?:content\.)?/

/** An unknown member for encoders, but not lost: its tools arrive under flat names (`responses/ToolNames.ts`). */
const namespaces = "tools.namespace"

/** Concepts that hold what is talked about: they are never left out. */
const content: ReadonlySet<Concept> = new Set(["image", "file", "fileInline", "audio"])

export interface DropLog {
  /** Settings and hints that are left out. */
  readonly dropped: ReadonlySet<string>
  /** Fields that hold the conversation and have no place: the request cannot be sent so. */
  readonly lost: ReadonlySet<string>
  readonly mapped: ReadonlySet<string>
  readonly drop: (concept: Concept) => void
  readonly dropField: (field: string) => void
  /** A field that holds the conversation, or the thing asked about. */
  readonly loseField: (field: string) => void
  /** A member of a concept's field. */
  readonly dropIn: (concept: Concept, member: string) => void
  readonly map: (concept: Concept) => void
  readonly mapField: (field: string) => void
}

export const makeDropLog = (wire: WireName): DropLog => {
  const dropped = new Set<string>()
  const lost = new Set<string>()
  const mapped = new Set<string>()
  const flattened = wire === "responses" ? namespaces : null
  const nameOf = (concept: Concept): string => {
    const byWire: Partial<Record<WireName, string>> = names[concept]
    return byWire[wire] ?? concept
  }
  const placeOf = (field: string): string => {
    const root = roots[wire]
    const place = nested[wire]?.get(field) ?? field
    return root === undefined ? place : place.replace(messageMember, root)
  }
  return {
    dropped,
    lost,
    mapped,
    drop: (concept) => void (content.has(concept) ? lost : dropped).add(nameOf(concept)),
    loseField: (field) => void lost.add(placeOf(field)),
    dropIn: (concept, member) => void dropped.add(`${nameOf(concept)}.${member}`),
    dropField: (field) => void (flattened === field ? mapped : dropped).add(placeOf(field)),
    map: (concept) => void mapped.add(nameOf(concept)),
    mapField: (field) => void mapped.add(placeOf(field))
  }
}
