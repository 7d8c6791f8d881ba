/** The list of captured requests by a filter, page after page, kept up by the feed: what changes is changed in its place, what is new waits. */
import { useSignal } from "@preact/signals"
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks"
import type { ApiError } from "../../api/ApiError.ts"
import { inspectorList } from "../../api/calls.generated.ts"
import { queries, renew } from "../../api/queries.ts"
import { type Heard, type Item, useInspectorFeed } from "./feed.ts"

const pageSize = 200

interface Loaded {
  readonly rows: ReadonlyArray<Item>
  readonly total: number
  readonly next: string | null
  readonly error: ApiError | null
  readonly isLoading: boolean
}

/** Answers about one record, which are old when it has changed. */
const ofRecord = ["inspector-conversation", "inspector-record", "inspector-anatomy", "inspector-cache"] as const

/** Asks anew for what is shown of records that have come or changed: an answer is there, or its end. */
const renewShown = (items: ReadonlyArray<Item>): void => {
  const shown = new Set(
    queries
      .getQueryCache()
      .findAll({ type: "active" })
      .map(({ queryKey }) => String(queryKey[1]))
  )
  for (const { id } of items) if (shown.has(id)) for (const name of ofRecord) void renew(name, id)
}

const nothing: Loaded = { rows: [], total: 0, next: null, error: null, isLoading: true }

export const useRecords = (query: Readonly<Record<string, string>>) => {
  const loaded = useSignal<Loaded>(nothing)
  const waiting = useSignal(0)
  /** Changes heard while rows were on their way: those may be as they were before. */
  const late = useRef(new Map<string, Item>())
  const key = JSON.stringify(query)
  const load = useCallback(
    async (from: string | null, leaving?: AbortSignal): Promise<void> => {
      loaded.value = { ...loaded.value, isLoading: true }
      late.current = new Map()
      try {
        const { nextCursor, requests, total } = await inspectorList({
          query: { ...query, limit: pageSize, ...(from === null ? {} : { cursor: from }) },
          ...(leaving === undefined ? {} : { signal: leaving })
        })
        if (from === null) waiting.value = 0
        const asked = requests.map((row) => late.current.get(row.id) ?? row)
        const rows = from === null ? asked : [...loaded.value.rows, ...asked]
        loaded.value = { rows, total, next: nextCursor, error: null, isLoading: false }
      } catch (error) {
        if (leaving?.aborted !== true) loaded.value = { ...loaded.value, error: error as ApiError, isLoading: false }
      }
    },
    // The key stands for the filter.
    [key]
  )
  useEffect(() => {
    const leaving = new AbortController()
    loaded.value = nothing
    void load(null, leaving.signal)
    return () => leaving.abort()
  }, [load, loaded])
  const heard = useMemo(
    (): Heard => ({
      added: (items) => {
        // One that was asked for by its address may be recorded only now.
        renewShown(items)
        if (loaded.value.rows.length === 0) void load(null)
        else waiting.value += items.length
      },
      changed: (items) => {
        renewShown(items)
        const byId = new Map(items.map((item) => [item.id, item]))
        if (loaded.value.isLoading) for (const item of items) late.current.set(item.id, item)
        const rows = loaded.value.rows.map((row) => byId.get(row.id) ?? row)
        loaded.value = { ...loaded.value, rows }
      },
      renewed: () => void load(null)
    }),
    [load, loaded, waiting]
  )
  const feed = useInspectorFeed(heard, true)
  const more = useCallback(() => {
    const { isLoading, next } = loaded.value
    if (!isLoading && next !== null) void load(next)
  }, [load, loaded])
  return { loaded, waiting, feed, more, reload: () => void load(null) }
}
