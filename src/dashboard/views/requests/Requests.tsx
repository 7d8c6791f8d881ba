/** Answers what failed and why, what runs, why this target: the log as a list, and beside it the decision of the request that is chosen. */
import { useSignal } from "@preact/signals"
import { useCallback, useEffect, useMemo } from "preact/hooks"
import { useLocation, useRoute } from "preact-iso"
import type { ApiError } from "../../api/ApiError.ts"
import { usageLogs } from "../../api/calls.generated.ts"
import { useFeed } from "../../live/feed.ts"
import type { FeedEvent } from "../../live/socket.ts"
import { placeOf } from "../../ui/places.ts"
import { Failure } from "../../ui/Failure.tsx"
import { List } from "../../ui/List.tsx"
import { State } from "../../ui/State.tsx"
import { Time } from "../../ui/Time.tsx"
import { duration, money, short, visible } from "../../ui/format.ts"
import { words } from "../../words/requests.ts"
import { Detail } from "./Detail.tsx"
import { readFilter } from "./filter.ts"
import type { Row } from "./row.ts"
import { RunningRequests } from "./Running.tsx"

const pageSize = 100
const settlesMs = 250
const rowHeight = 32

/** Events after which a request is in the log. */
const ends: ReadonlySet<string> = new Set(["request.completed", "request.failed", "request.aborted"])

interface Loaded {
  readonly rows: ReadonlyArray<Row>
  readonly next: string | null
  readonly error: ApiError | null
  readonly isLoading: boolean
}

const nothing: Loaded = { rows: [], next: null, error: null, isLoading: true }

