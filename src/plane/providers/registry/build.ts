/**
 * Builders that keep a registry entry on one line: everything that is the same for most providers is filled in here.
 */
import { dialectOf } from "./dialects.ts"
import type { OAuthEndpoint, ProviderAuth, ProviderCategory, ProviderSpec } from "../../../domain/Provider.ts"

export const bearer: ProviderAuth = { type: "apikey", header: "authorization", prefix: "Bearer " }
/** The access token of a signed-in account. */
export const session: ProviderAuth = { ...bearer, type: "oauth" }
export const optionalBearer: ProviderAuth = { ...bearer, type: "optional" }
export const xApiKey: ProviderAuth = { type: "apikey", header: "x-api-key", prefix: "" }
export const googleKey: ProviderAuth = { type: "apikey", header: "x-goog-api-key", prefix: "" }
export const azureKey: ProviderAuth = { type: "apikey", header: "api-key", prefix: "" }

/** The messages wire is versioned by a header; servers that do not know it ignore it. */
export const messagesVersion: Readonly<Record<string, string>> = { "anthropic-version": "2023-06-01" }

const jsonTokens = (tokenUrl: string): OAuthEndpoint => ({
  tokenUrl,
  clientId: null,
  style: "json",
  clientAuth: "body"
})
const formTokens = (tokenUrl: string): OAuthEndpoint => ({
  tokenUrl,
  clientId: null,
  style: "form",
  clientAuth: "body"
})

export const anthropicTokens = jsonTokens("https://console.anthropic.com/v1/oauth/token")
export const githubTokens = formTokens("https://github.com/login/oauth/access_token")
export const googleTokens = formTokens("https://oauth2.googleapis.com/token")
export const openAiTokens = jsonTokens("https://auth.openai.com/oauth/token")

type Details = Partial<Omit<ProviderSpec, "id" | "name" | "baseUrl" | "category">>
type Entry = (id: string, name: string, baseUrl: string, details?: Details) => ProviderSpec

const entry =
  (category: ProviderCategory, usual: Details): Entry =>
  (id, name, baseUrl, details = {}) => ({
    aliases: [],
    class: "apikey",
    wires: ["chat"],
    paths: {},
    auth: bearer,
    modelsPath: "/models",
    headers: {},
    ownHeaders: {},
    env: [],
    models: [],
    docsUrl: null,
    keepsResponses: false,
    openAiTools: false,
    systemBetween: false,
    media: {},
    dialect: dialectOf(id),
    oauth: null,
    ...usual,
    ...details,
    id,
    name,
    baseUrl,
    category
  })

/** Entries that speak the chat wire with a bearer key unless they say otherwise. */
export const chatIn = (category: ProviderCategory): Entry => entry(category, {})

/** Entries that speak the messages wire. */
export const messagesIn = (category: ProviderCategory): Entry =>
  entry(category, { wires: ["messages"], auth: xApiKey, headers: messagesVersion })

/** Entries that speak the generative-language wire. */
export const geminiIn = (category: ProviderCategory): Entry => entry(category, { wires: ["gemini"], auth: googleKey })

/** Entries for searches of the web, with a bearer key unless they say otherwise. */
export const searchIn: Entry = entry("search", { modelsPath: null })

/** Servers on the operator's own machine: no key needed, one passed on when it is set. */
export const local: Entry = entry("local", { class: "local", auth: optionalBearer })
