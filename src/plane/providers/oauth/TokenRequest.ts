/**
 * Builds the request that renews an account's tokens (RFC 6749 §6). Pure. A registry provider has its own endpoint; only for a
 * provider node the connection names it, so that no caller chooses the host that receives a refresh token.
 */
import * as Redacted from "effect/Redacted"
import type { OAuthTokens } from "../../../subjects/connections/entity.ts"
import type { OAuthEndpoint, ProviderSpec } from "../../../contract/domain/Provider.ts"
import type { UnownedRequest } from "../../../net/egress/Upstream.ts"
import { secretParts } from "../../../kernel/secrets/Scrub.ts"
import { sentSecrets } from "../../../kernel/secrets/SentSecrets.ts"
import { registry } from "../Registry.ts"

export type ClientAuth = OAuthEndpoint["clientAuth"]

const isUsable = (tokenUrl: string): boolean => {
  if (!URL.canParse(tokenUrl)) return false
  const { password, protocol, username } = new URL(tokenUrl)
  return (protocol === "https:" || protocol === "http:") && username === "" && password === ""
}

/** The token endpoint of an account; null when it has none. */
export const endpointOf = (spec: ProviderSpec, tokens: OAuthTokens): OAuthEndpoint | null => {
  const isNode = registry.get(spec.id) !== spec
  if (!isNode) return spec.oauth
  const { tokenUrl } = tokens
  return tokenUrl === null || !isUsable(tokenUrl)
    ? null
    : { tokenUrl, clientId: null, style: "form", clientAuth: "basic" }
}

const formEncoded = (text: string): string => new URLSearchParams({ _: text }).toString().slice(2)

const basic = (clientId: string, clientSecret: string): string =>
  `Basic ${Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString("base64")}`

/** A client with a secret that may be shown in either way. */
export const hasBothWays = (endpoint: OAuthEndpoint, tokens: OAuthTokens): boolean =>
  endpoint.style === "form" && (tokens.clientId ?? endpoint.clientId) !== null && tokens.clientSecret !== null

/** A POST of fields to a token endpoint. */
export const postOf = (
  address: string,
  style: OAuthEndpoint["style"],
  fields: Readonly<Record<string, string>>,
  authorization: string | null = null
): UnownedRequest => {
  const url = new URL(address)
  const isForm = style === "form"
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    method: "POST",
    headers: [
      "content-type",
      isForm ? "application/x-www-form-urlencoded" : "application/json",
      "accept",
      "application/json",
      ...(authorization === null ? [] : ["authorization", authorization])
    ],
    body: isForm ? new URLSearchParams(fields).toString() : JSON.stringify(fields),
    // The answer may hold the same refresh token again: of what was sent, only the client's own secret is none of its matter.
    secrets: sentSecrets([fields["client_secret"] ?? "", ...(authorization === null ? [] : secretParts(authorization))])
  }
}

/** The request that renews `tokens`. Holds credentials in clear text: never log it. */
export const requestOf = (
  endpoint: OAuthEndpoint,
  refreshToken: Redacted.Redacted,
  tokens: OAuthTokens,
  clientAuth: ClientAuth
): UnownedRequest => {
  const clientId = tokens.clientId ?? endpoint.clientId
  const clientSecret = tokens.clientSecret === null ? null : Redacted.value(tokens.clientSecret)
  const authorization =
    clientAuth === "basic" && clientId !== null && clientSecret !== null ? basic(clientId, clientSecret) : null
  const fields: Record<string, string> = {
    grant_type: "refresh_token",
    refresh_token: Redacted.value(refreshToken)
  }
  if (authorization === null) {
    if (clientId !== null) fields.client_id = clientId
    if (clientSecret !== null) fields.client_secret = clientSecret
  }
  return postOf(endpoint.tokenUrl, endpoint.style, fields, authorization)
}

/**
 * Lists the secrets that must not be repeated from an answer to that request, in every form in which they were sent.
 */
export const secretsIn = (tokens: OAuthTokens): ReadonlyArray<string> => {
  const secrets = [tokens.accessToken, tokens.refreshToken, tokens.clientSecret].flatMap((secret) =>
    secret === null ? [] : [Redacted.value(secret)]
  )
  const shown =
    tokens.clientId === null || tokens.clientSecret === null
      ? []
      : [basic(tokens.clientId, Redacted.value(tokens.clientSecret)).slice("Basic ".length)]
  return [...new Set([...secrets, ...secrets.map(formEncoded), ...secrets.map(encodeURIComponent), ...shown])]
}
