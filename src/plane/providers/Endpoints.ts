/**
 * Builds the address and headers of a call: registry entry + connection + wire → origin, path and headers. Pure. The
 * host comes from the registry or from the operator's configuration, never from a caller's request.
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type { Connection, SecretHeaders } from "../../subjects/connections/entity.ts"
import type { ProviderSpec } from "../../contract/domain/Provider.ts"
import type { ServiceKind } from "../../contract/domain/MediaKind.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import { isSecretHeader } from "../../kernel/text/Masking.ts"
import type { SentSecrets } from "../../kernel/secrets/SentSecrets.ts"
import { isSameAddress } from "./Address.ts"
import { headerProblem, isReservedHeader } from "./EndpointHeaders.ts"
import { endpointSecrets } from "./EndpointSecrets.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

/** The address still holds a `{placeholder}`. */
export class PlaceholderUnfilled extends Data.TaggedError("PlaceholderUnfilled")<{
  readonly provider: string
  readonly placeholder: string
}> {
  override get message() {
    return `The address of '${this.provider}' needs '${this.placeholder}': give the connection a baseUrl with it filled in.`
  }
}

export class BaseUrlInvalid extends Data.TaggedError("BaseUrlInvalid")<{
  readonly provider: string
  readonly reason: "is not a URL" | "is neither http nor https" | "holds credentials"
}> {
  override get message() {
    return `The base URL of '${this.provider}' ${asSentence(this.reason)}`
  }
}

/** The provider needs a key and the connection has none. */
export class CredentialMissing extends Data.TaggedError("CredentialMissing")<{ readonly provider: string }> {
  override get message() {
    return `'${this.provider}' needs a key and the connection has none.`
  }
}

/** A header cannot be sent. Its value is not repeated: it may be a key. */
export class HeaderInvalid extends Data.TaggedError("HeaderInvalid")<{
  readonly provider: string
  readonly header: string
  readonly reason: string
}> {
  override get message() {
    return `The header '${this.header}' for '${this.provider}' cannot be sent: ${asSentence(this.reason)}`
  }
}

/** Reason for which a connection has no endpoint; `message` is for the operator. */
export type EndpointError = PlaceholderUnfilled | BaseUrlInvalid | CredentialMissing | HeaderInvalid

/** One way to an upstream, ready for a dispatcher. Holds the credential in clear text: never log it. */
export interface UpstreamEndpoint {
  /** Scheme, host and port. */
  readonly origin: string
  /** Path and query for a model; only the generative-language wire differs when streaming. */
  readonly path: (model: string, stream: boolean) => string
  /** Returns the address for another kind of request. */
  readonly media: (
    kind: ServiceKind,
    values: Readonly<Record<string, string>>
  ) => { readonly origin: string; readonly path: string }
  /** Flat `name, value, name, value` list with lower-case names. */
  readonly headers: ReadonlyArray<string>
  /** Secrets in the headers and addresses that must not come back. */
  readonly secrets: SentSecrets
}

/** Address of the list of models. */
export type ModelsEndpoint = Pick<UpstreamEndpoint, "origin" | "headers" | "secrets"> & { readonly path: string }

/** The parts of a connection that decide where a call goes. */
export type EndpointConnection = Pick<Connection, "apiKey" | "authType" | "baseUrl" | "headers" | "oauth" | "wires">

const usualPaths: Readonly<Record<WireName, string>> = {
  chat: "/chat/completions",
  messages: "/messages",
  responses: "/responses",
  gemini: "/models/{model}:generateContent",
  ollama: "/api/chat"
}

/** The ending of a wire's usual path. */
const ownEndings: Readonly<Record<WireName, string>> = {
  chat: "/chat/completions",
  messages: "/messages",
  responses: "/responses",
  gemini: ":generateContent",
  ollama: "/api/chat"
}

