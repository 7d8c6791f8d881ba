/** The life of a login at the command line, from the question to the credential: an event and a time make a step. Pure. */
import { createHash, randomInt } from "node:crypto"
import { hashKey } from "../auth/KeyFormat.ts"
import { type LoginRequest, maxIntervalMs, slowDownMs } from "./entity.ts"

/** Letters of codes that people type: no vowels, so that no words come of them (RFC 8628, 6.1). 34 bits. */
const letters = "BCDFGHJKLMNPQRSTVWXZ"
const codeLetters = 8

/** Makes a code that people type, such as `BCDF-GHJK`. */
export const makeUserCode = (): string => {
  const code = Array.from({ length: codeLetters }, () => letters[randomInt(letters.length)]).join("")
  return `${code.slice(0, 4)}-${code.slice(4)}`
}

/** Reads a code as people type it: in any case, with blanks or dashes anywhere. What is none stays as it is. */
export const readCode = (typed: string): string => {
  const bare = typed.replaceAll(/[\s\u2010-\u2015-]/g, "").toUpperCase()
  return bare.length === codeLetters && Array.from(bare).every((letter) => letters.includes(letter))
    ? `${bare.slice(0, 4)}-${bare.slice(4)}`
    : typed.trim()
}

/** The challenge of a verifier (RFC 7636, S256). */
export const challengeOf = (verifier: string): string => createHash("sha256").update(verifier).digest("base64url")

/** Person at a browser who answers. */
export interface Answerer {
  readonly sessionId: string
  readonly userId: string
  readonly issuerId: string | null
}

export type LoginEvent =
  /** A person's page asks what asks. */
  | { readonly _tag: "Shown"; readonly sessionId: string }
  /** A person allows it; `grantHash`: of the code that the browser brings back. */
  | { readonly _tag: "Allowed"; readonly by: Answerer; readonly grantHash: string | null }
  | { readonly _tag: "Denied"; readonly by: Answerer }
  /** The command line asks, with what the browser has brought back; null: nothing yet. */
  | { readonly _tag: "Polled"; readonly proof: { readonly grant: string; readonly verifier: string } | null }

export type LoginStep =
  /** The request goes on as `next`. */
  | { readonly _tag: "Wait"; readonly next: LoginRequest }
  /** The same; the question came too early. */
  | { readonly _tag: "SlowDown"; readonly next: LoginRequest }
  /** The credential may be given, once. */
  | { readonly _tag: "Give"; readonly userId: string; readonly issuerId: string | null }
  /** The request is over. `mismatch`: what the browser has brought back is not of this request. */
  | { readonly _tag: "Over"; readonly reason: "expired" | "denied" | "mismatch" }
  /** The event is none of this request now; it stays as it is. */
  | { readonly _tag: "Refused" }

const refused: LoginStep = { _tag: "Refused" }

const polled = (
  request: LoginRequest,
  { proof }: Extract<LoginEvent, { _tag: "Polled" }>,
  nowMs: number
): LoginStep => {
  const { grantHash, issuerId, state, userId, way } = request
  if (state === "denied") return { _tag: "Over", reason: "denied" }
  if (proof !== null) {
    const isOwn =
      way === "browser" &&
      grantHash !== null &&
      hashKey(proof.grant) === grantHash &&
      challengeOf(proof.verifier) === request.challenge
    if (!isOwn || userId === null) return { _tag: "Over", reason: "mismatch" }
    return { _tag: "Give", userId, issuerId }
  }
  if (request.polledAtMs !== null && nowMs < request.polledAtMs + request.intervalMs) {
    const intervalMs = Math.min(maxIntervalMs, request.intervalMs + slowDownMs)
    return { _tag: "SlowDown", next: { ...request, intervalMs, polledAtMs: nowMs } }
  }
  // Where the browser comes back, only what it brings shows that it is the one of this machine.
  if (state === "allowed" && way === "device" && userId !== null) return { _tag: "Give", userId, issuerId }
  return { _tag: "Wait", next: { ...request, polledAtMs: nowMs } }
}

/** Makes the step. Total over events; what has expired takes none. */
export const stepOf = (request: LoginRequest, event: LoginEvent, nowMs: number): LoginStep => {
  if (nowMs >= request.expiresAtMs) return { _tag: "Over", reason: "expired" }
  if (event._tag === "Polled") return polled(request, event, nowMs)
  // A login is answered once, and is not shown any more after that.
  if (request.state !== "asked") return refused
  if (event._tag === "Shown") return { _tag: "Wait", next: { ...request, shownTo: event.sessionId } }
  // Who has not seen what asks cannot mean it.
  if (request.shownTo !== event.by.sessionId) return refused
  if (event._tag === "Denied") return { _tag: "Wait", next: { ...request, state: "denied" } }
  const { issuerId, userId } = event.by
  return { _tag: "Wait", next: { ...request, state: "allowed", userId, issuerId, grantHash: event.grantHash } }
}

/** The address of the command line that the browser comes back to (RFC 8252, 7.3): this machine's loopback, whatever was sent. */
export const redirectOf = (
  { clientState, port }: Pick<LoginRequest, "clientState" | "port">,
  result: { readonly code: string } | { readonly error: "access_denied" }
): string | null => {
  if (port === null) return null
  const url = new URL(`http://127.0.0.1:${port}/`)
  for (const [name, value] of Object.entries(result)) url.searchParams.set(name, value)
  url.searchParams.set("state", clientState ?? "")
  return url.href
}
