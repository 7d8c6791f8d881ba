/**
 * Places under a key, of which there are so many: those at a connection (`max_concurrent`), and of a combo at a model. In one process they are counted
 * here; a worker has them of the owner (docs/workers.md), and keeps what it has got for a moment.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** Gives the place back; further calls do nothing. */
export type Release = () => void

export type Place =
  | { readonly _tag: "Free"; readonly release: Release }
  /**
   * `wait` joins the line when it is run and resolves with the place; interruption leaves the line, or gives the place back.
   * To hold on to the place, run it inside `Effect.uninterruptibleMask`.
   */
  | { readonly _tag: "Queued"; readonly wait: Effect.Effect<Release> }
  | { readonly _tag: "Full" }

export interface PermitsShape {
  /** Hot: asks for one of `limit` places under `key`; at most `queueDepth` callers wait. */
  readonly enter: (key: string, limit: number, queueDepth: number) => Place
  readonly inUse: (key: string) => number
  readonly waiting: (key: string) => number
}

/** Places that another process gives; null: they are counted in this one. */
export class Permits extends Context.Reference<Permits>()("gateway/plane/state/Permits", {
  defaultValue: (): PermitsShape | null => null
}) {}
