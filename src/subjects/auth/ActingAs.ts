/**
 * Row of the audit log for a request that an admin session makes with an API key's rights (`X-Gateway-As-Key`). Its usage row is the key's, and
 * has the same id. Pure.
 */
import type { AuditRow } from "../audit/entity.ts"
import type { Principal } from "../keys/entity.ts"
import type { Access } from "./Access.ts"

export interface ActingRequest {
  readonly requestId: string
  readonly atMs: number
  /** The peer address as it is written down (`PeerAddress.shownAddressOf`). */
  readonly ip: string
  /** The header as it was sent. */
  readonly named: string
}

const maxText = 200

/** Names a session as the audit log does. */
export const sessionActor = (sessionId: string): string => `session:${sessionId.slice(0, 12)}`

/** Null: no session acts with a key, or tries to. */
export const actingRow = (access: Access, { atMs, ip, named, requestId }: ActingRequest): AuditRow | null => {
  const { principal } = access
  if (principal === undefined) return null
  const common = {
    id: requestId,
    timestampMs: Math.trunc(atMs),
    action: "apiKey.actAs",
    resourceType: "keys",
    ip
  }
  if (principal._tag === "Key" && principal.actingSessionId !== undefined) {
    return {
      ...common,
      actor: sessionActor(principal.actingSessionId),
      target: principal.key.id,
      status: "success",
      details: { httpStatus: 200, apiKeyName: principal.key.name.slice(0, maxText), asKey: principal.key.id }
    }
  }
  if (access._tag === "Allowed" || principal._tag !== "Session") return null
  return {
    ...common,
    actor: sessionActor(principal.sessionId),
    target: named.slice(0, maxText),
    status: "failure",
    details: { httpStatus: access.status, code: access.code }
  }
}

/** Checks whether the caller's page has proved that its user asks: a session's page has, by the token in a header. */
export const isProved = (caller: Principal): boolean =>
  caller._tag === "Session" || (caller._tag === "Key" && caller.actingSessionId !== undefined)
