/**
 * The canonical conversation: what every wire's request is decoded to and encoded from (N + M codecs, not N × M).
 * Plain readonly data. Optional members are absent, never undefined; null means "not given".
 * What only some wires can express is kept here too, so that the encoder of a target can name what it drops.
 */
import type { WireName } from "../../contract/domain/Wire.ts"
import type { Inner } from "../json/Inner.ts"
import type { Json, JsonObject } from "../json/Json.ts"
import type { Link, SearchWork } from "./SearchFacts.ts"

/** A prompt-cache mark as the messages wire writes it (`{type: "ephemeral", ttl?}`). */
export interface Marked {
  readonly cacheControl?: JsonObject
  /** A prompt-cache mark as the chat and responses wires write it (`{mode: "explicit"}`). */
  readonly cacheBreakpoint?: JsonObject
  /** Unknown members of the source object; restored by the encoder of the same wire only. */
  readonly extras?: JsonObject
  /** The same of the one object inside it (`image_url`, `function`, `source`). */
  readonly inner?: JsonObject
}

export type MediaSource =
  | { readonly kind: "base64"; readonly mediaType: string; readonly data: string }
  | { readonly kind: "url"; readonly url: string }
  /** An id in the provider's own file store: meaningless on any other wire. */
  | { readonly kind: "file_id"; readonly wire: WireName; readonly id: string }
  | { readonly kind: "text"; readonly text: string }

export interface TextPart extends Marked {
  readonly type: "text"
  readonly text: string
  readonly citations?: ReadonlyArray<Citation>
  /** Signature that belongs to the text itself (gemini). */
  readonly state?: ReasoningState
}

/** A citation or annotation as the wire it came from writes it. */
export interface Citation {
  /** Null: the gateway has found it itself. */
  readonly wire: WireName | null
  readonly value: JsonObject
  /** The same as all wires know it, where it is a link. */
  readonly link?: Link
}

export interface RefusalPart {
  readonly type: "refusal"
  readonly text: string
}

export interface ImagePart extends Marked {
  readonly type: "image"
  readonly source: MediaSource
  readonly detail?: string
}

export interface AudioPart extends Marked {
  readonly type: "audio"
  /** `wav`, `mp3`, … as the chat wire names it; the media type is `audio/<format>`. */
  readonly format: string
  readonly data: string
}

export interface FilePart extends Marked {
  readonly type: "file"
  readonly source: MediaSource
  /** Kind of a video, which wires for documents have no place for. */
  readonly media?: "video"
  readonly filename?: string
}

/**
 * Opaque state that a provider requires back with its own reasoning (a signature, encrypted content). Valid only on the wire that made
 * it: a foreign or empty one is refused, so encoders of other wires leave it out.
 */
export interface ReasoningState {
  readonly wire: WireName
  /** `signature` (messages), `thoughtSignature` (gemini). */
  readonly signature?: string
  /** `redacted_thinking.data` (messages), `encrypted_content` (responses). */
  readonly encrypted?: string
  /** The provider's id of the reasoning item (responses). */
  readonly id?: string
}

export interface ReasoningPart extends Marked {
  readonly type: "reasoning"
  /** Empty for reasoning that is only opaque. */
  readonly text: string
  readonly state?: ReasoningState
}

export interface ToolCallPart extends Marked {
  readonly type: "tool_call"
  readonly id: string
  readonly name: string
  /** `custom`: free-form text input instead of JSON. */
  readonly kind: "function" | "custom"
  /** The argument text as the model wrote it: JSON for `function` (never empty, at least `{}`), free text for `custom`. */
  readonly args: string
  /** Signature that belongs to the call itself (gemini). */
  readonly state?: ReasoningState
}

export interface ToolResultPart extends Marked {
  readonly type: "tool_result"
  readonly callId: string
  readonly content: ReadonlyArray<TextPart | ImagePart | FilePart | OpaquePart>
  readonly isError: boolean
}

/** A block that only its own wire has (server tool use, search results, compaction …). */
export interface OpaquePart {
  readonly type: "opaque"
  /** Null: the gateway has made it, for any wire that can say it. */
  readonly wire: WireName | null
  /** The block's type in its own wire. */
  readonly kind: string
  readonly value: JsonObject
  /** The image it holds, which other wires may be able to express. */
  readonly picture?: MediaSource
  /** The search of the web that it tells of, likewise. */
  readonly search?: SearchWork
}

