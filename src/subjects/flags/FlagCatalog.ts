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

type Traits = Partial<Pick<FlagDefinition, "requiresRestart" | "warningLevel" | "waitsFor" | "refusal">>
type About = Pick<FlagDefinition, "label" | "description"> & Traits

const described = (description: string, waitsFor: string | null): string =>
  waitsFor === null ? description : `${description} It has no effect yet: it waits for ${waitsFor}.`

const bool = <const K extends string>(
  category: FlagCategory,
  key: K,
  defaultValue: "true" | "false",
  { description, label, refusal = null, requiresRestart = false, waitsFor = null, warningLevel = "none" }: About
) => ({
  key,
  label,
  description: described(description, waitsFor),
  category,
  type: "boolean" as const,
  enumValues: null,
  defaultValue,
  requiresRestart,
  warningLevel,
  refusal,
  waitsFor
})

const choice = <const K extends string, const V extends readonly [string, ...ReadonlyArray<string>]>(
  category: FlagCategory,
  key: K,
  enumValues: V,
  defaultValue: V[number],
  { description, label, refusal = null, requiresRestart = false, waitsFor = null, warningLevel = "none" }: About
) => ({
  key,
  label,
  description: described(description, waitsFor),
  category,
  type: "enum" as const,
  enumValues,
  defaultValue,
  requiresRestart,
  warningLevel,
  refusal,
  waitsFor
})

const restart: Traits = { requiresRestart: true }
const caution: Traits = { warningLevel: "caution" }

