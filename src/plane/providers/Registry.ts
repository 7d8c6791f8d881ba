/**
 * The provider registry: look-ups over the data in `registry/`, and provider nodes turned into the same shape (`/api/provider-nodes`).
 */
import type { SecretHeaders } from "../../subjects/connections/entity.ts"
import { type Dialect, plainDialect } from "../../contract/domain/Dialect.ts"
import type { ProviderAuth, ProviderCategory, ProviderSpec } from "../../contract/domain/Provider.ts"
import type { MediaPaths, MediaService, MediaServices } from "../../contract/domain/MediaKind.ts"
import type { ProviderNode, ProviderNodeType } from "../../subjects/nodes/entity.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import { googleKey, messagesVersion, optionalBearer, xApiKey } from "./registry/Entry.ts"
import { allProviders } from "./registry/index.ts"

/** Every provider by its id, in display order. */
export const registry: ReadonlyMap<string, ProviderSpec> = new Map(allProviders.map((spec) => [spec.id, spec]))

/** Every provider by its aliases; ids are not repeated here. */
export const byAlias: ReadonlyMap<string, ProviderSpec> = new Map(
  allProviders.flatMap((spec) => spec.aliases.map((alias) => [alias, spec] as const))
)

/** The provider of an id or alias, in any case; null when there is none. */
export const find = (idOrAlias: string): ProviderSpec | null => {
  const key = idOrAlias.toLowerCase()
  return registry.get(key) ?? byAlias.get(key) ?? null
}

/** Providers whose id, name or an alias contains `term` (any case; empty matches all), of one category when given. */
export const search = (term: string, category: ProviderCategory | null = null): ReadonlyArray<ProviderSpec> => {
  const search = term.trim().toLowerCase()
  return allProviders.filter(
    (spec) =>
      (category === null || spec.category === category) &&
      [spec.id, spec.name, ...spec.aliases].some((word) => word.toLowerCase().includes(search))
  )
}

const hostOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).hostname : null)

/**
 * Dialects by host: a node at a known provider's address is that provider's. Hosts of the operator's own machine do not
 * count.
 */
const dialectsByHost: ReadonlyMap<string, Dialect> = new Map(
  allProviders.flatMap((spec) => {
    const host = spec.class === "local" || spec.baseUrl.includes("{") ? null : hostOf(spec.baseUrl)
    return host === null ? [] : [[host, spec.dialect] as const]
  })
)

const dialectOfHost = (baseUrl: string): Dialect => dialectsByHost.get(hostOf(baseUrl) ?? "") ?? plainDialect

interface NodeShape {
  readonly wire: WireName
  readonly auth: ProviderAuth
  readonly modelsPath: string
}

// A key is optional for every type: many servers an operator adds run without one.
const nodeShapes: Readonly<Record<ProviderNodeType, NodeShape>> = {
  "openai-compatible": { wire: "chat", auth: optionalBearer, modelsPath: "/models" },
  "claude-code-compatible": { wire: "messages", auth: { ...xApiKey, type: "optional" }, modelsPath: "/models" },
  "anthropic-compatible": { wire: "messages", auth: { ...xApiKey, type: "optional" }, modelsPath: "/models" },
  "gemini-compatible": { wire: "gemini", auth: { ...googleKey, type: "optional" }, modelsPath: "/models" },
  "ollama-compatible": { wire: "ollama", auth: optionalBearer, modelsPath: "/api/tags" }
}

/** Checks whether a path is one of the wire's own routes; any other one that an operator names is in OpenAI's form. */
const isOwnRoute = (wire: WireName, path: string): boolean => {
  switch (wire) {
    case "chat":
    case "responses":
      return true
    case "gemini":
      return path.includes(":")
    case "ollama":
      return path.startsWith("/api/")
    case "messages":
      return false
  }
}

const mediaOf = (paths: MediaPaths | null, wire: WireName): MediaServices =>
  Object.fromEntries(
    Object.entries(paths ?? {}).map(([kind, path]): [string, MediaService] => {
      const service: MediaService = { adapter: null, baseUrl: null, path }
      return [kind, isOwnRoute(wire, path) ? service : { ...service, wire: "chat" }]
    })
  )

/** A provider node as a spec: `prefix` is the id, `chatPath` replaces the path of the type's own wire. */
export const fromNode = (node: ProviderNode): ProviderSpec => {
  const { auth, modelsPath, wire } = nodeShapes[node.type]
  const isForClaudeCode = node.type === "claude-code-compatible"
  // Its own wire is the only one that such a client's requests can go through in untouched.
  const [first, ...others] = isForClaudeCode ? [wire] : (node.wires ?? [])
  const wires: ProviderSpec["wires"] = first === undefined ? [wire] : [first, ...others]
  const isLocal = node.type === "ollama-compatible"
  return {
    id: node.prefix,
    name: node.name,
    aliases: [],
    category: isLocal ? "local" : "inference",
    class: isLocal ? "local" : "apikey",
    baseUrl: node.baseUrl.replace(/\/+$/, ""),
    wires,
    paths:
      node.chatPath === null ? (isForClaudeCode ? { messages: "/messages?beta=true" } : {}) : { [wire]: node.chatPath },
    auth,
    modelsPath: node.modelsPath ?? modelsPath,
    ...(isForClaudeCode ? { onlyFor: "claude-code" } : {}),
    headers: wires.includes("messages") ? messagesVersion : {},
    ownHeaders: lowerCaseNames(node.headers ?? {}),
    env: [],
    models: [],
    docsUrl: null,
    keyUrl: null,
    keyHint: null,
    // Whether the server has it is known when it is asked.
    ...(node.type === "openai-compatible" ? { batches: "openai" } : {}),
    keepsResponses: false,
    openAiTools: false,
    systemBetween: false,
    media: mediaOf(node.mediaPaths, wires[0]),
    dialect: dialectOfHost(node.baseUrl),
    oauth: null
  }
}

const lowerCaseNames = (headers: SecretHeaders): SecretHeaders =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