/** Endings of the path for other kinds of requests, where they are not OpenAI's. */
const ownKindEndings: Partial<Record<ServiceKind, Partial<Record<WireName, string>>>> = {
  embeddings: { gemini: ":batchEmbedContents", ollama: "/api/embed" },
  images: { gemini: ":{method}" },
  imageEdits: { gemini: ":{method}" }
}

const usualEndings: Readonly<Record<ServiceKind, string>> = {
  embeddings: "/embeddings",
  rerank: "/rerank",
  moderations: "/moderations",
  speech: "/audio/speech",
  images: "/images/generations",
  search: "/search",
  transcriptions: "/audio/transcriptions",
  translations: "/audio/translations",
  videos: "/videos",
  music: "/music/generations",
  imageEdits: "/images/edits",
  imageVariations: "/images/variations"
}

/**
 * Builds the route of a kind beside a wire's own route; nothing about its neighbours follows from a route of an unusual
 * form.
 */
const mediaRoute = (kind: ServiceKind, wire: WireName, route: string): string => {
  const own = ownEndings[wire]
  const ending = ownKindEndings[kind]?.[wire] ?? usualEndings[kind]
  const mark = route.indexOf("?")
  const path = mark < 0 ? route : route.slice(0, mark)
  const known = path.endsWith(own) ? path : usualPaths[wire]
  return known.slice(0, -own.length) + ending + (mark < 0 ? "" : route.slice(mark))
}

/** `/v1`, `/v2beta` at the end of a path. */
const version = /\/v\d[^/]*$/

/**
 * Finds the base of an API of the provider that has an address of its own. At another host than the provider's it is expected below the
 * same root as the other one: the version is added where the operator's address has none.
 */
const serviceBase = (spec: ProviderSpec, connection: EndpointConnection, base: Base, service: string): Base => {
  const { origin, pathname } = new URL(service)
  const path = pathname.replace(/\/+$/, "")
  if (connection.baseUrl === null || isSameAddress(connection.baseUrl, spec.baseUrl)) return { origin, path, query: "" }
  const usual = new URL(spec.baseUrl).pathname.replace(/\/+$/, "")
  const root = usual !== "" && base.path.endsWith(usual) ? base.path.slice(0, -usual.length) : base.path
  return version.test(root) ? { ...base, path: root } : { ...base, path: root + path }
}

const mediaPlaces = (
  spec: ProviderSpec,
  connection: EndpointConnection,
  base: Base,
  wire: WireName,
  route: string
): UpstreamEndpoint["media"] => {
  const places = new Map<ServiceKind, { readonly origin: string; readonly path: string }>()
  return (kind, values) => {
    const known = places.get(kind)
    if (known !== undefined) return { ...known, path: withValues(known.path, values) }
    const service = spec.media[kind]
    const at = service?.baseUrl == null ? base : serviceBase(spec, connection, base, service.baseUrl)
    const place = { origin: at.origin, path: join(at, service?.path ?? mediaRoute(kind, wire, route)) }
    places.set(kind, place)
    return { ...place, path: withValues(place.path, values) }
  }
}

const withValues = (path: string, values: Readonly<Record<string, string>>): string =>
  path.replaceAll(/\{(\+?)(\w+)\}/g, (braces, plus: string, name: string) => {
    const value = values[name]
    if (value === undefined) return braces
    return plus === "" ? pathSegment(value) : value.split("/").map(pathSegment).join("/")
  })

/** The endpoint of one wire. */
export const endpointOf = (
  spec: ProviderSpec,
  connection: EndpointConnection,
  wire: WireName
): Either.Either<UpstreamEndpoint, EndpointError> =>
  Either.gen(function* () {
    const route = wirePath(spec, wire)
    const base = yield* baseOf(spec, connection)
    const placeholder = unfilled(route.replaceAll("{model}", ""))
    if (placeholder !== null) return yield* Either.left(new PlaceholderUnfilled({ provider: spec.id, placeholder }))
    const headers = yield* headersOf(spec, connection)
    return {
      origin: base.origin,
      path: pathOf(base, route),
      media: mediaPlaces(spec, connection, base, wire, route),
      headers,
      secrets: endpointSecrets(connection, spec.ownHeaders)
    }
  })

