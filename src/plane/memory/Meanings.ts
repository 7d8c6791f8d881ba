/**
 * Memories by what they mean. Their vectors are made when they are first searched for, by the caller whose memories they are, and kept until they
 * change. A key has a thousand memories at most: all are compared.
 */
import * as Effect from "effect/Effect"
import type { Memory } from "../../subjects/memory/entity.ts"
import { cosine } from "../../kernel/Cosine.ts"
import { LruMap } from "../../kernel/collections/LruMap.ts"
import type { MemoryRepo, MemoryStamp } from "../../subjects/memory/repo.ts"
import type { MemoryVector, MemoryVectorRepo } from "../../subjects/memory/MemoryVectorRepo.ts"

/** Source of vectors. */
export interface Vectors {
  readonly model: string
  /** Returns the vectors in the order of the texts, of norm 1; null where there are none. */
  readonly of: (texts: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Float32Array> | null>
}

export interface MeantSearch {
  /** All memories of a caller. */
  readonly filter: { readonly apiKeyId: string | null }
  readonly text: string
  readonly limit: number
  readonly minSimilarity: number
  readonly vectors: Vectors
}

/** Memories that get their vector with one search, in the same request as the question; further ones with the next. */
const mostAtOnce = 100
/** Callers, and bytes of vectors, in memory. */
const maxOwners = 1_000
const maxVectorBytes = 16 * 1_048_576
/** Most characters of a memory, and of a question. */
const maxChars = 4_000

const textOf = ({ content, key }: Memory): string => `${key}\n${content}`.slice(0, maxChars)

/** The best match of each list counts most; of the k of reciprocal rank fusion, 60 is what its authors (Cormack et al., 2009) measured. */
export const fused = (lists: ReadonlyArray<ReadonlyArray<string>>, limit: number): ReadonlyArray<string> => {
  const scores = new Map<string, number>()
  for (const list of lists) {
    for (const [rank, id] of list.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (60 + rank + 1))
  }
  return [...scores]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, limit)
    .map(([id]) => id)
}

type Known = Map<string, MemoryVector>

const bytesOf = (known: Known): number => {
  const [first] = known.values()
  return known.size * ((first?.vector.byteLength ?? 0) + 200)
}

/** A function that gives the ids of those that mean the same, the nearest first; null where there are no vectors. */
export const makeMeantSearch = (repo: typeof MemoryRepo.Service, stored: typeof MemoryVectorRepo.Service) => {
  const loaded = new LruMap<string, Known>({ capacity: maxOwners, maxWeight: maxVectorBytes, weightOf: bytesOf })

  const load = Effect.fnUntraced(function* (apiKeyId: string | null, model: string) {
    const before = loaded.get(JSON.stringify([apiKeyId, model]))
    if (before !== undefined) return before
    return new Map((yield* stored.of(apiKeyId, model)).map((each) => [each.id, each]))
  })

  return Effect.fn("Memories.meant")(function* (search: MeantSearch) {
    const { filter, limit, minSimilarity, text, vectors } = search
    if (text.trim() === "") return null
    const known = yield* load(filter.apiKeyId, vectors.model)
    const all = yield* repo.stamps(filter)
    const isKnown = ({ id, updatedAtMs }: MemoryStamp): boolean => known.get(id)?.updatedAtMs === updatedAtMs
    const missing = all.filter((stamp) => !isKnown(stamp)).slice(0, mostAtOnce)
    const fresh = yield* repo.byIds(missing.map(({ id }) => id))
    const found = yield* vectors.of([text.slice(0, maxChars), ...fresh.map(textOf)])
    const asked = found?.[0]
    if (found === null || asked === undefined) return null
    const made = fresh.flatMap(({ id, updatedAtMs }, at): ReadonlyArray<MemoryVector> => {
      const vector = found[at + 1]
      return vector === undefined ? [] : [{ id, updatedAtMs, vector }]
    })
    if (made.length > 0) yield* stored.put(vectors.model, made)
    const now = new Map([...known, ...made.map((each) => [each.id, each] as const)])
    const ids = new Set(all.map(({ id }) => id))
    for (const id of now.keys()) if (!ids.has(id)) now.delete(id)
    loaded.set(JSON.stringify([filter.apiKeyId, vectors.model]), now)
    return all
      .flatMap((stamp) => {
        const meant = now.get(stamp.id)
        if (meant?.updatedAtMs !== stamp.updatedAtMs) return []
        const similarity = cosine(meant.vector, asked)
        return similarity >= minSimilarity ? [{ id: stamp.id, similarity }] : []
      })
      .toSorted((one, other) => other.similarity - one.similarity)
      .slice(0, limit)
      .map(({ id }) => id)
  })
}
