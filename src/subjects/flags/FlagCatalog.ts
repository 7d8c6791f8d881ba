/**
 * The feature flags as data. The key is also the name of the environment variable. Literal types are kept, so that a wrong key or enum
 * value does not compile.
 */

export type FlagCategory = "security" | "network" | "policies" | "runtime" | "cli" | "health"

export interface FlagDefinition {
  readonly key: string
  readonly label: string
  readonly description: string
  readonly category: FlagCategory
  readonly type: "boolean" | "enum"
  /** Allowed values of an enum flag; null for booleans. */
  readonly enumValues: ReadonlyArray<string> | null
  readonly defaultValue: string
  /** Persisted at once, but read only at process start. */
  readonly requiresRestart: boolean
  /** Level of the harm of a careless change. */
  readonly warningLevel: "none" | "caution" | "danger"
  /** Reason for which it cannot be switched on, one or more sentences; null: it can. */
  readonly refusal: string | null
  /** The part of the gateway that will read it and does not exist yet; null when the flag has an effect. */
  readonly waitsFor: string | null
}

type Text = Pick<FlagDefinition, "label" | "description">
type Traits = Partial<Pick<FlagDefinition, "requiresRestart" | "warningLevel" | "waitsFor" | "refusal">>

const described = (description: string, waitsFor: string | null): string =>
  waitsFor === null ? description : `${description} It has no effect yet: it waits for ${waitsFor}.`

const bool = <const K extends string>(
  category: FlagCategory,
  key: K,
  defaultValue: "true" | "false",
  label: string,
  description: string,
  traits: Traits = {}
) => ({
  key,
  label,
  description: described(description, traits.waitsFor ?? null),
  category,
  type: "boolean" as const,
  enumValues: null,
  defaultValue,
  requiresRestart: traits.requiresRestart ?? false,
  warningLevel: traits.warningLevel ?? ("none" as const),
  refusal: traits.refusal ?? null,
  waitsFor: traits.waitsFor ?? null
})

const choice = <const K extends string, const V extends readonly [string, ...ReadonlyArray<string>]>(
  category: FlagCategory,
  key: K,
  enumValues: V,
  defaultValue: V[number],
  { description, label }: Text,
  traits: Traits = {}
) => ({
  key,
  label,
  description: described(description, traits.waitsFor ?? null),
  category,
  type: "enum" as const,
  enumValues,
  defaultValue,
  requiresRestart: traits.requiresRestart ?? false,
  warningLevel: traits.warningLevel ?? ("none" as const),
  refusal: traits.refusal ?? null,
  waitsFor: traits.waitsFor ?? null
})

const restart: Traits = { requiresRestart: true }
const caution: Traits = { warningLevel: "caution" }