/** Finds the address of the list of models; null when the provider has none. */
export const modelsEndpointOf = (
  spec: ProviderSpec,
  connection: EndpointConnection
): Either.Either<ModelsEndpoint, EndpointError> | null => {
  const { modelsPath } = spec
  if (modelsPath === null) return null
  const isElsewhere = URL.canParse(modelsPath)
  // A list on a host of its own belongs to the registry's address. A key for another address must not go there.
  if (isElsewhere && connection.baseUrl !== null) return null
  return Either.gen(function* () {
    const headers = yield* headersOf(spec, connection)
    const secrets = endpointSecrets(connection, spec.ownHeaders)
    if (isElsewhere) {
      const { origin, pathname, search } = new URL(modelsPath)
      return { origin, path: pathname + search, headers, secrets }
    }
    const base = yield* baseOf(spec, connection)
    return { origin: base.origin, path: join(base, modelsPath), headers, secrets }
  })
}

/** Credential, then the provider's fixed headers, a node's own, and the connection's, as a flat list. */
const headersOf = (
  spec: ProviderSpec,
  connection: EndpointConnection
): Either.Either<ReadonlyArray<string>, EndpointError> => {
  const credential = credentialOf(spec, connection)
  // The provider's own host wants a key; a host the operator named may not.
  const needsKey = spec.auth.type === "apikey" && connection.authType !== "none" && connection.baseUrl === null
  if (credential === null && needsKey) {
    return Either.left(new CredentialMissing({ provider: spec.id }))
  }
  const headers = new Map<string, string>()
  const mayHaveSecrets = connection.baseUrl === null || isSameAddress(connection.baseUrl, spec.baseUrl)
  const ownHeaders = revealed(spec.ownHeaders).filter(([name, value]) => mayHaveSecrets || !isSecretHeader(name, value))
  for (const [name, value] of [...Object.entries(spec.headers), ...ownHeaders, ...revealed(connection.headers ?? {})]) {
    const lower = name.toLowerCase()
    if (!isReservedHeader(lower) && lower !== credential?.header) headers.set(lower, value)
  }
  const flat: Array<string> = []
  for (const [name, value] of credential === null ? headers : [[credential.header, credential.value], ...headers]) {
    const reason = headerProblem(name, value)
    if (reason !== null) return Either.left(new HeaderInvalid({ provider: spec.id, header: name, reason }))
    flat.push(name, value)
  }
  return Either.right(flat)
}

const revealed = (headers: SecretHeaders): ReadonlyArray<readonly [name: string, value: string]> =>
  Object.entries(headers).map(([name, value]) => [name, Redacted.value(value)])

interface Credential {
  readonly header: string
  readonly value: string
}

const credentialOf = (spec: ProviderSpec, connection: EndpointConnection): Credential | null => {
  if (spec.auth.type === "none" || connection.authType === "none") return null
  // Access tokens are bearer tokens whatever header the provider's own keys use.
  if (connection.authType === "oauth") {
    return connection.oauth === null
      ? null
      : { header: "authorization", value: `Bearer ${Redacted.value(connection.oauth.accessToken)}` }
  }
  return connection.apiKey === null
    ? null
    : { header: spec.auth.header, value: spec.auth.prefix + Redacted.value(connection.apiKey) }
}

interface Base {
  readonly origin: string
  /** Path without a trailing slash and without that of a wire. */
  readonly path: string
  /** Query of the base URL without its question mark. */
  readonly query: string
}

const unfilled = (text: string): string | null => /\{([^{}]*)\}/.exec(text)?.[1] ?? null

