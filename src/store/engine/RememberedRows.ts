/**
 * A cache for tables that are listed after every change of the configuration: only rows written since the last listing are read again. Every write
 * goes through the repository with the cache; of those of another process `Snapshots` knows.
 */
import * as Effect from "effect/Effect"
import { makeLane } from "../../kernel/Lane.ts"
import type { StoreError } from "../Errors.ts"
import { Snapshots, type SnapshotsShape, type WatchedTable } from "../Snapshots.ts"

export interface RememberedRows<A> {
  /** Lists the rows in order; the same array and the same rows as long as nothing was written. */
  readonly list: Effect.Effect<ReadonlyArray<A>, StoreError>
  /** Runs a write to the row of this key; the row is read again whether it succeeds or not. */
  readonly writing: (key: string) => <B, E>(write: Effect.Effect<B, E>) => Effect.Effect<B, E>
}

export interface RowReads<A> {
  readonly keyOf: (row: A) => string
  /** Every row, in order. */
  readonly all: Effect.Effect<ReadonlyArray<A>, StoreError>
  readonly one: (key: string) => Effect.Effect<A | null, StoreError>
  /** The order of `all`. */
  readonly order: (a: A, b: A) => number
  /** The table, where other processes may change it. `isKeyed`: `keyOf` is what `config_changes` names a row by. */
  readonly watched: { readonly table: WatchedTable; readonly isKeyed: boolean } | null
}

/** Number of changed rows beyond which one statement for all is faster than one for each. */
const mostSingleReads = 50

export const make = <A>({ all, keyOf, one, order, watched }: RowReads<A>): RememberedRows<A> => {
  const changed = new Set<string>()
  const oneAtATime = makeLane(1)
  let rows: ReadonlyArray<A> | null = null
  let mark = 0

  /** Marks what another process has changed. */
  const lookAtOthers = (snapshots: SnapshotsShape): void => {
    const found = watched === null ? null : snapshots.changedSince(watched.table, mark)
    if (found === null || watched === null) return
    mark = found.mark
    if (found.rows === "all" || !watched.isKeyed) rows = null
    else for (const key of found.rows) changed.add(key)
  }

  const readAll = Effect.suspend(() => {
    rows = null
    changed.clear()
    return Effect.map(all, (read) => (rows = read))
  })

  /** Marks are removed before reading, so that rows written meanwhile are read the next time. */
  const readChanged = (before: ReadonlyArray<A>, keys: ReadonlyArray<string>) => {
    for (const key of keys) changed.delete(key)
    return Effect.forEach(keys, one).pipe(
      Effect.tapErrorCause(() => Effect.sync(() => keys.forEach((key) => changed.add(key)))),
      Effect.map((read) => {
        const kept = new Set(keys)
        const found = read.filter((row) => row !== null)
        return (rows = [...before.filter((row) => !kept.has(keyOf(row))), ...found].sort(order))
      })
    )
  }

  const list = Effect.flatMap(Snapshots, (snapshots) => {
    lookAtOthers(snapshots)
    if (rows === null || changed.size > mostSingleReads) return readAll
    return changed.size === 0 ? Effect.succeed(rows) : readChanged(rows, [...changed])
  })

  return {
    list: Effect.uninterruptible(oneAtATime.inTurn(list)),
    writing: (key) => Effect.ensuring(Effect.sync(() => void changed.add(key)))
  }
}