export const flagCatalog = [
  bool(
    "security",
    "REQUIRE_API_KEY",
    "false",
    "Require API key",
    "Every incoming request must carry a known API key of this gateway."
  ),
  bool(
    "security",
    "INPUT_SANITIZER_ENABLED",
    "true",
    "Input sanitizer",
    "Take invisible tag characters and halves of surrogate pairs out of the texts of requests."
  ),
  choice("security", "INJECTION_GUARD_MODE", ["off", "warn", "block", "redact"], "off", {
    label: "Injection guard",
    description:
      "What happens to requests in which a user or a tool seems to take over the model (`docs/guardrails.md`): `block` refuses them, `warn` marks the answer, `redact` takes the words out."
  }),
  bool(
    "security",
    "PII_REDACTION_ENABLED",
    "false",
    "Redact personal data",
    "Replace personal data and secrets in requests before they leave (`docs/guardrails.md`)."
  ),
  bool(
    "security",
    "PII_RESPONSE_SANITIZATION",
    "false",
    "Sanitize responses",
    "Look for personal data and secrets in what models answer."
  ),
  choice("security", "PII_RESPONSE_SANITIZATION_MODE", ["redact", "warn", "block", "off"], "redact", {
    label: "Response sanitization mode",
    description: "What happens to personal data found in an answer."
  }),
  bool(
    "security",
    "OUTBOUND_SSRF_GUARD_ENABLED",
    "true",
    "Outbound address guard",
    "Refuse private addresses: in URLs of requests, webhooks and settings, and for providers where the two flags about provider URLs are off. Cloud-metadata addresses stay refused when off.",
    caution
  ),
  bool(
    "security",
    "ALLOW_API_KEY_REVEAL",
    "false",
    "Reveal API keys",
    "Show the key of a connection in full (GET /api/providers/{id}) to whoever may manage connections. Off: masked. Keys of this gateway are kept as hashes and can never be shown again.",
    { warningLevel: "danger" }
  ),
  bool(
    "network",
    "ENABLE_TLS_FINGERPRINT",
    "false",
    "TLS fingerprint",
    "Shape outgoing TLS handshakes like a browser's. It cannot be switched on: Node's TLS offers no control over the order of a handshake's extensions, so it would be recognised and of no use.",
    {
      requiresRestart: true,
      warningLevel: "caution",
      refusal:
        "Node's TLS offers no control over the order of extensions, GREASE values and key shares of a handshake, so none can look like a browser's. Use a proxy that does this (docs/proxies.md)."
    }
  ),
  bool(
    "network",
    "FREE_PROXY_ENABLED",
    "true",
    "Free proxies",
    "Allow proxies of public lists: they are looked for when that is asked for, and used where they are assigned (`docs/proxies.md`)."
  ),
  bool(
    "network",
    "PROXY_AUTO_SELECT_ENABLED",
    "false",
    "Pick a proxy automatically",
    "Use the first working proxy of the registry for calls without an assigned one (`docs/proxies.md`)."
  ),
  bool(
    "network",
    "GATEWAY_CONTROL_PLANE_PROXY_DIRECT_FALLBACK",
    "false",
    "Direct fallback for sign-in",
    "Let sign-ins, renewals of tokens and checks of keys go direct when their proxy cannot be used. They then leave by this machine's own address; each time is logged.",
    caution
  ),
  bool(
    "network",
    "MITM_DISABLE_TLS_VERIFY",
    "false",
    "Skip TLS verification",
    "Capture no longer verifies certificates of servers (`docs/capture.md`). Dangerous: whoever stands between can read and change all of it.",
    { requiresRestart: true, warningLevel: "danger" }
  ),
  bool(
    "network",
    "GATEWAY_ALLOW_PRIVATE_PROVIDER_URLS",
    "false",
    "Private provider URLs",
    "Allow provider URLs on private networks, but not on this machine itself, also while GATEWAY_ALLOW_LOCAL_PROVIDER_URLS is off. Cloud-metadata addresses stay refused.",
    caution
  ),
  bool(
    "network",
    "GATEWAY_ALLOW_LOCAL_PROVIDER_URLS",
    "true",
    "Local provider URLs",
    "Allow provider URLs on loopback and in private networks. Cloud-metadata addresses stay refused."
  ),
  bool(
    "network",
    "ENABLE_CC_COMPATIBLE_PROVIDER",
    "false",
    "Coding-client compatible provider",
    "Allow provider nodes of the type `claude-code-compatible`, for relays that take Claude Code's own requests: these go through as they came, and no other client's go there (`docs/routing.md`).",
    restart
  ),
  choice("policies", "TOOL_POLICY_MODE", ["disabled", "warn", "block"], "disabled", {
    label: "Tool policy",
    description:
      "What happens to requests that offer tools which `toolPolicy` of `/api/settings/guardrails` forbids (`docs/guardrails.md`): `block` does what its `action` says, `warn` marks the answer."
  }),
  bool(
    "policies",
    "RATE_LIMIT_AUTO_ENABLE",
    "false",
    "Automatic rate limits",
    "Turn on the throttle of connections with an API key (`requestQueue` of the resilience settings) without its own switch."
  ),
  bool(
    "policies",
    "ALLOW_MULTI_CONNECTIONS_PER_COMPAT_NODE",
    "false",
    "Several accounts per node",
    "Allow more than one connection for one provider node.",
    restart
  ),
  bool(
    "runtime",
    "GATEWAY_MCP_ENFORCE_SCOPES",
    "true",
    "Enforce MCP scopes",
    "An MCP tool runs only when the key has the tool's scope.",
    caution
  ),
  bool(
    "runtime",
    "GATEWAY_MCP_COMPRESS_DESCRIPTIONS",
    "false",
    "Short MCP descriptions",
    "Tools of the MCP server are listed with the first sentences of their descriptions only, and without the schemas of what they answer."
  ),
  bool(
    "runtime",
    "GATEWAY_ENABLE_RUNTIME_BACKGROUND_TASKS",
    "false",
    "Runtime background tasks",
    "What coding agents ask by themselves (titles, summaries, topic checks) is answered by the model that the setting `backgroundModel` names (`docs/routing.md`)."
  ),
  bool(
    "runtime",
    "GATEWAY_DISABLE_BACKGROUND_SERVICES",
    "false",
    "No background services",
    "Fetch nothing in the background: no model lists, leaderboard ratings, prices or OAuth tokens. Retention, backups and webhooks go on.",
    restart
  ),
  bool(
    "runtime",
    "GATEWAY_RTK_TRUST_PROJECT_FILTERS",
    "false",
    "Trust project filters",
    "Use the RTK filters of the folder that the gateway runs in (`.rtk/filters.json`) without their SHA-256 in the settings.",
    caution
  ),
  bool(
    "runtime",
    "GATEWAY_ENABLE_LIVE_WS",
    "true",
    "Live WebSocket",
    "Start the WebSocket server of the live feed, on a port of its own.",
    restart
  ),
  bool(
    "runtime",
    "GATEWAY_UPSTREAM_WS_ENABLED",
    "true",
    "Upstream WebSocket",
    "Let clients use the responses wire over WebSocket. When off, they use HTTP."
  ),
  bool(
    "runtime",
    "GATEWAY_EMERGENCY_FALLBACK",
    "true",
    "Emergency fallback",
    "Send a request that failed for lack of credits to a free model."
  ),
  bool(
    "runtime",
    "MODEL_CATALOG_INCLUDE_NAMES",
    "true",
    "Names in the model list",
    "Show display names in the model list."
  ),
  bool(
    "runtime",
    "LEADERBOARD_ELO_SYNC_ENABLED",
    "true",
    "Leaderboard sync",
    "Use the ratings at the setting `leaderboardUrl` for automatic routing; without that address nothing is fetched."
  ),
  bool(
    "runtime",
    "STREAM_RECOVERY_ENABLED",
    "false",
    "Stream recovery",
    "Hold back the beginning of a stream for a moment, so that another target can take over if it dies."
  ),
  bool(
    "runtime",
    "STREAM_RECOVERY_MIDSTREAM_ENABLED",
    "false",
    "Mid-stream recovery",
    "Try to continue a stream that died after content was sent.",
    caution
  ),
  choice("runtime", "MODELS_CATALOG_PREFIX_MODE", ["dual", "alias", "canonical"], "canonical", {
    label: "Model id prefixes",
    description: "Prefixes in the model list: canonical provider ids, their aliases, or both."
  }),
  bool(
    "cli",
    "CLI_COMPAT_ALL",
    "false",
    "Coding tools' own headers",
    "Hand the headers in which a coding tool speaks of itself on to its own provider: Claude Code's to Anthropic, Codex's to OpenAI and so on. Nothing is made up for another client (`docs/routing.md`).",
    restart
  ),
  bool(
    "cli",
    "MODEL_ALIAS_COMPAT_ENABLED",
    "false",
    "Model alias compatibility",
    "Ask the successor of a model that is not served under its old or dated name; the answer names it in `X-Gateway-Mapped` (`docs/routing.md`)."
  ),
  bool(
    "cli",
    "PRICING_SYNC_ENABLED",
    "false",
    "Pricing sync",
    "Fetch the prices at the setting `pricingUrl` daily. The environment variable of the same name must be on, too."
  ),
  bool(
    "health",
    "GATEWAY_DISABLE_LOCAL_HEALTHCHECK",
    "false",
    "No local health check",
    "Do not ask servers on this machine and in its network for their models in the background, neither daily nor while they are down."
  ),
  bool(
    "health",
    "GATEWAY_DISABLE_TOKEN_HEALTHCHECK",
    "false",
    "No token health check",
    "Do not renew OAuth tokens in the background, only when a request needs one."
  ),
  bool(
    "health",
    "SKILLS_SANDBOX_NETWORK_ENABLED",
    "false",
    "Network in the skills sandbox",
    "Let code blocks of skills that `gateway_skills_execute` runs ask addresses of the internet (`docs/skills.md`).",
    caution
  )
] as const satisfies ReadonlyArray<FlagDefinition>

type Entry = (typeof flagCatalog)[number]

export type FlagKey = Entry["key"]
export type BooleanFlag = Extract<Entry, { readonly type: "boolean" }>["key"]
export type EnumFlag = Extract<Entry, { readonly type: "enum" }>["key"]
/** The allowed values of one enum flag. */
export type EnumFlagValue<K extends EnumFlag> = Extract<
  Entry,
  { readonly key: K; readonly type: "enum" }
>["enumValues"][number]

const byKey: ReadonlyMap<string, Entry> = new Map(flagCatalog.map((flag) => [flag.key, flag]))

/** The definition of a key from outside; null when there is no such flag. */
export const findFlag = (key: string): Entry | null => byKey.get(key) ?? null
