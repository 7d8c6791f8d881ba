/**
 * Finds the kept question that is nearest to another one: all vectors of a bucket are compared, which is exact, and bounded by the size of a
 * bucket. Buckets are read from the store when they are first asked for. Plain and synchronous, but for that.
 */
import * as Effect from "effect/Effect"
import type { KeptMeaning, Meaning } from "../../../subjects/cache/entity.ts"
import { cosine } from "../../../kernel/Cosine.ts"
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import { mayShare } from "./Wording.ts"

/** Newest questions of a bucket that are compared: 1.5 million products for vectors of 1,536 numbers, some 2 ms. */
export const maxInBucket = 1_000
/** Most bytes of all vectors in memory; buckets beyond it are read again when they are asked for. */
const maxVectorBytes = 32 * 1_048_576
const maxBuckets = 1_000
/** Usual bytes of the text of a question. */
const bytesOfWords = 2_000
/** Rows that are read and decrypted at once, before other work has its turn. */
const pageRows = 100

export interface Near {
  /** Key of the stored answer. */
  readonly key: string
  /** Cosine of the two, at most 1. */
  readonly similarity: number
}

export interface MeaningIndex {
  /** The nearest of its bucket whose words may have the same answer and that is as near as `threshold`; null when none is. A store that fails has none. */
  readonly nearest: (meaning: Meaning, threshold: number) => Effect.Effect<Near | null>
  /** Hot: adds it to its bucket where that is in memory; one of the same answer is replaced. */
  readonly add: (meaning: Meaning, kept: Omit<KeptMeaning, "wording" | "vector">) => void
  /** Hot: the answer is gone. */
  readonly remove: (bucket: string, key: string) => void
  readonly clear: () => void
}

export interface MeaningSource {
  readonly nowMs: () => number
  /** The newest first. */
  readonly page: (bucket: string, offset: number, limit: number) => Effect.Effect<ReadonlyArray<KeptMeaning>>
  /** Completes once others had their turn. */
  readonly pause: Effect.Effect<void>
}

/** Meanings by the key of their answers, the oldest first. */
type Bucket = Map<string, KeptMeaning>

const bytesOf = (bucket: Bucket): number => {
  const [first] = bucket.values()
  return bucket.size * ((first?.vector.byteLength ?? 0) + bytesOfWords)
}

const trimmed = (bucket: Bucket): Bucket => {
  for (const key of bucket.keys()) {
    if (bucket.size <= maxInBucket) break
    bucket.delete(key)
  }
  return bucket
}

export const makeMeaningIndex = ({ nowMs, page, pause }: MeaningSource): MeaningIndex => {
  const buckets = new LruMap<string, Bucket>({ capacity: maxBuckets, maxWeight: maxVectorBytes, weightOf: bytesOf })
  let cleared = 0

  const read = Effect.fn("MeaningIndex.read")(function* (bucket: string) {
    const before = cleared
    const rows: Array<KeptMeaning> = []
    for (let offset = 0; offset < maxInBucket; offset += pageRows) {
      const some = yield* page(bucket, offset, pageRows)
      rows.push(...some)
      if (some.length < pageRows) break
      yield* pause
    }
    const read: Bucket = new Map(rows.toReversed().map((row) => [row.key, row]))
    // Of two readers at once the second adds what was added since the first.
    for (const [key, row] of buckets.peek(bucket) ?? []) read.set(key, row)
    if (before === cleared) buckets.set(bucket, trimmed(read))
    return read
  })

  const nearestIn = (bucket: Bucket, { vector, wording }: Meaning, threshold: number): Near | null => {
    const now = nowMs()
    let nearest: Near | null = null
    for (const kept of bucket.values()) {
      if (kept.createdAtMs > now || kept.expiresAtMs <= now) {
        bucket.delete(kept.key)
        continue
      }
      const similarity = cosine(kept.vector, vector)
      const isNearer = similarity >= threshold && similarity > (nearest?.similarity ?? 0)
      if (isNearer && mayShare(kept.wording, wording)) nearest = { key: kept.key, similarity }
    }
    return nearest
  }

  return {
    nearest: (meaning, threshold) =>
      Effect.suspend(() => {
        const bucket = buckets.get(meaning.bucket)
        return bucket === undefined
          ? Effect.map(read(meaning.bucket), (fresh) => nearestIn(fresh, meaning, threshold))
          : Effect.succeed(nearestIn(bucket, meaning, threshold))
      }),
    add: ({ bucket, vector, wording }, kept) => {
      const known = buckets.get(bucket)
      if (known === undefined) return
      known.delete(kept.key)
      known.set(kept.key, { ...kept, vector, wording })
      // Weighs it anew.
      buckets.set(bucket, trimmed(known))
    },
    remove: (bucket, key) => void buckets.peek(bucket)?.delete(key),
    clear: () => {
      cleared += 1
      buckets.clear()
    }
  }
}
