/**
 * The client at an issuer: `openid-client` over this gateway's own outbound calls, so that the policy for addresses, the proxies and the limits hold. The
 * library is loaded by the first sign-in.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Runtime from "effect/Runtime"
import type * as library from "./Library.ts"
import type { Configuration, CustomFetchOptions, ServerMetadata } from "openid-client"
import type { RequestLimits, Upstream, UpstreamRequest } from "../../net/egress/Upstream.ts"
import { noSecrets, sentSecrets } from "../../kernel/secrets/SentSecrets.ts"
import type { Issuer } from "./entity.ts"

/** Error of an issuer that did not answer, or answered wrongly. `message` is a sentence without secrets. */
export class IssuerFailed extends Data.TaggedError("IssuerFailed")<{
  readonly reason: "unreachable" | "refused" | "invalid"
  readonly message: string
}> {}

/** An outbound call that did not come to an answer; its message is a sentence. */
class CallFailed extends Error {}

type Library = typeof library

export interface IssuerClient {
  readonly library: Library
  /** Of its own for each sign-in: no key of the issuer is kept that it may have replaced. */
  readonly configuration: Configuration
}

export const limits: RequestLimits = { timeoutMs: 10_000, maxBytes: 1_048_576 }

/** Seconds that the clocks of an issuer and of the gateway may differ. */
export const clockToleranceS = 60

const load: Effect.Effect<Library> = Effect.promise(() => import("./Library.ts"))

const methods: ReadonlySet<string> = new Set(["GET", "POST"] satisfies ReadonlyArray<UpstreamRequest["method"]>)
const withoutBody: ReadonlySet<number> = new Set([101, 204, 205, 304])

type Fetch = (url: string, options: CustomFetchOptions) => Promise<Response>

const requestOf = (text: string, options: CustomFetchOptions, secret: string | null): UpstreamRequest => {
  const url = new URL(text)
  const { body, headers, method } = options
  if (!methods.has(method)) throw new CallFailed(`The method ${method} is not for issuers.`)
  const text_ = body instanceof URLSearchParams ? body.toString() : typeof body === "string" ? body : null
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    method: method === "POST" ? "POST" : "GET",
    headers: [...Object.entries(headers), ["accept-encoding", "identity"]].flat(),
    body: text_,
    secrets: secret === null || method === "GET" ? noSecrets : sentSecrets([secret]),
    owner: null
  }
}

/** Makes `fetch` for the library of the gateway's own outbound calls. */
const fetchOver = (
  upstream: typeof Upstream.Service,
  runtime: Runtime.Runtime<never>,
  secret: string | null
): Fetch => {
  const run = Runtime.runPromise(runtime)
  return (url, options) =>
    run(
      Effect.suspend(() => upstream.controlRequest(requestOf(url, options, secret), limits)).pipe(
        Effect.map(({ body, headers, status }) => {
          const sent = Array.from(headers, ([name, value]): [string, string] => [name, value])
          return new Response(withoutBody.has(status) ? null : new Uint8Array(body), { status, headers: sent })
        }),
        Effect.catchAll((error) => {
          const { origin } = new URL(url)
          const words = error._tag === "TimedOut" ? "it did not answer in time" : error.message
          return Effect.succeed(new CallFailed(`${origin} could not be asked: ${words}`))
        })
      )
    ).then((outcome) => {
      if (outcome instanceof Error) throw outcome
      return outcome
    })
}

