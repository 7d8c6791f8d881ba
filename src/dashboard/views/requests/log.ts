/**
 * The log by a filter, page after page. Of what was scrolled through a window of pages is kept; a page that was let go is asked for again when it
 * comes into sight: the memory of the page does not grow with the log.
 */
import { type Signal, useSignal } from "@preact/signals"
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks"
import type { ApiError } from "../../api/ApiError.ts"
import { usageLogs } from "../../api/calls.generated.ts"
import { useFeed } from "../../live/feed.ts"
import type { FeedEvent } from "../../live/socket.ts"
import { type Log, nothing, pageSize, rowAt, withPage } from "./pages.ts"
import type { Row } from "./row.ts"

const followsMs = 1_000

type Query = Readonly<Record<string, string>>

export const useLog = (query: Query) => {
  const log = useSignal<Log>(nothing)
  const key = JSON.stringify(query)
  const leaving = useRef<AbortController | null>(null)
  const load = useCallback(
    async (page: number): Promise<void> => {
      const { signal } = (leaving.current ??= new AbortController())
      const cursor = log.value.cursors[page] ?? null
      log.value = { ...log.value, isLoading: true }
      try {
        const { logs, nextCursor } = await usageLogs({
          query: { ...query, limit: pageSize, ...(cursor === null ? {} : { cursor }) },
          signal
        })
        if (!signal.aborted) log.value = withPage(log.value, page, logs, nextCursor)
      } catch (error) {
        if (!signal.aborted) log.value = { ...log.value, error: error as ApiError, isLoading: false }
      }
    },
    // The key stands for the filter.
    [key]
  )
  const reload = useCallback((): void => {
    leaving.current?.abort()
    leaving.current = new AbortController()
    log.value = nothing
    void load(0)
  }, [load, log])
  useEffect(() => {
    reload()
    return () => leaving.current?.abort()
  }, [reload])
  const more = useCallback(() => {
    const { cursors, error, isLoading, next } = log.value
    if (!isLoading && error === null && next !== null) void load(cursors.length - 1)
  }, [load, log])
  /** The row at a place; one that was let go is asked for. */
  const row = (index: number): Row | undefined => {
    const found = rowAt(log.value, index)
    if (found !== undefined) return found
    const page = Math.floor(index / pageSize)
    globalThis.queueMicrotask(() => {
      const { cursors, error, isLoading, pages } = log.value
      if (!isLoading && error === null && !pages.has(page) && page < cursors.length) void load(page)
    })
    return undefined
  }
  return { log, more, reload, row }
}

/** Events after which a request is in the log. */
const ends: ReadonlySet<string> = new Set(["request.completed", "request.failed", "request.aborted"])

/** Counts what has come since the list was loaded: without a filter by the feed, else by asking which of it fits, at most once a second. */
export const useNew = (query: Query): { readonly waiting: Signal<number>; readonly taken: () => void } => {
  const waiting = useSignal(0)
  const key = JSON.stringify(query)
  const follow = useMemo(() => ({ after: "latest", timer: 0, isAsking: false }), [key])
  const isFiltered = Object.keys(query).length > 0
  const ask = useCallback(async (): Promise<void> => {
    follow.timer = 0
    if (follow.isAsking) return
    follow.isAsking = true
    try {
      const { logs, nextCursor } = await usageLogs({ query: { ...query, after: follow.after, limit: pageSize } })
      follow.after = nextCursor ?? follow.after
      waiting.value += logs.length
    } catch {
      // The next event asks again; the list itself says when the gateway does not answer.
    } finally {
      follow.isAsking = false
    }
  }, [follow])
  useEffect(() => {
    waiting.value = 0
    if (isFiltered) void ask()
    return () => globalThis.clearTimeout(follow.timer)
  }, [ask, follow, isFiltered, waiting])
  useFeed(
    "requests",
    useCallback(
      ({ event, sampled }: FeedEvent) => {
        if (!ends.has(event)) return
        if (!isFiltered) waiting.value += sampled ?? 1
        else if (follow.timer === 0) follow.timer = globalThis.setTimeout(() => void ask(), followsMs)
      },
      [ask, follow, isFiltered, waiting]
    )
  )
  return {
    waiting,
    taken: () => {
      waiting.value = 0
    }
  }
}