export type Part =
  | TextPart
  | RefusalPart
  | ImagePart
  | AudioPart
  | FilePart
  | ReasoningPart
  | ToolCallPart
  | ToolResultPart
  | OpaquePart

/** `tool` messages hold only tool results; they come right after the assistant message that made the calls. */
export type Role = "system" | "developer" | "user" | "assistant" | "tool"

export interface Message {
  readonly role: Role
  readonly parts: ReadonlyArray<Part>
  readonly name?: string
  readonly extras?: JsonObject
}

export interface FunctionTool extends Marked {
  readonly type: "function"
  readonly name: string
  readonly description?: string
  /** JSON Schema of the arguments; absent when the source gave none (encoders then write an object without properties). */
  readonly schema?: JsonObject
  readonly strict?: boolean
}

export interface CustomTool extends Marked {
  readonly type: "custom"
  readonly name: string
  readonly description?: string
  /** Grammar or text format, as the chat and responses wires write it. */
  readonly format?: JsonObject
}

/** A tool the provider runs itself (`web_search_20250305`, `code_interpreter`, `googleSearch`, …). */
export interface BuiltinTool {
  readonly type: "builtin"
  readonly wire: WireName
  readonly kind: string
  readonly value: JsonObject
}

export type Tool = FunctionTool | CustomTool | BuiltinTool

export type ToolChoice =
  | { readonly type: "auto" | "none" | "required" }
  | { readonly type: "tool"; readonly name: string }
  | { readonly type: "allowed"; readonly mode: "auto" | "required"; readonly names: ReadonlyArray<string> }

export interface Sampling {
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly seed?: number
  readonly presencePenalty?: number
  readonly frequencyPenalty?: number
  readonly stop?: ReadonlyArray<string>
  readonly logprobs?: boolean
  readonly topLogprobs?: number
  readonly logitBias?: JsonObject
}

export type OutputFormat =
  | { readonly type: "json" }
  | {
      readonly type: "json_schema"
      readonly name?: string
      readonly description?: string
      readonly schema: JsonObject
      readonly strict?: boolean
    }

/** The client's reasoning settings; a wire expresses them as an effort, a token budget, or both. */
export interface ReasoningAsk {
  /** `budget`: at most `budgetTokens`; `effort`: a level only; `adaptive`: the model decides; `off`: none. */
  readonly mode: "budget" | "effort" | "adaptive" | "off"
  /** `minimal`, `low`, `medium`, `high`, `xhigh`, `max`. */
  readonly effort?: string
  readonly budgetTokens?: number
  /** Form in which reasoning is shown (`auto`, `concise`, `detailed`, `summarized`, `omitted`). */
  readonly summary?: string
  /** The client's own words for it are among `extras`, for the wire that they are of: the member that says it. */
  readonly inOwnWords?: string
}

export interface Conversation {
  /** The wire it was decoded from. */
  readonly wire: WireName
  readonly model: string
  readonly stream: boolean
  /** The client wants usage in its stream. Always true on wires that always send it. */
  readonly wantsUsage: boolean
  readonly messages: ReadonlyArray<Message>
  readonly tools: ReadonlyArray<Tool>
  readonly toolChoice: ToolChoice | null
  /** false: at most one call per answer. */
  readonly parallelToolCalls: boolean | null
  readonly maxOutputTokens: number | null
  /** Number of answers asked for (`n`); 1 when not given. */
  readonly candidates: number
  readonly sampling: Sampling
  readonly outputFormat: OutputFormat | null
  readonly reasoning: ReasoningAsk | null
  /** Stable id of the end user. */
  readonly user: string | null
  readonly metadata: JsonObject | null
  /** Top-level members without a canonical form: restored on the same wire, named as dropped on any other. */
  readonly extras: Readonly<Record<string, Json | undefined>>
  /** Fields of the client's request that no conversation can carry: named as dropped whatever the target. */
  readonly leftOut?: ReadonlyArray<string>
  /** Fields of the client's request that were adjusted before it is encoded: named as mapped whatever the target. */
  readonly bent?: ReadonlyArray<string>
  /** Nested members that only the client's own wire has: named as dropped on any other. */
  readonly nested?: ReadonlyArray<string>
  /** The same members of objects of which a request has one, for the client's own wire. */
  readonly inner?: ReadonlyArray<Inner>
}
