/** Prepares a recorded request to be sent to its own server once more. Pure. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { TrafficRecord } from "../../contract/domain/TrafficRecord.ts"
import type { UpstreamRequest } from "../../net/egress/Call.ts"
import { headerProblem, isReservedHeader } from "../../plane/providers/EndpointHeaders.ts"
import { isObject } from "../../wire/json/Json.ts"
import { readForeignJson } from "../../wire/json/Bounds.ts"
import { BodyTruncated } from "./Replay.ts"

/** The reason for which a request cannot be sent to its own server. */
export class DirectNotPossible extends Data.TaggedError("DirectNotPossible")<{
  readonly reason: "gateway" | "scheme" | "method" | "address" | "binary" | "model"
}> {}

/** A masked credential is not usable, and no other was given. */
export class CredentialNeeded extends Data.TaggedError("CredentialNeeded")<{
  /** Names of headers; those of the query begin with `?`. */
  readonly names: ReadonlyArray<string>
}> {}

export type DirectRefusal = DirectNotPossible | CredentialNeeded | BodyTruncated

export interface DirectChanges {
  /** Body in place of the recorded one. */
  readonly body?: string
  readonly model?: string
  /** Path with its query. */
  readonly path?: string
  /** Headers in place of the recorded ones; an empty value leaves the header out. Credentials among them are sent. */
  readonly headers?: Readonly<Record<string, Redacted.Redacted>>
  /** Connection whose credential is sent; absent: one with this address, where a credential is missing. */
  readonly connectionId?: string
}

export interface DirectRequest {
  readonly method: UpstreamRequest["method"]
  readonly origin: string
  readonly path: string
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string | null
  /** Credentials that the caller gave; they must not come back in the answer. */
  readonly given: ReadonlyArray<Redacted.Redacted>
  /** Names of masked values that are left out. */
  readonly missing: ReadonlyArray<string>
  /** The same where no connection has the address; fails where something is missing. */
  readonly withoutCredential: Effect.Effect<DirectRequest, CredentialNeeded>
}

const methods: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"])
const isMethod = (method: string): method is UpstreamRequest["method"] => methods.has(method)

const mask = "***"

const isOwnOfTransport = (name: string): boolean =>
  name.startsWith(":") || (isReservedHeader(name) && name !== "content-type")

/** The path without masked parameters, and their names. */
const unmaskedPath = (path: string): { readonly path: string; readonly missing: ReadonlyArray<string> } => {
  const mark = path.indexOf("?")
  if (mark < 0) return { path, missing: [] }
  const missing: Array<string> = []
  const kept = path
    .slice(mark + 1)
    .split("&")
    .filter((pair) => {
      if (!pair.includes(mask) && !/%2a%2a%2a/i.test(pair)) return true
      missing.push(`?${pair.split("=", 1)[0] ?? ""}`)
      return false
    })
  return { path: path.slice(0, mark) + (kept.length === 0 ? "" : `?${kept.join("&")}`), missing }
}

const modelInPath = /\/models\/[^/:?]+(?=:)/

/** Body and path that ask another model. */
const withModel = (
  model: string | undefined,
  path: string,
  body: string | null
): { readonly path: string; readonly body: string | null } | DirectNotPossible => {
  if (model === undefined) return { path, body }
  if (modelInPath.test(path))
    return { path: path.replace(modelInPath, () => `/models/${encodeURIComponent(model)}`), body }
  const parsed = body === null ? null : readForeignJson(body)
  return isObject(parsed)
    ? { path, body: JSON.stringify({ ...parsed, model }) }
    : new DirectNotPossible({ reason: "model" })
}

const originOf = ({ host, scheme }: TrafficRecord): string | null => {
  const text = `${scheme}://${host}`
  if (!URL.canParse(text)) return null
  const { hash, origin, password, pathname, search, username } = new URL(text)
  return pathname === "/" && `${search}${hash}${username}${password}` === "" ? origin : null
}

const headersOf = (record: TrafficRecord, changes: DirectChanges) => {
  const headers = new Map<string, string>()
  const missing = new Set<string>()
  for (const [name, value] of Object.entries(record.requestHeaders)) {
    if (isOwnOfTransport(name) || headerProblem(name, value) !== null) continue
    if (value.includes(mask)) missing.add(name)
    else headers.set(name, value)
  }
  for (const [given, redacted] of Object.entries(changes.headers ?? {})) {
    const name = given.toLowerCase()
    const value = Redacted.value(redacted)
    if (isOwnOfTransport(name) || headerProblem(name, value) !== null) continue
    missing.delete(name)
    if (value === "") headers.delete(name)
    else headers.set(name, value)
  }
  return { headers, missing: [...missing] }
}

export const directRequest = (
  record: TrafficRecord,
  changes: DirectChanges
): Effect.Effect<DirectRequest, DirectNotPossible | BodyTruncated> =>
  Effect.suspend((): Effect.Effect<DirectRequest, DirectNotPossible | BodyTruncated> => {
    const { method, scheme, source } = record
    const refuse = (reason: DirectNotPossible["reason"]) => new DirectNotPossible({ reason })
    // Its own server is this gateway.
    if (source === "gateway") return refuse("gateway")
    if (scheme !== "http" && scheme !== "https") return refuse("scheme")
    const upper = method.toUpperCase()
    if (!isMethod(upper)) return refuse("method")
    const origin = originOf(record)
    if (origin === null || !record.path.startsWith("/")) return refuse("address")
    if (changes.body === undefined) {
      if (record.requestTruncated || (record.requestSize > 0 && record.requestBody === null)) {
        return new BodyTruncated({ id: record.id })
      }
      if (record.requestEncoding === "base64" && record.requestBody !== null) return refuse("binary")
    }
    const { missing: missingInPath, path: kept } = unmaskedPath(record.path)
    const asked = withModel(changes.model, changes.path ?? kept, changes.body ?? record.requestBody)
    if (asked instanceof DirectNotPossible) return asked
    const { headers, missing: missingHeaders } = headersOf(record, changes)
    const missing = [...missingHeaders, ...(changes.path === undefined ? missingInPath : [])]
    const request: DirectRequest = {
      method: upper,
      origin,
      headers,
      given: Object.values(changes.headers ?? {}),
      missing,
      ...asked,
      body: upper === "GET" || upper === "HEAD" ? null : asked.body,
      withoutCredential: Effect.suspend(() =>
        missing.length === 0 ? Effect.succeed(request) : new CredentialNeeded({ names: missing })
      )
    }
    return Effect.succeed(request)
  })
