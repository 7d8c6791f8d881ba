/**
 * Remembers the account that serves a session. In memory and bounded; a lost entry costs a prompt cache, never a
 * request.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { FairPool } from "../../../kernel/collections/FairPool.ts"
import { ownerIn } from "./SessionKey.ts"
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

export const make = () => {
  const sessions = new FairPool<string, Owned>({ capacity, ttlMs, ownerOf: ({ owner }) => owner })
  return Affinity.of({
    of: (key, nowMs) => sessions.peek(key, nowMs) ?? null,
    served: (key, { account, model }, nowMs) =>
      void sessions.set(key, { owner: ownerIn(key), connectionId: account.connection.id, model }, nowMs)
  })
}

export const layer: Layer.Layer<Affinity> = Layer.sync(Affinity, make)
