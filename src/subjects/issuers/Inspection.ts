/** Reads from the documents of an issuer whether people can sign in by it. */
import * as Effect from "effect/Effect"
import type { ServerMetadata } from "openid-client"
import type { Issuer } from "./entity.ts"
import { type IssuerClient, type IssuerFailed, step } from "./IssuerClient.ts"

const lacks = (list: unknown, value: string): boolean => Array.isArray(list) && !list.includes(value)

/** Lists what the discovery document lacks. Pure. */
export const problemsIn = (issuer: Issuer, metadata: ServerMetadata): ReadonlyArray<string> => {
  const problems: Array<string> = []
  if (metadata.authorization_endpoint === undefined) problems.push("It names no authorization_endpoint.")
  if (metadata.token_endpoint === undefined) problems.push("It names no token_endpoint.")
  if (issuer.kind === "oidc" && metadata.jwks_uri === undefined)
    problems.push("It names no jwks_uri: signatures cannot be checked.")
  if (lacks(metadata.response_types_supported, "code")) problems.push("It does not support the response type 'code'.")
  if (lacks(metadata.code_challenge_methods_supported, "S256")) problems.push("It does not support PKCE with S256.")
  const missing = issuer.scopes.filter((scope) => lacks(metadata.scopes_supported, scope))
  if (missing.length > 0) problems.push(`It does not know these scopes: ${missing.join(", ")}.`)
  const { hostname, pathname } = new URL(issuer.issuer)
  if (hostname === "login.microsoftonline.com" && /^\/(?:common|organizations|consumers)(?:\/|$)/.test(pathname)) {
    problems.push("This is the address for accounts of every tenant: name the id of your tenant in its place.")
  }
  return problems
}

/** Reads the keys of an issuer, and looks what its documents lack. */
export const inspect = Effect.fn("Issuers.inspect")(function* (issuer: Issuer, client: IssuerClient) {
  const { configuration, library } = client
  const metadata = configuration.serverMetadata()
  const problems = [...problemsIn(issuer, metadata)]
  const { jwks_uri: keys } = metadata
  const asking = configuration[library.customFetch]
  if (keys !== undefined && asking !== undefined) {
    const asked: Effect.Effect<Response, IssuerFailed> = step(() =>
      asking(keys, { body: undefined, headers: { accept: "application/json" }, method: "GET", redirect: "manual" })
    )
    const found = yield* Effect.match(asked, {
      onFailure: ({ message }) => message,
      onSuccess: ({ ok, status }) => (ok ? null : `Its keys (jwks_uri) could not be read: status ${status}.`)
    })
    if (found !== null) problems.push(found)
  }
  return { problems, endSession: metadata.end_session_endpoint !== undefined }
})
