/**
 * Remembers the account that serves a session. In memory and bounded; a lost entry costs a prompt cache, never a
 * request.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { FairPool } from "../../../kernel/collections/FairPool.ts"
import { ownerIn } from "./SessionKey.ts"
import { alone, Replica, type ReplicaShape } from "../../state/Replica.ts"
import type { Target } from "../resolve/ModelResolver.ts"

export const capacity = 20_000
/** A session that was silent for this long has lost its cache at the provider too. */
export const ttlMs = 60 * 60_000

export interface SessionTarget {
  readonly connectionId: string
  readonly model: string
}

interface Owned extends SessionTarget {
  readonly owner: string
  /** Time at which the other processes were told, epoch milliseconds. */
  readonly toldMs: number
}

export class Affinity extends Context.Tag("gateway/plane/routing/decide/Affinity")<
  Affinity,
  {
    /** Hot: finds the target that served the session last; null when it is new or old. */
    readonly of: (sessionKey: string, nowMs: number) => SessionTarget | null
    /** Hot. */
    readonly served: (sessionKey: string, target: Target, nowMs: number) => void
  }
>() {}

/** The others are told again of a session that goes on at its account. */
const toldAgainMs = ttlMs / 4
const bytesPerSession = 128

export const make = ({ isShared, kept }: ReplicaShape = alone) => {
  const sessions = new FairPool<string, Owned>({ capacity, ttlMs, ownerOf: ({ owner }) => owner })
  const hold = (key: string, connectionId: string, model: string, nowMs: number, toldMs: number): void =>
    void sessions.set(key, { owner: ownerIn(key), connectionId, model, toldMs }, nowMs)
  const holdEverywhere = kept("session", hold, (key) => key.length + bytesPerSession)
  return Affinity.of({
    of: (key, nowMs) => sessions.peek(key, nowMs) ?? null,
    served: (key, { account, model }, nowMs) => {
      const { id } = account.connection
      const known = isShared ? sessions.peek(key, nowMs) : undefined
      const isNew = known === undefined || known.connectionId !== id || known.model !== model
      if (isNew || nowMs - known.toldMs >= toldAgainMs) holdEverywhere(key, id, model, nowMs, nowMs)
      else hold(key, id, model, nowMs, known.toldMs)
    }
  })
}

export const layer: Layer.Layer<Affinity> = Layer.effect(Affinity, Effect.map(Replica, make))