/** The log by a filter, page after page. */
const useLog = (query: Readonly<Record<string, string>>) => {
  const loaded = useSignal<Loaded>(nothing)
  const key = JSON.stringify(query)
  const load = useCallback(
    async (from: string | null, leaving: AbortSignal | null): Promise<void> => {
      loaded.value = { ...loaded.value, isLoading: true }
      try {
        const { logs, nextCursor } = await usageLogs({
          query: { ...query, limit: pageSize, ...(from === null ? {} : { cursor: from }) },
          ...(leaving === null ? {} : { signal: leaving })
        })
        const rows = from === null ? logs : [...loaded.value.rows, ...logs]
        loaded.value = { rows, next: nextCursor, error: null, isLoading: false }
      } catch (error) {
        if (leaving?.aborted !== true) {
          loaded.value = { ...loaded.value, error: error as ApiError, isLoading: false }
        }
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
  const more = useCallback(() => {
    const { isLoading, next } = loaded.value
    if (!isLoading && next !== null) void load(next, null)
  }, [load, loaded])
  return { loaded, more, reload: () => void load(null, null) }
}

const outcomeKinds = { completed: "good", failed: "bad", aborted: "warning" } as const

const Head = () => (
  <>
    <span role="columnheader">{words.columns.time}</span>
    <span role="columnheader">{words.columns.status}</span>
    <span role="columnheader">{words.columns.model}</span>
    <span role="columnheader">{words.columns.target}</span>
    <span role="columnheader" class="number">
      {words.columns.latency}
    </span>
    <span role="columnheader" class="number">
      {words.columns.first}
    </span>
    <span role="columnheader" class="number">
      {words.columns.tokens}
    </span>
    <span role="columnheader" class="number">
      {words.columns.cost}
    </span>
  </>
)

const Cells = ({ row }: { readonly row: Row }) => (
  <>
    <span role="gridcell">
      <Time at={row.timestamp} />
    </span>
    <span role="gridcell">
      <State kind={outcomeKinds[row.outcome]}>{row.status}</State>
    </span>
    <span role="gridcell">{visible(row.requestedModel)}</span>
    <span role="gridcell">{row.provider === null ? "–" : visible(`${row.provider}/${row.model ?? ""}`)}</span>
    <span role="gridcell" class="number">
      {duration(row.latencyMs)}
    </span>
    <span role="gridcell" class="number">
      {row.ttftMs === null ? "–" : duration(row.ttftMs)}
    </span>
    <span role="gridcell" class="number">
      {short(row.tokens.in)} → {short(row.tokens.out)}
    </span>
    <span role="gridcell" class="number">
      {row.priced ? money(row.costUsd) : "?"}
    </span>
  </>
)

const None = ({ isFiltered }: { readonly isFiltered: boolean }) => (
  <div class="empty">
    <p>{isFiltered ? words.noMatch : words.none}</p>
    {!isFiltered && <p class="quiet">{words.noneHint}</p>}
  </div>
)

export const Requests = () => {
  const { query, route } = useLocation()
  const { id } = useRoute().params
  const typed = useSignal(query["q"] ?? "")
  const filter = useMemo(() => readFilter(query["q"] ?? ""), [query["q"]])
  const { loaded, more, reload } = useLog(filter.query)
  const waiting = useSignal(0)
  const { error, isLoading, rows } = loaded.value
  const selected = Math.max(
    0,
    rows.findIndex(({ requestId }) => requestId === id)
  )
  const isFiltered = Object.keys(filter.query).length > 0
  const search = query["q"] === undefined ? "" : `?q=${encodeURIComponent(query["q"])}`
  const open = (index: number, replaces: boolean): void => {
    const row = rows[index]
    if (row !== undefined) route(`${placeOf(`requests/${row.requestId}`)}${search}`, replaces)
  }

  useFeed(
    "requests",
    useCallback(
      ({ event, sampled }: FeedEvent) => {
        if (ends.has(event)) waiting.value += sampled ?? 1
      },
      [waiting]
    )
  )
  useEffect(() => {
    const timer = globalThis.setTimeout(() => {
      if (typed.value === (query["q"] ?? "")) return
      const rest = typed.value === "" ? "" : `?q=${encodeURIComponent(typed.value)}`
      route(`${placeOf("requests")}${rest}`, true)
    }, settlesMs)
    return () => globalThis.clearTimeout(timer)
  }, [typed.value, query["q"], route])

  const wrong = filter.wrong.join(" ")
  const isListed = rows.length > 0 || isLoading || error !== null || id !== undefined
  return (
    <div class="requests">
      <header class="view-head">
        <h1>{words.title}</h1>
        {waiting.value > 0 && (
          <button
            type="button"
            class="button"
            onClick={() => {
              waiting.value = 0
              reload()
            }}
          >
            {words.newOnes(waiting.value)}
          </button>
        )}
      </header>
      <RunningRequests placeOfRequest={(requestId) => `${placeOf(`requests/${requestId}`)}${search}`} />
      <div class="field filter">
        <label class="visually-hidden" for="filter">
          {words.filter}
        </label>
        <input
          id="filter"
          class="input"
          type="search"
          placeholder={words.filterHint}
          spellcheck={false}
          autocomplete="off"
          aria-invalid={wrong !== ""}
          aria-describedby="filter-problem"
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value
          }}
        />
        <p id="filter-problem" class="problem" role="status">
          {wrong === "" ? "" : words.wrong(wrong)}
        </p>
      </div>
      {error !== null && <Failure error={error} retry={reload} />}
      {!isListed ? (
        <None isFiltered={isFiltered} />
      ) : (
        <div class={id === undefined ? "split" : "split with-detail"}>
          <List
            label={words.list}
            count={rows.length}
            rowHeight={rowHeight}
            head={<Head />}
            row={(index) => {
              const row = rows[index]
              return row === undefined ? null : <Cells row={row} />
            }}
            rowId={(index) => `row-${rows[index]?.id ?? index}`}
            selected={selected}
            onSelect={(index) => {
              if (id !== undefined) open(index, true)
            }}
            onOpen={(index) => open(index, id !== undefined)}
            onEnd={more}
          />
          {id !== undefined && (
            <Detail
              id={id}
              row={rows[selected]?.requestId === id ? rows[selected] : undefined}
              back={`${placeOf("requests")}${search}`}
            />
          )}
        </div>
      )}
    </div>
  )
}