const baseOf = (spec: ProviderSpec, connection: EndpointConnection): Either.Either<Base, EndpointError> => {
  const provider = spec.id
  const text = connection.baseUrl ?? spec.baseUrl
  const placeholder = unfilled(text)
  if (placeholder !== null) return Either.left(new PlaceholderUnfilled({ provider, placeholder }))
  if (!URL.canParse(text)) return Either.left(new BaseUrlInvalid({ provider, reason: "is not a URL" }))
  const { origin, password, pathname, protocol, search, username } = new URL(text)
  if (protocol !== "http:" && protocol !== "https:") {
    return Either.left(new BaseUrlInvalid({ provider, reason: "is neither http nor https" }))
  }
  if (username !== "" || password !== "") {
    return Either.left(new BaseUrlInvalid({ provider, reason: "holds credentials" }))
  }
  const wires = connection.wires ?? spec.wires
  const path = withoutWirePath(pathname.replace(/\/+$/, ""), spec, wires)
  return Either.right({
    origin,
    path: connection.baseUrl === null ? path : withVersion(path, spec),
    query: search.slice(1)
  })
}

/** `/v1`, `/v1beta` as a segment of a path. */
const anyVersion = /\/v\d[^/]*(?=\/|$)/

/**
 * The path of a connection's own address with the version of the provider's API, where the address has none: `https://proxy.example` of
 * Groq is `/openai/v1` there, `https://proxy.example/groq` is `/groq/v1`. An API without a version in its address gets none.
 */
const withVersion = (path: string, spec: ProviderSpec): string => {
  const usual = URL.canParse(spec.baseUrl) ? new URL(spec.baseUrl).pathname.replace(/\/+$/, "") : ""
  const own = version.exec(usual)?.[0]
  return own === undefined || anyVersion.test(path) ? path : path === "" ? usual : path + own
}

export const wirePath = (spec: ProviderSpec, wire: WireName): string => {
  const path = spec.paths[wire] ?? usualPaths[wire]
  return path.startsWith("/") ? path : `/${path}`
}

/** People paste the whole address of a route as base URL: take the route off again. */
const withoutWirePath = (path: string, spec: ProviderSpec, wires: ReadonlyArray<WireName>): string => {
  for (const wire of wires) {
    const [route = ""] = wirePath(spec, wire).split(/[?{]/)
    const ending = route.replace(/\/+$/, "")
    if (ending !== "" && path.endsWith(ending)) return path.slice(0, -ending.length)
  }
  return path
}

const join = (base: Base, path: string): string => {
  const mark = path.indexOf("?")
  const route = mark < 0 ? path : path.slice(0, mark)
  const queries = [base.query, mark < 0 ? "" : path.slice(mark + 1)].filter((part) => part !== "")
  const full = base.path + (route.startsWith("/") || (route === "" && base.path !== "") ? route : `/${route}`)
  return queries.length === 0 ? full : `${full}?${queries.join("&")}`
}

const answerMethod = ":generateContent"
const streamMethod = ":streamGenerateContent"

/** A path with more of a query, which may be empty. */
export const withQuery = (path: string, query: string): string =>
  query === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${query}`

const pathOf = (base: Base, route: string): UpstreamEndpoint["path"] => {
  const answered = join(base, route)
  const streamed = route.includes(answerMethod)
    ? join({ ...base, query: withSse(base.query) }, route.replace(answerMethod, streamMethod))
    : answered
  return (model, stream) => withModel(stream ? streamed : answered, model)
}

const withModel = (path: string, model: string): string => path.replaceAll("{model}", () => pathSegment(model))

const withSse = (query: string): string => (query === "" ? "alt=sse" : `${query}&alt=sse`)

// A model named "." or ".." would walk up the path; encoded twice it stays a name.
const pathSegment = (model: string): string =>
  /^\.+$/.test(model) ? model.replaceAll(".", "%252E") : encodeURIComponent(model)
