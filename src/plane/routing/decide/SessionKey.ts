/**
 * The caller's session, from `X-Session-Id` or what known clients send of themselves: a conversation stays on
 * its account, where its prompt cache and encrypted state are. Pure.
 */
import { createHash } from "node:crypto"
import { headerOf, type RequestHeaders } from "../../../subjects/auth/Credentials.ts"
import { type JsonObject, objectOr, parseJson, stringOr } from "../../../wire/json/Json.ts"

/** The surest first: the gateway's own, what its answers say, then what known clients send. */
const headerNames = [
  "x-session-id",
  "x_session_id",
  "x-gateway-session-id",
  "x-codex-session-id",
  "x-claude-code-session-id",
  "x-qwen-code-session-id",
  "x-opencode-session",
  "session-id",
  "session_id",
  "conversation-id",
  "conversation_id",
  "x-grok-conv-id",
  "x-session-affinity",
  "thread-id"
]

const maxIdLength = 512

const usable = (id: string | null): id is string => id !== null && id.trim() !== "" && id.length <= maxIdLength

/** The responses wire names a stored conversation by its id, or by an object with it. */
const conversationOf = (body: JsonObject): string | null =>
  stringOr(body["conversation"]) ?? stringOr(objectOr(body["conversation"])["id"])

/** Claude Code writes its session into the user id, in one of two forms. */
const inUserId = (userId: string | null): string | null => {
  if (userId === null) return null
  const parsed = userId.startsWith("{") ? parseJson(userId) : undefined
  if (parsed !== undefined) return stringOr(objectOr(parsed)["session_id"])
  return /_session_([0-9a-f-]{8,})$/u.exec(userId)?.[1] ?? null
}

const inBody = (body: JsonObject): string | null => {
  const metadata = objectOr(body["metadata"])
  return (
    stringOr(body["session_id"]) ??
    stringOr(body["conversation_id"]) ??
    conversationOf(body) ??
    stringOr(metadata["session_id"]) ??
    inUserId(stringOr(metadata["user_id"])) ??
    stringOr(body["prompt_cache_key"])
  )
}

/** The session's own id, as the client gave it; null without one. */
export const sessionIdOf = (headers: RequestHeaders, body: JsonObject): string | null => {
  for (const name of headerNames) {
    const value = headerOf(headers, name)
    if (usable(value)) return value
  }
  const fromBody = inBody(body)
  return usable(fromBody) ? fromBody : null
}

/** The key it is remembered by: bound to the API key, which it begins with, and to the model id that was asked for. */
export const sessionKeyOf = (owner: string, model: string, sessionId: string): string =>
  `${owner}.${createHash("sha256").update(`${owner}\0${model}\0${sessionId}`).digest("base64url")}`

/** Returns the owner of the session. */
export const ownerIn = (sessionKey: string): string => sessionKey.slice(0, sessionKey.lastIndexOf("."))
