/** Reads what an issuer says of the person who comes back with a code: by its ID token and user information, or by GitHub's API. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { StoredIssuer } from "../issuers/repo.ts"
import { type IssuerClient, IssuerFailed, step } from "../issuers/IssuerClient.ts"
import type { Claims } from "./Identity.ts"
import type { Pending } from "./StateCookie.ts"

/** The person, and the issuer that says so. */
export interface Told {
  readonly issuer: string
  readonly claims: Claims
}

/** The address that the browser came back to, with its query. */
const arrivedAt = ({ redirectUri }: Pending, search: string): URL => {
  const url = new URL(redirectUri)
  url.search = search
  return url
}

/**
 * Completes the claims of an ID token. That an address is verified is said of the address beside it: the user information does not say so of another
 * one.
 */
export const completed = (token: Claims, more: Claims): Claims => {
  const claims = { ...more, ...token }
  const isOfAnother = token["email"] !== undefined && token["email"] !== more["email"]
  return isOfAnother ? { ...claims, email_verified: token["email_verified"] } : claims
}

/** Claims of the ID token, completed by the user information where it has what is missing. */
const readOidc = Effect.fnUntraced(function* (
  client: IssuerClient,
  issuer: StoredIssuer,
  pending: Pending,
  search: string
) {
  const { configuration, library } = client
  const tokens = yield* step(() =>
    library.authorizationCodeGrant(configuration, arrivedAt(pending, search), {
      expectedState: pending.state,
      expectedNonce: pending.nonce,
      pkceCodeVerifier: pending.verifier,
      idTokenExpected: true
    })
  )
  const token: Claims = { ...tokens.claims() }
  const wanted = ["email", "name", issuer.groupsClaim.split(".", 1)[0] ?? ""]
  const { issuer: identifier, userinfo_endpoint: more } = configuration.serverMetadata()
  if (more === undefined || wanted.every((name) => token[name] !== undefined))
    return { issuer: identifier, claims: token }
  const subject = String(token["sub"])
  const found = yield* step(() => library.fetchUserInfo(configuration, tokens.access_token, subject))
  return { issuer: identifier, claims: completed(token, { ...found }) } satisfies Told
})

const User = Schema.Struct({
  id: Schema.Number,
  login: Schema.String,
  name: Schema.optional(Schema.NullOr(Schema.String))
})
const Emails = Schema.Array(Schema.Struct({ email: Schema.String, primary: Schema.Boolean, verified: Schema.Boolean }))
const Teams = Schema.Array(
  Schema.Struct({ slug: Schema.String, organization: Schema.Struct({ login: Schema.String }) })
)
const Organizations = Schema.Array(Schema.Struct({ login: Schema.String }))

const mostListed = 100

/** GitHub's API; an Enterprise Server has it below its own address. https://docs.github.com/en/rest */
const apiOf = (issuer: string): string =>
  new URL(issuer).hostname === "github.com" ? "https://api.github.com" : `${issuer}/api/v3`

/** GitHub issues no ID token: its API says who the token is of. Groups are `organization` and `organization/team`. */
const readGithub = Effect.fnUntraced(function* (client: IssuerClient, pending: Pending, search: string) {
  const { configuration, library } = client
  const { issuer } = configuration.serverMetadata()
  const tokens = yield* step(() =>
    library.authorizationCodeGrant(configuration, arrivedAt(pending, search), {
      expectedState: pending.state,
      pkceCodeVerifier: pending.verifier
    })
  )
  const ask = Effect.fnUntraced(function* <A, I>(path: string, schema: Schema.Schema<A, I>) {
    const headers = new Headers({ accept: "application/vnd.github+json" })
    const url = new URL(`${apiOf(issuer)}${path}`)
    const json: unknown = yield* step(async () => {
      const answer = await library.fetchProtectedResource(configuration, tokens.access_token, url, "GET", null, headers)
      return answer.ok ? answer.json() : null
    })
    const read = Schema.decodeUnknownEither(schema)(json)
    if (Either.isRight(read)) return read.right
    return yield* new IssuerFailed({
      reason: "invalid",
      message: `GitHub gives no answer that can be read at ${path}.`
    })
  })
  const user = yield* ask("/user", User)
  const emails = yield* ask("/user/emails", Emails)
  const teams = yield* ask(`/user/teams?per_page=${mostListed}`, Teams)
  const organizations = yield* ask(`/user/orgs?per_page=${mostListed}`, Organizations)
  const address = emails.find(({ primary }) => primary)
  const claims: Claims = {
    sub: String(user.id),
    name: user.name ?? user.login,
    email: address?.email,
    email_verified: address?.verified,
    groups: [
      ...organizations.map(({ login }) => login),
      ...teams.map(({ organization, slug }) => `${organization.login}/${slug}`)
    ]
  }
  return { issuer, claims } satisfies Told
})

/** Exchanges the code of a way back, and reads who it is of. */
export const readClaims = (
  client: IssuerClient,
  issuer: StoredIssuer,
  pending: Pending,
  search: string
): Effect.Effect<Told, IssuerFailed> =>
  issuer.kind === "github" ? readGithub(client, pending, search) : readOidc(client, issuer, pending, search)
