/**
 * Sessions that use the gateway now: those that callers name, and for the others the key together with the model it
 * uses. In memory, bounded.
 */
import { createHash } from "node:crypto"
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import type { RequestSummary } from "./Summary.ts"

export interface SessionView {
  /** Says nothing of the caller but that two requests are of one session. */
  readonly id: string
  /** True when the caller named its session. */
  readonly named: boolean
  readonly apiKeyId: string | null
  readonly provider: string | null
  readonly connectionId: string | null
  readonly model: string | null
  readonly requests: number
  readonly lastUsedMs: number
}

interface Session {
  named: boolean
  apiKeyId: string | null
  provider: string | null
  connectionId: string | null
  model: string | null
  requests: number
  lastUsedMs: number
}

export const capacity = 200
export const ttlMs = 15 * 60_000

const idOf = (key: string): string => createHash("sha256").update(key).digest("hex").slice(0, 16)

export class SessionBook {
  readonly #sessions = new LruMap<string, Session>({ capacity, ttlMs })

  /** Hot. Requests that no model has served belong to no session. */
  seen({ row, sessionKey }: Pick<RequestSummary, "row" | "sessionKey">): void {
    const { apiKeyId, connectionId, model, provider } = row
    if (connectionId === null || model === null) return
    const named = sessionKey !== null && sessionKey !== undefined
    const key = named ? sessionKey : `${apiKeyId ?? ""}\n${connectionId}\n${model}`
    const nowMs = row.timestampMs + row.latencyMs
    const session = this.#sessions.peek(key, nowMs) ?? {
      named,
      apiKeyId,
      provider,
      connectionId,
      model,
      requests: 0,
      lastUsedMs: nowMs
    }
    session.requests += 1
    session.provider = provider
    session.connectionId = connectionId
    session.model = model
    session.lastUsedMs = nowMs
    this.#sessions.set(key, session, nowMs)
  }

  list(nowMs: number): ReadonlyArray<SessionView> {
    return Array.from(this.#sessions, ([key, session]) => ({ id: idOf(key), ...session }))
      .filter(({ lastUsedMs }) => nowMs - lastUsedMs < ttlMs)
      .toSorted((one, other) => other.lastUsedMs - one.lastUsedMs)
  }
}
