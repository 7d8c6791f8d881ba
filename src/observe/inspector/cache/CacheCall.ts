/** Input of the finder for a call to a model, and its finding. */
import type { WireName } from "../../../contract/domain/Wire.ts"
import type { JsonObject } from "../../../wire/json/Json.ts"

/** The prompt as it went to the provider, where the gateway sent another one than it got. */
export interface SentPrompt {
  readonly wire: WireName
  readonly body: JsonObject
}

/** Tokens as the provider reported them; `in` counts the cached ones too. */
export interface ReportedTokens {
  readonly in: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

export interface CacheCall {
  readonly id: string
  /** Epoch milliseconds when the request was sent. */
  readonly atMs: number
  /** Epoch milliseconds of the first byte of the answer: from then on others can read what it wrote. */
  readonly answeredAtMs: number
  /** Wire of `body`. */
  readonly wire: WireName
  /** Id of the provider that was called; null when unknown. */
  readonly provider: string | null
  /** Names the account at the provider, in a form that may be shown: caches are not shared between accounts. Null when unknown. */
  readonly account: string | null
  /** The model that was called. */
  readonly model: string
  /** The model the client asked for. */
  readonly askedModel: string
  /** Body that the client sent. */
  readonly body: JsonObject
  /** Null: the provider got what the client sent. */
  readonly sent: SentPrompt | null
  /** True where the gateway chose account and model. */
  readonly isRouted: boolean
  /** False when no answer came: the call then has written no cache. */
  readonly isAnswered: boolean
  /** Null when the answer has no counts. */
  readonly reported: ReportedTokens | null
}

export type CacheVerdict = "hit" | "partial" | "broken" | "first" | "too_short" | "unknown"

export type CacheRule =
  | "tools_changed"
  | "system_changed"
  | "message_changed"
  | "history_rewritten"
  | "parameters_changed"
  | "marker_moved"
  | "model_changed"
  | "account_changed"
  | "ttl_expired"
  | "gateway_rewrote"
  | "provider_missed"

export interface CacheCause {
  readonly by: "client" | "gateway" | "provider"
  readonly rule: CacheRule
  /** The first differing place, in the client's body or, for what the gateway changed, in the body that was sent. */
  readonly path: string | null
  /** Null: not there, or no longer known. */
  readonly before: string | null
  readonly after: string | null
}

export interface CacheFinding {
  readonly verdict: CacheVerdict
  /** Null unless the verdict is `partial` or `broken`. */
  readonly cause: CacheCause | null
  /** Id of the earlier call it was compared with. */
  readonly comparedWith: string | null
  /** Tokens that an unbroken cache would have given. */
  readonly expectedTokens: number
  /** Zeros when the answer has no counts. */
  readonly tokens: ReportedTokens
  /** Tokens of `expectedTokens` that were paid as new ones; 0 unless a cause is given. */
  readonly lostTokens: number
  /** Cost of the lost tokens above the price of cached ones; null when the price or the counts are unknown. */
  readonly lostUsd: number | null
}
