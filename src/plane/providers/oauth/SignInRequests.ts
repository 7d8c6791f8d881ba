/** The requests of a sign-in, and what is read from what a person pastes. Pure; the requests hold secrets: never log them. */
import * as Redacted from "effect/Redacted"
import { createHash } from "node:crypto"
import type { UnownedRequest } from "../../../net/egress/Upstream.ts"
import type { SignInRow } from "../registry/signIn.ts"
import { postOf } from "./TokenRequest.ts"

export interface SignInClient {
  readonly id: string
  readonly secret: Redacted.Redacted | null
}

type Fields = Readonly<Record<string, string>>

/** RFC 7636 §4.2, S256. */
export const challengeOf = (verifier: string): string => createHash("sha256").update(verifier).digest("base64url")

/** Values by which a sign-in in a browser is recognised, from its beginning to its exchange. */
export interface BrowserStep {
  readonly redirectUri: string
  readonly state: string
  readonly verifier: string
}

/** The address to open. */
export const authorizeUrl = (
  { authorize, scopes }: SignInRow & { readonly authorize: NonNullable<SignInRow["authorize"]> },
  client: SignInClient,
  { redirectUri, state, verifier }: BrowserStep
): string => {
  const url = new URL(authorize.url)
  const fields: Fields = {
    ...authorize.parameters,
    ...(redirectUri === authorize.redirectUri ? authorize.pageParameters : {}),
    response_type: "code",
    client_id: client.id,
    redirect_uri: redirectUri,
    scope: scopes.join(" "),
    code_challenge: challengeOf(verifier),
    code_challenge_method: "S256",
    state
  }
  for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value)
  return url.href
}

const clientFields = ({ id, secret }: SignInClient): Fields => ({
  client_id: id,
  ...(secret === null ? {} : { client_secret: Redacted.value(secret) })
})

/** RFC 6749 §4.1.3. */
export const exchangeRequest = (
  { authorize, tokens }: SignInRow,
  client: SignInClient,
  { code, redirectUri, state, verifier }: BrowserStep & { readonly code: string }
): UnownedRequest =>
  postOf(tokens.tokenUrl, tokens.style, {
    grant_type: "authorization_code",
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    ...(authorize?.sendsState === true ? { state } : {}),
    ...clientFields(client)
  })

/** RFC 8628 §3.1. */
export const deviceRequest = (url: string, { scopes }: SignInRow, client: SignInClient): UnownedRequest =>
  postOf(url, "form", { client_id: client.id, scope: scopes.join(" ") })

/** RFC 8628 §3.4. */
export const deviceTokenRequest = ({ tokens }: SignInRow, client: SignInClient, deviceCode: string): UnownedRequest =>
  postOf(tokens.tokenUrl, tokens.style, {
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code: deviceCode,
    ...clientFields(client)
  })

export interface DeviceCode {
  readonly deviceCode: string
  readonly userCode: string
  readonly verificationUri: string
  readonly verificationUriComplete: string | null
  readonly intervalMs: number
  readonly lifetimeMs: number
}

type Members = Readonly<Record<string, unknown>>

const membersOf = (body: Buffer): Members => {
  try {
    const parsed: unknown = JSON.parse(body.toString("utf8"))
    return typeof parsed === "object" && parsed !== null ? (parsed as Members) : {}
  } catch {
    return {}
  }
}

const shortText = (value: unknown): string | null =>
  typeof value === "string" && /^[\x20-\x7e]{1,2048}$/.test(value) ? value : null

/** Opened by a person: nothing but a web page. */
const page = (value: unknown): string | null => {
  const text = shortText(value)
  return text !== null && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? text : null
}

const secondsOr = (value: unknown, usual: number, most: number): number =>
  Math.min(typeof value === "number" && value > 0 ? value : usual, most) * 1000

/** RFC 8628 §3.2; null when it is none. */
export const readDeviceCode = (body: Buffer): DeviceCode | null => {
  const answer = membersOf(body)
  const deviceCode = shortText(answer["device_code"])
  const userCode = shortText(answer["user_code"])
  const verificationUri = page(answer["verification_uri"]) ?? page(answer["verification_url"])
  if (deviceCode === null || userCode === null || verificationUri === null) return null
  return {
    deviceCode,
    userCode,
    verificationUri,
    verificationUriComplete: page(answer["verification_uri_complete"]),
    intervalMs: secondsOr(answer["interval"], 5, 60),
    lifetimeMs: secondsOr(answer["expires_in"], 600, 600)
  }
}

/** RFC 8628 §3.5: the person is not done, or asks come too fast; null: anything else. GitHub answers these with 200. */
export const waitingOf = (body: Buffer): "authorization_pending" | "slow_down" | null => {
  const { error } = membersOf(body)
  return error === "authorization_pending" || error === "slow_down" ? error : null
}

/** The code and the state in what was pasted: the address of the page, `code#state`, or the code alone. */
export const readPasted = (pasted: string): { readonly code: string; readonly state: string | null } => {
  const text = pasted.trim()
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) {
    const { searchParams } = new URL(text)
    return { code: searchParams.get("code") ?? "", state: searchParams.get("state") }
  }
  const [code = "", state] = text.split("#", 2)
  return { code, state: state ?? null }
}
