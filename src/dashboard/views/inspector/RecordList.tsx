/** Captured requests as rows. */
import { List } from "../../ui/lists/List.tsx"
import { State } from "../../ui/State.tsx"
import { Time } from "../../ui/Time.tsx"
import { duration, money, short, visible } from "../../ui/format.ts"
import { words } from "../../words/inspector.ts"
import type { Item } from "./feed.ts"

const rowHeight = 32

export const StatusOf = ({ status }: { readonly status: Item["status"] }) => {
  if (status === "in-flight") {
    return (
      <State kind="quiet" icon="wait">
        {words.inFlight}
      </State>
    )
  }
  if (status === "error") return <State kind="bad">{words.failed}</State>
  return <State kind={status >= 500 ? "bad" : status >= 400 ? "warning" : "good"}>{status}</State>
}

const Head = () => (
  <>
    <span role="columnheader">{words.columns.time}</span>
    <span role="columnheader">{words.columns.status}</span>
    <span role="columnheader">{words.columns.host}</span>
    <span role="columnheader">{words.columns.model}</span>
    <span role="columnheader" class="number">
      {words.columns.tokens}
    </span>
    <span role="columnheader" class="number">
      {words.columns.cost}
    </span>
    <span role="columnheader" class="number">
      {words.columns.latency}
    </span>
    <span role="columnheader">{words.columns.from}</span>
  </>
)

const tokensOf = ({ llm }: Item): string =>
  llm === null
    ? "–"
    : `${llm.tokensIn === null ? "?" : short(llm.tokensIn)} → ${llm.tokensOut === null ? "?" : short(llm.tokensOut)}`

export const nameOf = ({ host, path }: Pick<Item, "host" | "path">): string => visible(`${host}${path}`)

const Cells = ({ row }: { readonly row: Item }) => (
  <>
    <span role="gridcell">
      <Time at={row.timestamp} />
    </span>
    <span role="gridcell">
      <StatusOf status={row.status} />
    </span>
    <span role="gridcell" title={nameOf(row)}>
      {nameOf(row)}
    </span>
    <span role="gridcell">{row.llm?.model === null || row.llm === null ? "–" : visible(row.llm.model ?? "")}</span>
    <span role="gridcell" class="number">
      {tokensOf(row)}
    </span>
    <span role="gridcell" class="number">
      {row.llm?.costEstimateUsd === null || row.llm === null ? "–" : money(row.llm.costEstimateUsd ?? 0)}
    </span>
    <span role="gridcell" class="number">
      {row.totalLatencyMs === null ? "–" : duration(row.totalLatencyMs)}
    </span>
    <span role="gridcell">{visible(row.agent ?? row.processName ?? row.source)}</span>
  </>
)

interface Properties {
  readonly rows: ReadonlyArray<Item>
  readonly id: string | undefined
  readonly onOpen: (id: string, isReplacing: boolean) => void
  readonly onEnd?: () => void
}

export const RecordList = ({ id, onEnd, onOpen, rows }: Properties) => {
  const selected = Math.max(
    0,
    rows.findIndex((row) => row.id === id)
  )
  const open = (index: number, isReplacing: boolean): void => {
    const row = rows[index]
    if (row !== undefined) onOpen(row.id, isReplacing)
  }
  return (
    <List
      label={words.list}
      count={rows.length}
      rowHeight={rowHeight}
      head={<Head />}
      row={(index) => {
        const row = rows[index]
        return row === undefined ? null : <Cells row={row} />
      }}
      rowId={(index) => `record-${rows[index]?.id ?? index}`}
      selected={selected}
      onSelect={(index) => {
        if (id !== undefined) open(index, true)
      }}
      onOpen={(index) => open(index, id !== undefined)}
      {...(onEnd === undefined ? {} : { onEnd })}
    />
  )
}
