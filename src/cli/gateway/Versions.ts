/**
 * Versions of what a command has read of a gateway. A change of what it has read before, or of the version that a person names by `--if-match`, is
 * sent under the condition that it is still that one; so the second of two editors is told, with both versions.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { harmlessJson } from "../../kernel/text/TerminalText.ts"
import { CommandFailed } from "../Failure.ts"

/** The flag that names the version a change is of. */
export const ifMatch = Options.text("if-match").pipe(
  Options.withDescription("Change it only if it is still this version, as 'show' prints it."),
  Options.optional
)

/** A gateway, as long as one command asks it. */
interface VersionedTarget {
  readonly url: string
  readonly ifMatch?: string
}

interface SeenVersion {
  readonly tag: string
  readonly text: () => string
}

interface KnownVersions {
  /** Versions by the path of their object. */
  readonly seen: Map<string, SeenVersion>
  latest: SeenVersion | null
  /** Body of the last change, and what the command had read of its object. */
  sent: unknown
  base: SeenVersion | null
}

const knownOf = new WeakMap<VersionedTarget, KnownVersions>()

const known = (to: VersionedTarget): KnownVersions => {
  const before = knownOf.get(to)
  if (before !== undefined) return before
  const made: KnownVersions = { seen: new Map(), latest: null, sent: undefined, base: null }
  knownOf.set(to, made)
  return made
}

const changing: ReadonlySet<string> = new Set(["PUT", "PATCH", "DELETE"])

/** A page or a selection of a list is another version than the whole. */
const hasQuery = ({ url, urlParams }: HttpClientRequest.HttpClientRequest): boolean =>
  url.includes("?") || urlParams.length > 0

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The path without its query: the object that a request is about. The client of a group puts the address before it later. */
const pathOf = (to: VersionedTarget, { url }: HttpClientRequest.HttpClientRequest): string =>
  (url.startsWith(to.url) ? url.slice(to.url.length) : url).replace(/\?.*$/s, "")

const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest): unknown =>
  body._tag === "Uint8Array" ? parsed(Buffer.from(body.body).toString("utf8")) : undefined

/** Tags may be typed without their quotes, which shells take away. */
const quoted = (tag: string): string => (tag === "*" || tag.includes('"') ? tag : `"${tag}"`)

const conditioned =
  (to: VersionedTarget) =>
  (request: HttpClientRequest.HttpClientRequest): HttpClientRequest.HttpClientRequest => {
    if (!changing.has(request.method)) return request
    const facts = known(to)
    facts.sent = bodyOf(request)
    facts.base = facts.seen.get(pathOf(to, request)) ?? null
    // What is removed is removed as a whole, whatever it has become; unless a person says otherwise.
    const read = request.method === "DELETE" ? undefined : facts.seen.get(pathOf(to, request))?.tag
    const tag = to.ifMatch === undefined ? read : quoted(to.ifMatch)
    return tag === undefined ? request : HttpClientRequest.setHeader(request, "If-Match", tag)
  }

/** Notes the version of an answer, where it is one of the management's. Gives the answer, which can be read as before. */
const noted = Effect.fnUntraced(function* (to: VersionedTarget, response: HttpClientResponse.HttpClientResponse) {
  const { request, status } = response
  const facts = known(to)
  // What else changed with it is not known.
  if (changing.has(request.method) && status < 300) facts.seen.clear()
  const { etag } = response.headers
  const path = pathOf(to, request)
  if (request.method !== "GET" || status !== 200 || etag === undefined || !path.startsWith("/api/")) return response
  if (hasQuery(request)) return response
  const bytes = yield* response.arrayBuffer
  facts.latest = { tag: etag, text: () => Buffer.from(bytes).toString("utf8") }
  facts.seen.set(path, facts.latest)
  return HttpClientResponse.fromWeb(request, new Response(bytes, { status, headers: response.headers }))
})

/** The client, with the conditions of changes. */
export const withVersions =
  (to: VersionedTarget) =>
  (client: HttpClient.HttpClient): HttpClient.HttpClient =>
    client.pipe(
      HttpClient.mapRequest(conditioned(to)),
      HttpClient.transformResponse(Effect.flatMap((response) => noted(to, response)))
    )

/** The version of the object that was read last; undefined: it has none. */
export const latestVersion = (to: VersionedTarget): string | undefined => knownOf.get(to)?.latest?.tag

/** The one object that an answer wraps, such as `{combo: {…}}`, else the answer. */
const unwrapped = (answer: unknown): Readonly<Record<string, unknown>> => {
  if (!Predicate.isRecord(answer)) return {}
  const [only, ...others] = Object.values(answer)
  return others.length === 0 && Predicate.isRecord(only) ? only : answer
}

/** The body of a change, with the object of settings that it wraps. */
const wanted = (sent: unknown): Readonly<Record<string, unknown>> => (Predicate.isRecord(sent) ? sent : {})

const longest = 300

const text = (value: unknown): string => {
  const written = value === undefined ? "-" : harmlessJson(value)
  return written.length > longest ? `${written.slice(0, longest)}…` : written
}

/** Lists what the other has changed, and what this change would have made of it. */
const linesOf = (before: unknown, now: unknown, sent: unknown): ReadonlyArray<string> => {
  const current = unwrapped(now)
  const own = wanted(sent)
  const old = before === undefined ? null : unwrapped(before)
  const isOther = (name: string): boolean => old !== null && text(old[name]) !== text(current[name])
  const names = [...new Set([...Object.keys(current), ...Object.keys(own)])].filter(
    (name) => Object.hasOwn(own, name) || (isOther(name) && name !== "updatedAt")
  )
  return names.map((name) => {
    const was = isOther(name) ? ` (was ${text(old?.[name])})` : ""
    const yours = Object.hasOwn(own, name) ? `, yours ${text(own[name])}` : ""
    return `  ${name}: now ${text(current[name])}${was}${yours}`
  })
}

/** Tells the second editor, with both versions. `current`: the object as it is. */
export const changedMeanwhile = (to: VersionedTarget, current: unknown): CommandFailed => {
  const facts = known(to)
  const seen = to.ifMatch === undefined && facts.base !== null ? parsed(facts.base.text()) : undefined
  const lines = linesOf(seen, current, facts.sent)
  return new CommandFailed({
    message: ["It was changed by another since it was read; nothing of yours was saved.", ...lines].join("\n"),
    hint: "Look at it as it is now, and run the command again if yours still holds."
  })
}
