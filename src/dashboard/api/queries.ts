/** Answers of the API as signals: asked once for all that show them, kept for a while, and asked for anew when they may be old. */
import { type QueryKey, QueryClient, QueryObserver, type QueryObserverResult } from "@tanstack/query-core"
import { type ReadonlySignal, signal } from "@preact/signals"
import { useEffect, useMemo } from "preact/hooks"
import type { ApiError } from "./ApiError.ts"

/** Answers are fresh for as long as the live feed says nothing else; at most so long. */
const freshMs = 15_000
/** An answer that no view shows any more is dropped after so long. */
const unusedMs = 60_000

export const queries = new QueryClient({
  defaultOptions: {
    queries: { staleTime: freshMs, gcTime: unusedMs, retry: false, refetchOnWindowFocus: true, networkMode: "always" }
  }
})
queries.mount()

export type Result<A> = QueryObserverResult<A, ApiError>

export interface Question<A> {
  readonly key: QueryKey
  readonly ask: (signal: AbortSignal) => Promise<A>
  /** Asks anew every so often while a view shows it. */
  readonly everyMs?: number
  /** Not asked while this is false. */
  readonly when?: boolean
}

/** Asks while a view is shown: the answer, that it is on its way, or why there is none. */
export const useAnswer = <A>({ ask, everyMs, key, when }: Question<A>): ReadonlySignal<Result<A>> => {
  const name = JSON.stringify(key)
  const held = useMemo(() => {
    const observer = new QueryObserver<A, ApiError>(queries, {
      queryKey: key,
      queryFn: ({ signal: leaving }) => ask(leaving),
      enabled: when !== false,
      refetchInterval: everyMs ?? false
    })
    return { observer, result: signal<Result<A>>(observer.getCurrentResult()) }
    // The name stands for the key.
  }, [name, when, everyMs])
  useEffect(() => {
    const stop = held.observer.subscribe((result) => {
      held.result.value = result
    })
    held.result.value = held.observer.getCurrentResult()
    return stop
  }, [held])
  return held.result
}

/** Asks for what a view is about to show. */
export const ahead = <A>({ ask, key }: Question<A>): void =>
  void queries.prefetchQuery({ queryKey: key, queryFn: ({ signal: leaving }) => ask(leaving) })

/** Marks answers as old: those that are shown are asked for again. */
export const refresh = (...key: QueryKey): Promise<void> => queries.invalidateQueries({ queryKey: key })

/** Shortest time between two questions that the feed gives rise to. */
const calmMs = 1_000

interface Renewal {
  /** Epoch milliseconds of the last one. */
  atMs: number
  isDue: boolean
}

const renewals = new Map<string, Renewal>()

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))

/** Waits until what is under way has come to its end. */
const settled = (key: QueryKey): Promise<unknown> =>
  Promise.allSettled(
    queries
      .getQueryCache()
      .findAll({ queryKey: key, fetchStatus: "fetching" })
      .map((query) => query.promise)
  )

/**
 * Asks anew for answers that the feed says have changed, at once where it is quiet. Events may come faster than answers: what is under way comes to
 * its end and is asked for once more, for one that is always begun anew never comes.
 */
export const renew = async (...key: QueryKey): Promise<void> => {
  const name = JSON.stringify(key)
  const known = renewals.get(name)
  if (known?.isDue === true) return
  const renewal: Renewal = { atMs: known?.atMs ?? 0, isDue: true }
  renewals.set(name, renewal)
  await settled(key)
  const waitMs = renewal.atMs + calmMs - Date.now()
  if (waitMs > 0) await pause(waitMs)
  renewal.isDue = false
  renewal.atMs = Date.now()
  await queries.invalidateQueries({ queryKey: key }, { cancelRefetch: false })
}
