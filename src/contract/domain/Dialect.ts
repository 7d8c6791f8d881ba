/**
 * Deviations of an endpoint from the wire it speaks, as plain data of the registry. Codecs take it as a value and know no provider
 * by name. Every entry has the address of the page it was taken from.
 */
import type { WireName } from "./Wire.ts"

export interface Documented<A> {
  readonly is: A
  /** Address of the provider's documentation, or of the report of its answer where the documentation is silent. */
  readonly docs: string
}

/**
 * The member of an assistant's message that carries its earlier reasoning (chat wire); `refused`: the endpoint answers 400 to a
 * message that has one.
 */
export type ReasoningHistory = "reasoning_content" | "reasoning" | "refused"

/**
 * Relation of reasoning tokens to the completion tokens:
 * - `inside` the completion count includes them
 * - `beside` the completion count does not, the total does
 * - `outside_total` neither does
 */
export type ReasoningCount = "inside" | "beside" | "outside_total"

/** A provider's own charge for an answer, of which its documentation says that it is what is paid. */
export interface UpstreamCharge {
  /** Member of the usage object, as a path with dots. */
  readonly at: string
  readonly unitsPerUsd: number
  /** Member that says that the operator's own key at the provider behind pays the inference, and that provider's charge. */
  readonly ownKey: { readonly when: string; readonly at: string } | null
}

/**
 * Places in the usage object, by what they count. Only the codecs of the chat and responses wires need it; the other
 * wires have one way.
 */
export interface UsageDialect {
  readonly reasoning: ReasoningCount
  /** Relation of the prompt count to the tokens read from the cache: included or not. */
  readonly cacheRead: "inside" | "beside"
  /** Members of the usage object, as paths with dots; the largest number counts. */
  readonly reasoningAt: ReadonlyArray<string>
  readonly cacheReadAt: ReadonlyArray<string>
  readonly cacheWriteAt: ReadonlyArray<string>
  /** Place of the provider's charge in the answer; null: none is documented. */
  readonly charge: Documented<UpstreamCharge> | null
  /** Null: not documented by the provider, so it is read as the maker of the wire documents it. */
  readonly docs: string | null
}

/** Models for which another wire than the client's is used, although the endpoint speaks both. */
export interface WireRule {
  /** Matched against the model's id. */
  readonly models: RegExp
  /**
   * - `always`
   * - `tools_with_reasoning` for requests with tools that ask for reasoning
   * - `tools_unless_off` for requests with tools that do not turn reasoning off
   */
  readonly when: "always" | "tools_with_reasoning" | "tools_unless_off"
  readonly wire: WireName
  readonly docs: string
}

/** A search of the web that an endpoint makes itself, in the form of the wire. */
export interface OwnSearch {
  readonly wire: Exclude<WireName, "ollama">
  /** Matched against the model's id. */
  readonly models: RegExp
  readonly docs: string
}

export interface Dialect {
  /** Null: not documented by the provider. */
  readonly reasoningHistory: Documented<ReasoningHistory> | null
  /** `stream_options` is refused; usage comes with every stream. Null: it is supported. */
  readonly streamOptions: Documented<"refused"> | null
  /** Models whose prompts are cached only with marks in the request (chat wire). Null: none, or none are known. */
  readonly cacheMarks: Documented<RegExp> | null
  /** The only form of tool-call ids that is accepted. Null: any. */
  readonly callIds: Documented<"nine_letters_or_digits"> | null
  readonly usage: UsageDialect
  /** Null: not documented by the provider; models that are known by their name then have the search of their maker, in its wire. */
  readonly webSearch: ReadonlyArray<OwnSearch> | null
  /** The first that matches applies. */
  readonly wireRules: ReadonlyArray<WireRule>
}

/**
 * Places where servers of the chat wire are known to count reasoning and cached tokens; the standard members come
 * first.
 */
export const plainUsage: UsageDialect = {
  reasoning: "inside",
  cacheRead: "inside",
  reasoningAt: [
    "completion_tokens_details.reasoning_tokens",
    "output_tokens_details.reasoning_tokens",
    "reasoning_tokens"
  ],
  cacheReadAt: [
    "prompt_tokens_details.cached_tokens",
    "input_tokens_details.cached_tokens",
    "prompt_cache_hit_tokens",
    "cached_tokens",
    "cache_read_input_tokens"
  ],
  cacheWriteAt: [
    "prompt_tokens_details.cache_write_tokens",
    "input_tokens_details.cache_write_tokens",
    "prompt_tokens_details.cache_creation_input_tokens",
    "cache_creation_input_tokens"
  ],
  charge: null,
  docs: null
}

/** The dialect of an endpoint without known deviations. */
export const plainDialect: Dialect = {
  reasoningHistory: null,
  streamOptions: null,
  cacheMarks: null,
  callIds: null,
  usage: plainUsage,
  webSearch: null,
  wireRules: []
}
