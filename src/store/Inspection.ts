/**
 * Inspects a database through a read-only handle before it is opened for writing: a file that is newer, damaged or locked by another
 * program must not be changed by a byte.
 */
import * as Effect from "effect/Effect"
import { statSync } from "node:fs"
import type { Database } from "./engine/Handle.ts"
import { onDisk } from "./DataFolder.ts"
import { DatabaseCorrupt, refusedAt, SchemaNewer, type StoreFailure } from "./Errors.ts"
import * as Handle from "./engine/Handle.ts"

export const migrationsTable = "schema_migrations"

/** A check of every page costs about a millisecond per 4 MB; larger files are checked by `doctor` only. */
const checkedUpToBytes = 4 * 1_048_576
const busyTimeoutMs = 1000

interface Findings {
  readonly version: number
  /** `ok`, or the first thing that is wrong. */
  readonly verdict: string
}

const read = (handle: Database, sizeBytes: number): Findings => {
  const value = (query: string): unknown => handle.prepare(query).pluck().get()
  const number = (query: string): number => Number(value(query) ?? 0)
  // Both records are written in one transaction; a file whose records differ counts as the newer one.
  const recorded = value(`SELECT 1 FROM sqlite_schema WHERE name = '${migrationsTable}'`) === 1
  const migrated = recorded ? number(`SELECT MAX(migration_id) FROM ${migrationsTable}`) : 0
  return {
    version: Math.max(number("PRAGMA user_version"), migrated),
    verdict: sizeBytes <= checkedUpToBytes ? String(value("PRAGMA quick_check(1)")) : "ok"
  }
}

/** The schema version of the file: 0 for one that is missing or empty. Fails when this gateway must not touch it. */
export const inspect = (file: string, supported: number): Effect.Effect<number, StoreFailure> =>
  Effect.gen(function* () {
    const sizeBytes = yield* onDisk(file, () => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
    if (sizeBytes === 0) return 0
    const { verdict, version } = yield* Handle.open(file, { readonly: true, busyTimeoutMs }).pipe(
      Effect.tryMap({ try: (handle) => read(handle, sizeBytes), catch: (error) => error }),
      Effect.scoped,
      Effect.catchAll(refusedAt(file))
    )
    if (version > supported) return yield* new SchemaNewer({ file, found: version, supported })
    if (verdict !== "ok") return yield* new DatabaseCorrupt({ file, detail: verdict })
    return version
  })
