/**
 * Facts of one provider in the registry, as plain data. The registry holds no secrets; the only ones of a spec are the
 * headers an operator gave a node.
 */
import type { SecretHeaders } from "../../subjects/connections/entity.ts"
import type { Dialect } from "./Dialect.ts"
import type { MediaServices } from "./MediaKind.ts"
import type { WireName } from "./Wire.ts"

/** Characters of a model's name, in every column and record. No provider has longer ones. */
export const maxModelChars = 512

/** Resilience profile: decides breaker thresholds, cooldown base and which 403s are final. */
export type ProviderClass = "oauth" | "apikey" | "local"

export const providerCategories = [
  "frontier",
  "gateway",
  "inference",
  "regional",
  "enterprise",
  "free",
  "oauth",
  "search",
  "local"
] as const
export type ProviderCategory = (typeof providerCategories)[number]

export interface ProviderAuth {
  readonly type: "apikey" | "oauth" | "none" | "optional"
  /** Lower-case request header that carries the credential. */
  readonly header: string
  /** Text before the credential inside the header, with its trailing space: `"Bearer "` or `""`. */
  readonly prefix: string
}

/**
 * Endpoint where access tokens are renewed (RFC 6749 §6). Fixed per provider: no caller names a host that receives
 * refresh tokens.
 */
export interface OAuthEndpoint {
  readonly tokenUrl: string
  /** The client that tokens are issued to, where the account names none; null when every account has its own. */
  readonly clientId: string | null
  /** Form of the request's body. */
  readonly style: "form" | "json"
  /** Place of the client secret (RFC 6749 §2.3.1). */
  readonly clientAuth: "basic" | "body"
}

export interface ProviderSpec {
  readonly id: string
  readonly name: string
  readonly aliases: ReadonlyArray<string>
  readonly category: ProviderCategory
  readonly class: ProviderClass
  /** Base that paths are appended to, without a trailing slash; may hold `{placeholders}` the connection's own baseUrl must fill. */
  readonly baseUrl: string
  /** Wires this provider speaks, preferred first. Never empty. */
  readonly wires: readonly [WireName, ...ReadonlyArray<WireName>]
  /** Path per wire where it differs from the wire's usual one (see `plane/providers/Endpoints.ts`). */
  readonly paths: Partial<Record<WireName, string>>
  readonly auth: ProviderAuth
  /** Path below `baseUrl` or an absolute URL; null when the provider lists nothing. */
  readonly modelsPath: string | null
  /** True when its models make pictures, and nothing else. */
  readonly paintsOnly?: true
  /** Name of the only client whose own requests it takes; absent: any. */
  readonly onlyFor?: "claude-code"
  /** Fixed headers the provider asks for, lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** Headers the operator of a node adds, lower-case names. Secret ones go to `baseUrl` only, never to another address of a connection. */
  readonly ownHeaders: SecretHeaders
  /** Well-known environment variables that hold a key for it, first match wins. */
  readonly env: ReadonlyArray<string>
  /** Models known without asking. Only where `modelsPath` is null or as a default for `auto`. */
  readonly models: ReadonlyArray<string>
  readonly docsUrl: string | null
  /** Page of the provider where keys are made; null: not known. */
  readonly keyUrl: string | null
  /** Beginning of its keys, such as `sk-…`; null: they have none, or it is not known. */
  readonly keyHint: string | null
  /** True when it stores the answers of its responses wire and finds them by id. */
  readonly keepsResponses: boolean
  /** True when its chat wire supports OpenAI's own kinds of tools: custom (free-form) tools and `allowed_tools`. */
  readonly openAiTools: boolean
  /** True when its messages wire accepts system messages between turns, for the models that support them. */
  readonly systemBetween: boolean
  /** Endpoints for other kinds of requests, where they are not those of its wires. */
  readonly media: MediaServices
  /** Deviations from the wires it speaks. */
  readonly dialect: Dialect
  /** The form of its own interface for batches, below the same base as its chat wire; absent: none is known. */
  readonly batches?: "openai"
  /** Null when its access tokens cannot be renewed here; those of a provider node are renewed where its connection says. */
  readonly oauth: OAuthEndpoint | null
}

/** Names of what a connection brings: a key, an address of its own (the provider's has placeholders), a signed-in account. */
export const connectionNeeds = ["apiKey", "baseUrl", "signIn"] as const
export type ConnectionNeed = (typeof connectionNeeds)[number]

/** Names what a connection of a provider cannot do without; empty: nothing. */
export const needsOf = ({ auth, baseUrl }: Pick<ProviderSpec, "auth" | "baseUrl">): ReadonlyArray<ConnectionNeed> => [
  ...(auth.type === "apikey" ? (["apiKey"] as const) : []),
  ...(auth.type === "oauth" ? (["signIn"] as const) : []),
  ...(baseUrl.includes("{") ? (["baseUrl"] as const) : [])
]

/** Checks whether a provider has searches of the web and no models. */
export const isForSearchesOnly = ({
  media,
  models,
  modelsPath
}: Pick<ProviderSpec, "media" | "models" | "modelsPath">): boolean =>
  media.search !== undefined && modelsPath === null && models.length === 0

/** Checks whether a provider makes pictures, and holds no conversations. */
export const isForPicturesOnly = ({ paintsOnly }: ProviderSpec): boolean => paintsOnly === true

/**
 * Checks whether a provider has services such as speech, pictures or embeddings, and holds no conversations: those that
 * do have a list of models.
 */
export const isForMediaOnly = ({
  media,
  modelsPath,
  paintsOnly
}: Pick<ProviderSpec, "media" | "modelsPath" | "paintsOnly">): boolean =>
  paintsOnly === true || (modelsPath === null && Object.keys(media).some((kind) => kind !== "search"))
