/** One call of the management API, typed by the contract. Nothing of the contract is in the page: its types are, while the page is checked. */
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type * as Redacted from "effect/Redacted"
import { ApiError, readError } from "./ApiError.ts"
import { learnClock } from "./clock.ts"
import { csrfToken, ended, opened } from "./session.ts"

type Endpoint<Group, Name extends string> = Extract<HttpApiGroup.HttpApiGroup.Endpoints<Group>, { readonly name: Name }>

/** A value of a schema as JSON has it: secrets are text there. */
export type Json<A> =
  A extends Redacted.Redacted<infer Secret>
    ? Json<Secret>
    : A extends ReadonlyArray<infer Item>
      ? ReadonlyArray<Json<Item>>
      : A extends (...args: never) => unknown
        ? never
        : A extends object
          ? { readonly [Key in keyof A]: Json<A[Key]> }
          : A

type Given<A> = [A] extends [never] ? unknown : Json<A>

/** Parameters of a call: members of the path by name, of the query, and the body. */
export interface Asked<Path, Query, Body> {
  readonly path?: Given<Path>
  readonly query?: Partial<Record<keyof Given<Query> & string, string | number | boolean | undefined>>
  readonly body?: Given<Body>
  readonly signal?: AbortSignal
  /** `ETag` of the version that was edited; the answer is 412 when it has changed since. */
  readonly ifMatch?: string | undefined
}

/** Parameters of one call. */
export type CalledWith<Group, Name extends string> = Asked<
  HttpApiEndpoint.HttpApiEndpoint.PathParsed<Endpoint<Group, Name>>,
  HttpApiEndpoint.HttpApiEndpoint.UrlParams<Endpoint<Group, Name>>,
  HttpApiEndpoint.HttpApiEndpoint.Payload<Endpoint<Group, Name>>
>

/** An answer with the entity tag of the version that it shows; null: it has none. */
export interface Versioned<A> {
  readonly answer: A
  readonly tag: string | null
}

export interface Call<Group, Name extends string> {
  (asked?: CalledWith<Group, Name>): Promise<Answer<Group, Name>>
  /** The same, with the version that was answered. */
  readonly versioned: (asked?: CalledWith<Group, Name>) => Promise<Versioned<Answer<Group, Name>>>
  readonly method: string
  /** With `:name` for a member of the path. */
  readonly path: string
}

/** The answer of an operation, as JSON has it. */
export type Answer<Group, Name extends string> = Json<HttpApiEndpoint.HttpApiEndpoint.Success<Endpoint<Group, Name>>>

/** The answer of a call of `calls.generated.ts`. */
export type AnswerOf<Called> = Called extends (...args: never) => Promise<infer A> ? A : never

/** Parameters of any call. */
export interface Anything {
  readonly path?: unknown
  readonly query?: unknown
  readonly body?: unknown
  readonly signal?: AbortSignal
  readonly ifMatch?: string | undefined
}

/** The gateway's address as this page was loaded from it: a proxy may serve it below a path of its own. */
export const gatewayUrl = new URL("../../", import.meta.url).href

const filled = (path: string, parts: unknown): string =>
  path.replaceAll(/:(\w+)/g, (_all, name: string) =>
    encodeURIComponent(String((parts as Record<string, unknown> | undefined)?.[name] ?? ""))
  )

/** The address of a call, relative to the gateway's. */
export const addressOf = (path: string, { path: parts, query }: Anything = {}): string => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries((query ?? {}) as Record<string, unknown>)) {
    if (value !== undefined && value !== "") search.set(name, String(value))
  }
  const rest = search.toString()
  return `${filled(path, parts).slice(1)}${rest === "" ? "" : `?${rest}`}`
}

/** Learns the token of the session that the browser has now: a login in another tab has begun another one. */
export const renewToken = async (): Promise<boolean> => {
  const response = await fetch(new URL("api/auth/session", gatewayUrl)).catch(() => null)
  const state = response?.ok === true ? ((await response.json()) as { readonly csrfToken: string | null }) : null
  if (state === null || state.csrfToken === null) return false
  opened(state.csrfToken)
  return true
}

/** Tags of what was answered last, by its address. */
const lastTags = new Map<string, string>()
const mostTags = 500

const rememberTag = (address: string, tag: string | null): void => {
  lastTags.delete(address)
  if (tag === null) return
  lastTags.set(address, tag)
  const [first = ""] = lastTags.size > mostTags ? lastTags.keys() : []
  lastTags.delete(first)
}

/** Version of what a call has answered last; undefined: it has not been asked, or has none. */
export const tagOf = (call: { readonly path: string }, asked: Anything = {}): string | undefined =>
  lastTags.get(addressOf(call.path, asked))

interface Sent {
  /** Type of the answer, where it is not JSON. */
  readonly accept?: string
  /** Sent once more, with a new token. */
  readonly isAgain?: boolean
}

/** Sends a call; an answer that is an error is thrown. */
export const request = async (method: string, path: string, asked: Anything, sent: Sent = {}): Promise<Response> => {
  const headers = new Headers(sent.accept === undefined ? {} : { Accept: sent.accept })
  if (asked.body !== undefined) headers.set("Content-Type", "application/json")
  if (asked.ifMatch !== undefined) headers.set("If-Match", asked.ifMatch)
  if (method !== "GET" && csrfToken.value !== null) headers.set("X-CSRF-Token", csrfToken.value)
  const response = await fetch(new URL(addressOf(path, asked), gatewayUrl), {
    method,
    headers,
    body: asked.body === undefined ? null : JSON.stringify(asked.body),
    signal: asked.signal ?? null
  }).catch((error: unknown) => {
    throw asked.signal?.aborted === true ? error : ApiError.unreachable()
  })
  learnClock(Date.parse(response.headers.get("date") ?? ""))
  if (!response.ok) {
    const error = await readError(response)
    if (error.code === "csrf_token_invalid" && sent.isAgain !== true && (await renewToken())) {
      return await request(method, path, asked, { ...sent, isAgain: true })
    }
    if (response.status === 401) ended()
    throw error
  }
  if (method === "GET") rememberTag(addressOf(path, asked), response.headers.get("etag"))
  return response
}

const read = async (response: Response): Promise<unknown> =>
  response.status === 204 ? undefined : await response.json()

export const call = <Group, Name extends string>(method: string, path: string): Call<Group, Name> =>
  Object.assign(async (asked: Anything = {}) => read(await request(method, path, asked)), {
    method,
    path,
    versioned: async (asked: Anything = {}): Promise<Versioned<unknown>> => {
      const response = await request(method, path, asked)
      return { answer: await read(response), tag: response.headers.get("etag") }
    }
  }) as unknown as Call<Group, Name>