/** GitHub answers with 200 where a code or a client is wrong; by the standard that is 400. */
const asStandard =
  (send: Fetch): Fetch =>
  async (url, options) => {
    const response = await send(url, options)
    if (options.method !== "POST" || !response.ok) return response
    const text = await response.text()
    const { headers } = response
    return new Response(text, { status: /^\s*\{\s*"error"/.test(text) ? 400 : response.status, headers })
  }

const causes = (error: unknown): ReadonlyArray<unknown> => {
  const found: Array<unknown> = []
  for (let each: unknown = error; each !== undefined && found.length < 8;) {
    found.push(each)
    each = each instanceof Error ? each.cause : undefined
  }
  return found
}

const codeOf = (error: unknown): string => {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : ""
  return typeof code === "string" ? code : ""
}

const textIn = (error: object, name: string): string => {
  const value: unknown = (error as Readonly<Record<string, unknown>>)[name]
  // Words of others: no more than a short line of plain characters.
  return typeof value === "string" ? value.replaceAll(/[^\p{L}\p{N}\p{P}\p{Zs}]/gu, " ").slice(0, 200) : ""
}

const sentences: Readonly<Record<string, string>> = {
  OAUTH_JWT_TIMESTAMP_CHECK_FAILED:
    "The ID token counts no more, or not yet: the clocks of the issuer and of this gateway differ. Set both by NTP.",
  OAUTH_KEY_SELECTION_FAILED: "The ID token is signed by a key that the issuer does not publish.",
  OAUTH_INVALID_SIGNATURE: "The signature of the ID token is wrong.",
  OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED:
    "The discovery document is of another issuer: its 'issuer' is not the address that is configured.",
  OAUTH_RESPONSE_IS_NOT_CONFORM: "The issuer answered with an unexpected status.",
  OAUTH_RESPONSE_IS_NOT_JSON: "The issuer answered with something that is not JSON.",
  OAUTH_PARSE_ERROR: "The issuer answered with something that cannot be read.",
  OAUTH_HTTP_REQUEST_FORBIDDEN: "The issuer names an address without TLS."
}

const claimOf = (error: unknown): string => {
  const cause = error instanceof Error ? error.cause : undefined
  return typeof cause === "object" && cause !== null && "claim" in cause && typeof cause.claim === "string"
    ? cause.claim
    : ""
}

const comparison = (all: ReadonlyArray<unknown>): string => {
  const claim = all.map(claimOf).find((each) => each !== "") ?? "?"
  return claim === "aud"
    ? "The ID token is for another client (aud): check the id of the client."
    : `The claim '${claim}' of the ID token is not what was expected.`
}

/** Describes what the library, or the call below it, has failed with. */
export const failureOf = (error: unknown): IssuerFailed => {
  const all = causes(error)
  const call = all.find((each) => each instanceof CallFailed)
  if (call instanceof Error) return new IssuerFailed({ reason: "unreachable", message: call.message })
  const named = all.find((each) => typeof each === "object" && each !== null && textIn(each, "error") !== "")
  if (typeof named === "object" && named !== null) {
    const words = [textIn(named, "error"), textIn(named, "error_description")].filter((text) => text !== "")
    return new IssuerFailed({ reason: "refused", message: `The issuer answered: ${words.join(": ")}` })
  }
  const codes = all.map(codeOf)
  if (codes.includes("OAUTH_JWT_CLAIM_COMPARISON_FAILED")) {
    return new IssuerFailed({ reason: "invalid", message: comparison(all) })
  }
  const known = codes.map((code) => sentences[code]).find((sentence) => sentence !== undefined)
  if (known !== undefined) return new IssuerFailed({ reason: "invalid", message: known })
  const first = all.find((each) => each instanceof Error)
  const words = typeof first === "object" && first !== null ? textIn(first, "message") : ""
  const last = all.findLast((each) => each instanceof Error)
  const more = typeof last === "object" && last !== null && last !== first ? `: ${textIn(last, "message")}` : ""
  return new IssuerFailed({ reason: "invalid", message: `What the issuer sent is not good: ${words}${more}` })
}

/** Runs a step of the library. */
export const step = <A>(work: () => Promise<A>): Effect.Effect<A, IssuerFailed> =>
  Effect.tryPromise({ try: work, catch: failureOf })

const githubMetadata = (issuer: string): ServerMetadata => {
  const base = issuer.replace(/\/+$/, "")
  return {
    issuer: base,
    authorization_endpoint: `${base}/login/oauth/authorize`,
    token_endpoint: `${base}/login/oauth/access_token`
  }
}

/** Reads what the issuer says of itself. */
const metadataOf = (library: Library, { clientId, issuer, kind }: Issuer, send: Fetch) =>
  kind === "github"
    ? Effect.succeed(githubMetadata(issuer))
    : Effect.map(
        step(() =>
          library.discovery(new URL(issuer), clientId, {}, library.None(), {
            [library.customFetch]: send,
            timeout: limits.timeoutMs / 1000,
            execute: issuer.startsWith("http:") ? [library.allowInsecureRequests] : []
          })
        ),
        (found): ServerMetadata => {
          const { supportsPKCE: _, ...metadata } = found.serverMetadata()
          return metadata
        }
      )

const authentication = (
  library: Library,
  secret: string | null,
  { token_endpoint_auth_methods_supported: ways }: ServerMetadata
) => {
  if (secret === null) return library.None()
  // Without the list the way is `client_secret_basic` (OpenID Connect Discovery 1.0 §3).
  return ways?.includes("client_secret_post") === true
    ? library.ClientSecretPost(secret)
    : library.ClientSecretBasic(secret)
}

interface Known {
  readonly metadata: ServerMetadata
  readonly updatedAtMs: number
  readonly untilMs: number
}

/** Time for which a discovery document is used. */
const metadataMs = 10 * 60_000

/** Makes the function that gives the client of an issuer; `isFresh`: its documents are read now. */
export const makeIssuerClients = (upstream: typeof Upstream.Service) =>
  Effect.map(Effect.runtime<never>(), (runtime) => {
    const known = new Map<string, Known>()
    return Effect.fn("IssuerClient.open")(function* (issuer: Issuer, nowMs: number, isFresh: boolean = false) {
      const library = yield* load
      const secret = issuer.clientSecret === null ? null : Redacted.value(issuer.clientSecret)
      const plain = fetchOver(upstream, runtime, secret)
      const sending = issuer.kind === "github" ? asStandard(plain) : plain
      const kept = known.get(issuer.id)
      const isGood = !isFresh && kept !== undefined && kept.updatedAtMs === issuer.updatedAtMs && nowMs < kept.untilMs
      const metadata = isGood ? kept.metadata : yield* metadataOf(library, issuer, sending)
      if (!isGood) known.set(issuer.id, { metadata, updatedAtMs: issuer.updatedAtMs, untilMs: nowMs + metadataMs })
      for (const [id, { untilMs }] of known) if (untilMs <= nowMs) known.delete(id)
      const way =
        issuer.kind === "github" && secret !== null
          ? library.ClientSecretPost(secret)
          : authentication(library, secret, metadata)
      const settings = { [library.clockTolerance]: clockToleranceS }
      const configuration = new library.Configuration(metadata, issuer.clientId, settings, way)
      configuration[library.customFetch] = sending
      configuration.timeout = limits.timeoutMs / 1000
      if (issuer.issuer.startsWith("http:")) library.allowInsecureRequests(configuration)
      if (issuer.kind === "oidc") library.enableNonRepudiationChecks(configuration)
      return { library, configuration } satisfies IssuerClient
    })
  })

export type OpenIssuer = Effect.Effect.Success<ReturnType<typeof makeIssuerClients>>
