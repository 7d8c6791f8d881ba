/** Settings of who may call and how requests are shaped (`/api/settings/<name>`): shapes, defaults, and how a change is merged. */
import * as Schema from "effect/Schema"
import { field } from "../../../kernel/Documented.ts"
import { isIpRange } from "../../../kernel/IpRanges.ts"

const leave = { exact: true, nullable: true } as const
const given = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, leave)

const filterWords = {
  enabled: ["Whether the filter is on.", true],
  mode: ["`blacklist`: refuse the listed addresses; `whitelist`: refuse all others.", "blacklist"],
  blacklist: ["Addresses and CIDR blocks that are refused.", ["192.0.2.0/24"]],
  whitelist: ["Addresses and CIDR blocks that are let in.", ["10.0.0.0/8"]]
} as const

const FilterMode = Schema.Literal("blacklist", "whitelist")
const Ranges = Schema.Array(
  Schema.Trim.pipe(
    Schema.filter((text) => isIpRange(text) || "must be an IP address or a CIDR block such as 192.0.2.0/24")
  )
).pipe(Schema.maxItems(10_000))

/**
 * Filter of the addresses that the main listener answers at all, by the address of the socket. Direct connections of
 * this machine are never refused.
 */
export const IpFilter = Schema.Struct({
  enabled: field(Schema.Boolean, ...filterWords.enabled),
  mode: field(FilterMode, ...filterWords.mode),
  blacklist: field(Schema.Array(Schema.String), ...filterWords.blacklist),
  whitelist: field(Schema.Array(Schema.String), ...filterWords.whitelist)
}).annotations({ identifier: "IpFilter" })
export type IpFilter = typeof IpFilter.Type

export const IpFilterPatch = Schema.Struct({
  enabled: field(given(Schema.Boolean), ...filterWords.enabled),
  mode: field(given(FilterMode), ...filterWords.mode),
  blacklist: field(given(Ranges), ...filterWords.blacklist),
  whitelist: field(given(Ranges), ...filterWords.whitelist)
})
export type IpFilterPatch = typeof IpFilterPatch.Type

export const defaultIpFilter: IpFilter = { enabled: false, mode: "blacklist", blacklist: [], whitelist: [] }

const thinkingWords = {
  mode: [
    "`passthrough`: as the client asks; `auto`: the model decides; `custom`: `customBudget` or `effortLevel`; `adaptive`: `customBudget` by the size of the request.",
    "passthrough"
  ],
  customBudget: ["Tokens to think with; 0 turns thinking off.", 8192],
  effortLevel: ["A level instead of a budget, in the mode `custom`; null: the budget.", null]
} as const

const ThinkingMode = Schema.Literal("passthrough", "auto", "custom", "adaptive")
const Effort = Schema.Literal("none", "low", "medium", "high", "xhigh", "max")

/** Budget for models that can think. */
export const ThinkingBudget = Schema.Struct({
  mode: field(ThinkingMode, ...thinkingWords.mode),
  customBudget: field(Schema.Number, ...thinkingWords.customBudget),
  effortLevel: field(Schema.NullOr(Effort), ...thinkingWords.effortLevel)
}).annotations({ identifier: "ThinkingBudget" })
export type ThinkingBudget = typeof ThinkingBudget.Type

export const ThinkingBudgetPatch = Schema.Struct({
  mode: field(given(ThinkingMode), ...thinkingWords.mode),
  customBudget: field(given(Schema.Int.pipe(Schema.between(0, 131_072))), ...thinkingWords.customBudget),
  effortLevel: field(Schema.optionalWith(Schema.NullOr(Effort), { exact: true }), ...thinkingWords.effortLevel)
})
export type ThinkingBudgetPatch = typeof ThinkingBudgetPatch.Type

export const defaultThinkingBudget: ThinkingBudget = { mode: "passthrough", customBudget: 8_192, effortLevel: null }

const promptWords = {
  enabled: ["Whether the texts are added.", true],
  prefixPrompt: ["Stands before the system text of every conversation; empty: nothing.", "Answer in English."],
  suffixPrompt: ["Stands behind it; empty: nothing.", ""]
} as const
const Prompt = Schema.String.pipe(Schema.maxLength(50_000))

/** Texts around the system text of every conversation. */
export const SystemPrompt = Schema.Struct({
  enabled: field(Schema.Boolean, ...promptWords.enabled),
  prefixPrompt: field(Schema.String, ...promptWords.prefixPrompt),
  suffixPrompt: field(Schema.String, ...promptWords.suffixPrompt)
}).annotations({ identifier: "SystemPrompt" })
export type SystemPrompt = typeof SystemPrompt.Type

export const SystemPromptPatch = Schema.Struct({
  enabled: field(given(Schema.Boolean), ...promptWords.enabled),
  prefixPrompt: field(given(Prompt), ...promptWords.prefixPrompt),
  suffixPrompt: field(given(Prompt), ...promptWords.suffixPrompt)
})
export type SystemPromptPatch = typeof SystemPromptPatch.Type

export const defaultSystemPrompt: SystemPrompt = { enabled: false, prefixPrompt: "", suffixPrompt: "" }

const loginWords = [
  "Shown to clients that ask whether to log in. Management needs an administrator whatever it says.",
  true
] as const

export const RequireLogin = Schema.Struct({ requireLogin: field(Schema.Boolean, ...loginWords) }).annotations({
  identifier: "RequireLogin"
})
export type RequireLogin = typeof RequireLogin.Type

export const RequireLoginPatch = Schema.Struct({ requireLogin: field(given(Schema.Boolean), ...loginWords) })
export type RequireLoginPatch = typeof RequireLoginPatch.Type

export const defaultRequireLogin: RequireLogin = { requireLogin: true }

/** Replaces the settings that the patch has. */
export const merged = <Settings extends object>(settings: Settings, patch: Partial<Settings>): Settings => ({
  ...settings,
  ...patch
})
