/** Answers what failed and why, what runs, why this target: the log as a list, and beside it the decision of the request that is chosen. */
import { useMemo, useRef } from "preact/hooks"
import { useLocation, useRoute } from "preact-iso"
import { isAdministrator } from "../../api/rights.ts"
import { useTyped } from "../../ui/address/address.ts"
import { placeOf } from "../../ui/address/places.ts"
import { Failure } from "../../ui/Failure.tsx"
import { List } from "../../ui/lists/List.tsx"
import { State } from "../../ui/State.tsx"
import { Time } from "../../ui/Time.tsx"
import { duration, money, short, visible } from "../../ui/format.ts"
import { words } from "../../words/requests.ts"
import { Detail } from "./Detail.tsx"
import { readFilter } from "./filter.ts"
import { FilterField } from "./FilterField.tsx"
import { listPlace } from "./links.ts"
import { useLog, useNew } from "./log.ts"
import { indexOf, rowAt } from "./pages.ts"
import { kinds, type Row } from "./row.ts"
import { RunningRequests } from "./Running.tsx"
import { SavedViews } from "./SavedViews.tsx"

const rowHeight = 32

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
      <State kind={kinds[row.outcome]}>{row.status}</State>
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
  const typed = useTyped({
    written: query["q"] ?? "",
    place: placeOf("requests"),
    write: (text) => route(listPlace(text), true)
  })
  const filter = useMemo(() => readFilter(query["q"] ?? ""), [query["q"]])
  const { log, more, reload, row: rowOf } = useLog(filter.query)
  const { taken, waiting } = useNew(filter.query)
  const { count, error, isLoading } = log.value
  const chosen = useRef<{ readonly index: number; readonly row: Row } | null>(null)
  const at = indexOf(log.value, id)
  const found = at < 0 ? undefined : rowAt(log.value, at)
  if (found !== undefined) chosen.current = { index: at, row: found }
  // Its page may have been let go since.
  const held = chosen.current?.row.requestId === id ? chosen.current : null
  const selected = held?.index ?? 0
  const isFiltered = Object.keys(filter.query).length > 0
  const search = query["q"] === undefined ? "" : `?q=${encodeURIComponent(query["q"])}`
  const open = (index: number, replaces: boolean): void => {
    const row = rowAt(log.value, index)
    if (row !== undefined) route(`${placeOf(`requests/${row.requestId}`)}${search}`, replaces)
  }

  const wrong = filter.wrong.join(" ")
  const isListed = count > 0 || isLoading || error !== null || id !== undefined
  return (
    <div class="requests">
      <header class="view-head">
        <h1>{words.title}</h1>
        {waiting.value > 0 && (
          <button
            type="button"
            class="button"
            onClick={() => {
              taken()
              reload()
            }}
          >
            {words.newOnes(waiting.value)}
          </button>
        )}
      </header>
      {isAdministrator() && (
        <RunningRequests placeOfRequest={(requestId) => `${placeOf(`requests/${requestId}`)}${search}`} />
      )}
      <FilterField
        value={typed.value}
        wrong={wrong}
        onInput={(text) => {
          typed.value = text
        }}
      />
      {isAdministrator() && <SavedViews written={query["q"] ?? ""} />}
      {error !== null && <Failure error={error} retry={reload} />}
      {!isListed ? (
        <None isFiltered={isFiltered} />
      ) : (
        <div class={id === undefined ? "split" : "split with-detail"}>
          <List
            label={words.list}
            count={count}
            isLoading={isLoading}
            rowHeight={rowHeight}
            head={<Head />}
            row={(index) => {
              const row = rowOf(index)
              return row === undefined ? null : <Cells row={row} />
            }}
            rowId={(index) => `row-${rowAt(log.value, index)?.id ?? index}`}
            selected={selected}
            onSelect={(index) => {
              if (id !== undefined) open(index, true)
            }}
            onOpen={(index) => open(index, id !== undefined)}
            onEnd={more}
          />
          {id !== undefined && <Detail id={id} row={held?.row} back={`${placeOf("requests")}${search}`} />}
        </div>
      )}
    </div>
  )
}
