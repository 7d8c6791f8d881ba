/**
 * Sessions of clients over HTTP: what a client began with `initialize`. They are in memory and bounded: the caller with the most of them loses the
 * one it used longest ago, and none that has a call in progress. A client whose session is gone gets 404 and begins another one.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { FairPool } from "../../kernel/collections/FairPool.ts"
import { shareOf } from "../../kernel/collections/FairShare.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import type { Caller } from "./Caller.ts"
import type { RequestId } from "./protocol/JsonRpc.ts"

export interface Listener {
  readonly caller: Caller
  readonly send: (message: JsonObject) => void
  readonly end: () => void
}

export interface Session {
  readonly id: string
  /** Identity of its owner: `identityOf` its caller. */
  readonly identity: string
  /** Name by which the client calls itself. */
  readonly client: string
  /** Ends a call that is in progress, by the id of its request. */
  readonly running: Map<RequestId, () => void>
  /** Stream of messages; null while it does not listen. */
  listener: Listener | null
}

export interface Sessions {
  /** Begins a session. Null: the limit is reached, because calls are in progress in all that could be removed. */
  readonly begin: (id: string, identity: string, client: string, nowMs: number) => Session | null
  /** Null: there is none of this id, or it is another caller's. */
  readonly find: (id: string, identity: string, nowMs: number) => Session | null
  readonly end: (id: string, identity: string, nowMs: number) => boolean
  /** Ends all, with the calls that are in progress; how many there were. */
  readonly endAll: () => number
  readonly count: () => number
  readonly all: () => ReadonlyArray<Session>
}

export const sessionLimits = { most: 1_000, idleMs: 3_600_000, mostRunning: 32 }

export const makeSessions = (): Sessions => {
  const sessions = new FairPool<string, Session>({
    capacity: sessionLimits.most,
    share: shareOf(sessionLimits.most),
    ttlMs: sessionLimits.idleMs,
    ownerOf: ({ identity }) => identity,
    isBusy: ({ running }) => running.size > 0,
    onRemove: (_, session) => {
      for (const stop of session.running.values()) stop()
      session.listener?.end()
    }
  })
  const find: Sessions["find"] = (id, identity, nowMs) => {
    const session = sessions.get(id, nowMs)
    if (session === undefined || session.identity !== identity) return null
    // Each use begins the idle time again.
    sessions.set(id, session, nowMs)
    return session
  }
  return {
    begin: (id, identity, client, nowMs) => {
      sessions.deleteExpired(nowMs)
      const session: Session = { id, identity, client, running: new Map(), listener: null }
      return sessions.set(id, session, nowMs) ? session : null
    },
    find,
    end: (id, identity, nowMs) => find(id, identity, nowMs) !== null && sessions.delete(id),
    endAll: () => {
      const ids = Array.from(sessions, ([id]) => id)
      for (const id of ids) sessions.delete(id)
      return ids.length
    },
    count: () => sessions.size,
    all: () => Array.from(sessions, ([, session]) => session)
  }
}
