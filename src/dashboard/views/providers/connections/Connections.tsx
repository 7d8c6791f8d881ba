/** The accounts as a list in pages of the API, searched, sorted and by state: the state of each, what is left of it, and what can be done. */
import { useLocation } from "preact-iso"
import { useCallback } from "preact/hooks"
import type { AnswerOf } from "../../../api/client.ts"
import { providersList, systemHealth, usageQuotas } from "../../../api/calls.generated.ts"
import { renew, useAnswer } from "../../../api/queries.ts"
import { useFeed } from "../../../live/feed.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Icon } from "../../../ui/Icon.tsx"
import { Pages, withQuery } from "../../../ui/parts/Pages.tsx"
import { Search } from "../../../ui/parts/Search.tsx"
import { shownOf, Shows } from "../../../ui/parts/Shows.tsx"
import { Time } from "../../../ui/Time.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { count, percent, visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/providers.ts"
import { AccountButtons } from "../AccountButtons.tsx"
import { ConnectionState } from "../ConnectionState.tsx"
import type { Connection } from "../names.ts"
import { tightestBy, type QuotaWindow } from "./tightest.ts"

const pageSize = 50
const dropped = ["page"]
const sorts = ["name", "provider", "testStatus", "priority"] as const
type Sort = (typeof sorts)[number]

const columnNames: Readonly<Record<Sort, string>> = {
  name: words.columns.name,
  provider: words.columns.provider,
  testStatus: words.columns.state,
  priority: words.columns.priority
}

const Left = ({ window }: { readonly window: QuotaWindow | undefined }) => {
  if (window === undefined || window.total === null) return <span class="quiet">–</span>
  const used = window.total === 0 ? 1 : Math.min(1, window.used / window.total)
  return (
    <span class="left">
      <meter min={0} max={1} high={0.8} value={used} aria-label={visible(window.window)} /> {words.used(percent(used))}
      {window.exhaustedAt !== null && (
        <span class="quiet">
          {" "}
          {words.endsAt} <Time at={window.exhaustedAt} />
        </span>
      )}
    </span>
  )
}

const Actions = ({ connection }: { readonly connection: Connection }) => (
  <span class="buttons">
    <AccountButtons connection={connection} />
    {connection.source === "env" && <span class="quiet">{words.fromEnvironment}</span>}
  </span>
)

const Row = ({ connection, window }: { readonly connection: Connection; readonly window: QuotaWindow | undefined }) => {
  const known = connection.modelList?.count ?? connection.models.length
  return (
    <tr>
      <td class="account-name">
        <a href={placeOf(`providers/${encodeURIComponent(connection.id)}`)}>
          {visible(connection.name === "" ? connection.provider : connection.name)}
        </a>
      </td>
      <td>{visible(connection.provider)}</td>
      <td class="why-cell">
        <ConnectionState connection={connection} />
        {connection.lastError !== null && connection.testStatus !== "active" && (
          <span class="why quiet" title={visible(connection.lastError)}>
            {visible(connection.lastError.slice(0, 120))}
          </span>
        )}
      </td>
      <td class="number">{connection.priority}</td>
      <td class="number">{known === 0 ? "–" : count(known)}</td>
      <td>
        <Left window={window} />
      </td>
      <td>
        <Actions connection={connection} />
      </td>
    </tr>
  )
}

/** The title of a column by which the list can be sorted: a link, which turns the order when it is the order already. */
const SortedBy = ({ sort }: { readonly sort: Sort }) => {
  const { path, query } = useLocation()
  const order = query["sort"] ?? ""
  const isUp = order === sort
  const isDown = order === `-${sort}`
  return (
    <th
      scope="col"
      class={sort === "priority" ? "number" : undefined}
      aria-sort={isUp ? "ascending" : isDown ? "descending" : "none"}
    >
      <a class="sort" href={withQuery(path, query, { sort: isUp ? `-${sort}` : isDown ? "" : sort, page: "" })}>
        {columnNames[sort]} {(isUp || isDown) && <Icon name={isUp ? "up" : "down"} />}
      </a>
    </th>
  )
}

interface TableProperties {
  readonly connections: ReadonlyArray<Connection>
  readonly windows: ReadonlyMap<string, QuotaWindow>
}

const Table = ({ connections, windows }: TableProperties) => (
  <div class="scroller card accounts" tabIndex={0} role="region" aria-label={words.list}>
    <table class="plain-table">
      <thead>
        <tr>
          {sorts.map((sort) => (
            <SortedBy key={sort} sort={sort} />
          ))}
          <th scope="col" class="number">
            {words.columns.models}
          </th>
          <th scope="col">{words.columns.left}</th>
          <th scope="col">{words.columns.actions}</th>
        </tr>
      </thead>
      <tbody>
        {connections.map((connection) => (
          <Row key={connection.id} connection={connection} window={windows.get(connection.id)} />
        ))}
      </tbody>
    </table>
  </div>
)

const choicesOf = (counts: AnswerOf<typeof systemHealth>["connections"] | undefined) => ({
  all: words.shows.all(counts?.total ?? null),
  available: words.shows.available(counts?.available ?? null),
  cooling: words.shows.cooling(counts?.cooling ?? null),
  terminal: words.shows.terminal(counts?.terminal ?? null),
  inactive: words.shows.inactive(counts?.inactive ?? null)
})

export const Connections = () => {
  const { query } = useLocation()
  const counts = useAnswer({ key: ["standings"], ask: (signal) => systemHealth({ signal }) })
  const choices = choicesOf(counts.value.data?.connections)
  const state = shownOf(query, choices)
  const asked = {
    limit: pageSize,
    search: query["q"]?.slice(0, 200),
    sort: query["sort"],
    cursor: query["page"],
    state: state === "all" ? undefined : state
  }
  const connections = useAnswer({
    key: ["connections", "page", asked],
    ask: (signal) => providersList({ query: asked, signal })
  })
  const quotas = useAnswer({
    key: ["quotas"],
    ask: async (signal) => tightestBy((await usageQuotas({ signal })).windows)
  })
  useFeed(
    "health",
    useCallback(() => {
      void renew("connections", "page")
      void renew("standings")
    }, [])
  )
  const isAll = state === "all" && (query["q"] ?? "") === ""
  return (
    <>
      <div class="filters">
        <Search label={words.search} placeholder={words.searchHint} dropped={dropped} />
        <Shows label={words.shows.label} choices={choices} dropped={dropped} />
      </div>
      <Answered of={connections} height={320}>
        {({ connections: page, nextCursor, total }) =>
          total === 0 && isAll ? (
            <div class="empty">
              <p>{words.none}</p>
              <a class="button main-action" href={placeOf("providers/add")}>
                <Icon name="add" /> {words.add}
              </a>
            </div>
          ) : (
            <>
              <p class="quiet" role="status">
                {page.length === 0 ? words.noneFound : words.total(count(total), total)}
              </p>
              {page.length > 0 && <Table connections={page} windows={quotas.value.data ?? new Map()} />}
              <Pages name="page" before={query["page"] === undefined ? null : ""} next={nextCursor} />
              <CopyAs call={providersList} query={{ search: asked.search, sort: asked.sort, state: asked.state }} />
            </>
          )
        }
      </Answered>
    </>
  )
}