export const flagCatalog = [
  bool("security", "REQUIRE_API_KEY", "false", {
    label: "Require API key",
    description: "Every incoming request must carry a known API key of this gateway."
  }),
  bool("security", "INPUT_SANITIZER_ENABLED", "true", {
    label: "Input sanitizer",
    description: "Take invisible tag characters and halves of surrogate pairs out of the texts of requests."
  }),
  choice("security", "INJECTION_GUARD_MODE", ["off", "warn", "block", "redact"], "off", {
    label: "Injection guard",
    description:
      "What happens to requests in which a user or a tool seems to take over the model (`docs/guardrails.md`): `block` refuses them, `warn` marks the answer, `redact` takes the words out."
  }),
  bool("security", "PII_REDACTION_ENABLED", "false", {
    label: "Redact personal data",
    description: "Replace personal data and secrets in requests before they leave (`docs/guardrails.md`)."
  }),
  bool("security", "PII_RESPONSE_SANITIZATION", "false", {
    label: "Sanitize responses",
    description: "Look for personal data and secrets in what models answer."
  }),
  choice("security", "PII_RESPONSE_SANITIZATION_MODE", ["redact", "warn", "block", "off"], "redact", {
    label: "Response sanitization mode",
    description: "What happens to personal data found in an answer."
  }),
  bool("security", "OUTBOUND_SSRF_GUARD_ENABLED", "true", {
    label: "Outbound address guard",
    description:
      "Refuse private addresses: in URLs of requests, webhooks and settings, and for providers where the two flags about provider URLs are off. Cloud-metadata addresses stay refused when off.",
    ...caution
  }),
  bool("security", "ALLOW_API_KEY_REVEAL", "false", {
    label: "Reveal API keys",
    description:
      "Show the key of a connection in full (GET /api/providers/{id}) to whoever may manage connections. Off: masked. Keys of this gateway are kept as hashes and can never be shown again.",
    warningLevel: "danger"
  }),
  bool("network", "ENABLE_TLS_FINGERPRINT", "false", {
    label: "TLS fingerprint",
    description:
      "Shape outgoing TLS handshakes like a browser's. It cannot be switched on: Node's TLS offers no control over the order of a handshake's extensions, so it would be recognised and of no use.",
    requiresRestart: true,
    warningLevel: "caution",
    refusal:
      "Node's TLS offers no control over the order of extensions, GREASE values and key shares of a handshake, so none can look like a browser's. Use a proxy that does this (docs/proxies.md)."
  }),
  bool("network", "FREE_PROXY_ENABLED", "true", {
    label: "Free proxies",
    description:
      "Allow proxies of public lists: they are looked for when that is asked for, and used where they are assigned (`docs/proxies.md`)."
  }),
  bool("network", "PROXY_AUTO_SELECT_ENABLED", "false", {
    label: "Pick a proxy automatically",
    description: "Use the first working proxy of the registry for calls without an assigned one (`docs/proxies.md`)."
  }),
  bool("network", "GATEWAY_CONTROL_PLANE_PROXY_DIRECT_FALLBACK", "false", {
    label: "Direct fallback for sign-in",
    description:
      "Let sign-ins, renewals of tokens and checks of keys go direct when their proxy cannot be used. They then leave by this machine's own address; each time is logged.",
    ...caution
  }),
  bool("network", "MITM_DISABLE_TLS_VERIFY", "false", {
    label: "Skip TLS verification",
    description:
      "Capture no longer verifies certificates of servers (`docs/capture.md`). Dangerous: whoever stands between can read and change all of it.",
    requiresRestart: true,
    warningLevel: "danger"
  }),
  bool("network", "GATEWAY_ALLOW_PRIVATE_PROVIDER_URLS", "false", {
    label: "Private provider URLs",
    description:
      "Allow provider URLs on private networks, but not on this machine itself, also while GATEWAY_ALLOW_LOCAL_PROVIDER_URLS is off. Cloud-metadata addresses stay refused.",
    ...caution
  }),
  bool("network", "GATEWAY_ALLOW_LOCAL_PROVIDER_URLS", "true", {
    label: "Local provider URLs",
    description: "Allow provider URLs on loopback and in private networks. Cloud-metadata addresses stay refused."
  }),
  bool("network", "ENABLE_CC_COMPATIBLE_PROVIDER", "false", {
    label: "Coding-client compatible provider",
    description:
      "Allow provider nodes of the type `claude-code-compatible`, for relays that take Claude Code's own requests: these go through as they came, and no other client's go there (`docs/routing.md`).",
    ...restart
  }),
  choice("policies", "TOOL_POLICY_MODE", ["disabled", "warn", "block"], "disabled", {
    label: "Tool policy",
    description:
      "What happens to requests that offer tools which `toolPolicy` of `/api/settings/guardrails` forbids (`docs/guardrails.md`): `block` does what its `action` says, `warn` marks the answer."
  }),
  bool("policies", "RATE_LIMIT_AUTO_ENABLE", "false", {
    label: "Automatic rate limits",
    description:
      "Turn on the throttle of connections with an API key (`requestQueue` of the resilience settings) without its own switch."
  }),
  bool("policies", "ALLOW_MULTI_CONNECTIONS_PER_COMPAT_NODE", "false", {
    label: "Several accounts per node",
    description: "Allow more than one connection for one provider node.",
    ...restart
  }),
  bool("runtime", "GATEWAY_MCP_ENFORCE_SCOPES", "true", {
    label: "Enforce MCP scopes",
    description: "An MCP tool runs only when the key has the tool's scope.",
    ...caution
  }),
  bool("runtime", "GATEWAY_MCP_COMPRESS_DESCRIPTIONS", "false", {
    label: "Short MCP descriptions",
    description:
      "Tools of the MCP server are listed with the first sentences of their descriptions only, and without the schemas of what they answer."
  }),
  bool("runtime", "GATEWAY_ENABLE_RUNTIME_BACKGROUND_TASKS", "false", {
    label: "Runtime background tasks",
    description:
      "What coding agents ask by themselves (titles, summaries, topic checks) is answered by the model that the setting `backgroundModel` names (`docs/routing.md`)."
  }),
  bool("runtime", "GATEWAY_DISABLE_BACKGROUND_SERVICES", "false", {
    label: "No background services",
    description:
      "Fetch nothing in the background: no model lists, leaderboard ratings, prices or OAuth tokens. Retention, backups and webhooks go on.",
    ...restart
  }),
  bool("runtime", "GATEWAY_RTK_TRUST_PROJECT_FILTERS", "false", {
    label: "Trust project filters",
    description:
      "Use the RTK filters of the folder that the gateway runs in (`.rtk/filters.json`) without their SHA-256 in the settings.",
    ...caution
  }),
  bool("runtime", "GATEWAY_ENABLE_LIVE_WS", "true", {
    label: "Live WebSocket",
    description: "Start the WebSocket server of the live feed, on a port of its own.",
    ...restart
  }),
  bool("runtime", "GATEWAY_UPSTREAM_WS_ENABLED", "true", {
    label: "Upstream WebSocket",
    description: "Let clients use the responses wire over WebSocket. When off, they use HTTP."
  }),
  bool("runtime", "GATEWAY_EMERGENCY_FALLBACK", "true", {
    label: "Emergency fallback",
    description: "Send a request that failed for lack of credits to a free model."
  }),
  bool("runtime", "MODEL_CATALOG_INCLUDE_NAMES", "true", {
    label: "Names in the model list",
    description: "Show display names in the model list."
  }),
  bool("runtime", "LEADERBOARD_ELO_SYNC_ENABLED", "true", {
    label: "Leaderboard sync",
    description:
      "Use the ratings at the setting `leaderboardUrl` for automatic routing; without that address nothing is fetched."
  }),
  bool("runtime", "STREAM_RECOVERY_ENABLED", "false", {
    label: "Stream recovery",
    description: "Hold back the beginning of a stream for a moment, so that another target can take over if it dies."
  }),
  bool("runtime", "STREAM_RECOVERY_MIDSTREAM_ENABLED", "false", {
    label: "Mid-stream recovery",
    description: "Try to continue a stream that died after content was sent.",
    ...caution
  }),
  choice("runtime", "MODELS_CATALOG_PREFIX_MODE", ["dual", "alias", "canonical"], "canonical", {
    label: "Model id prefixes",
    description: "Prefixes in the model list: canonical provider ids, their aliases, or both."
  }),
  bool("cli", "CLI_COMPAT_ALL", "false", {
    label: "Coding tools' own headers",
    description:
      "Hand the headers in which a coding tool speaks of itself on to its own provider: Claude Code's to Anthropic, Codex's to OpenAI and so on. Nothing is made up for another client (`docs/routing.md`).",
    ...restart
  }),
  bool("cli", "MODEL_ALIAS_COMPAT_ENABLED", "false", {
    label: "Model alias compatibility",
    description:
      "Ask the successor of a model that is not served under its old or dated name; the answer names it in `X-Gateway-Mapped` (`docs/routing.md`)."
  }),
  bool("cli", "PRICING_SYNC_ENABLED", "false", {
    label: "Pricing sync",
    description:
      "Fetch the prices at the setting `pricingUrl` daily. The environment variable of the same name must be on, too."
  }),
  bool("health", "GATEWAY_DISABLE_LOCAL_HEALTHCHECK", "false", {
    label: "No local health check",
    description:
      "Do not ask servers on this machine and in its network for their models in the background, neither daily nor while they are down."
  }),
  bool("health", "GATEWAY_DISABLE_TOKEN_HEALTHCHECK", "false", {
    label: "No token health check",
    description: "Do not renew OAuth tokens in the background, only when a request needs one."
  }),
  bool("health", "SKILLS_SANDBOX_NETWORK_ENABLED", "false", {
    label: "Network in the skills sandbox",
    description:
      "Let code blocks of skills that `gateway_skills_execute` runs ask addresses of the internet (`docs/skills.md`).",
    ...caution
  })
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
