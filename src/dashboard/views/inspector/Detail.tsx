/** One captured request: its parts as tabs, each asked for when it is shown. */
import { useLocation } from "preact-iso"
import type { JSX } from "preact"
import {
  inspectorAnatomy,
  inspectorCache,
  inspectorCode,
  inspectorConversation,
  inspectorDiff,
  inspectorGet,
  inspectorReplay
} from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { CopyAs } from "../../ui/copy/CopyAs.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { Tabs } from "../../ui/Tabs.tsx"
import { Time } from "../../ui/Time.tsx"
import { duration, visible } from "../../ui/format.ts"
import { placeOf } from "../../ui/address/places.ts"
import { words } from "../../words/inspector.ts"
import { Anatomy } from "./Anatomy.tsx"
import { CacheOf } from "./CacheFinding.tsx"
import { Compare } from "./Compare.tsx"
import { Conversation } from "./Conversation.tsx"
import type { Item } from "./feed.ts"
import { Notes } from "./Notes.tsx"
import { inspectorPlace } from "./places.ts"
import { Headers, Raw } from "./Raw.tsx"
import type { WholeRecord } from "./record.ts"
import { nameOf, StatusOf } from "./RecordList.tsx"
import { Replay } from "./Replay.tsx"
import { Timing } from "./Timing.tsx"

interface Properties {
  readonly id: string
  /** The record as a session has it; null: it is asked for. */
  readonly record: WholeRecord | null
  readonly others: ReadonlyArray<Item>
}

/** The parts that show the record itself. */
const Whole = ({
  id,
  children,
  record,
  showSecrets = false
}: {
  readonly id: string
  readonly record: WholeRecord | null
  readonly showSecrets?: boolean
  readonly children: (record: WholeRecord) => JSX.Element
}) => {
  const answer = useAnswer({
    key: ["inspector-record", id, showSecrets],
    ask: (signal) => inspectorGet({ path: { id }, query: showSecrets ? { showSecrets } : {}, signal }),
    when: record === null
  })
  return record === null ? (
    <Answered of={answer} height={320}>
      {children}
    </Answered>
  ) : (
    children(record)
  )
}

const parts: Readonly<Record<keyof typeof words.tab, (properties: Properties) => JSX.Element>> = {
  conversation: ({ id }) => <Conversation id={id} />,
  anatomy: ({ id }) => <Anatomy id={id} />,
  cache: ({ id }) => <CacheOf id={id} />,
  raw: ({ id, record }) => (
    <Whole id={id} record={record}>
      {(whole) => <Raw record={whole} />}
    </Whole>
  ),
  headers: ({ id, record }) => (
    <Headers
      of={(showSecrets, draw) => (
        <Whole id={id} record={record} showSecrets={showSecrets}>
          {draw}
        </Whole>
      )}
    />
  ),
  timing: ({ id, record }) => (
    <Whole id={id} record={record}>
      {(whole) => <Timing record={whole} />}
    </Whole>
  ),
  diff: ({ id, others }) => <Compare id={id} others={others} />,
  replay: ({ id, record }) => (
    <Whole id={id} record={record}>
      {(whole) => <Replay record={whole} />}
    </Whole>
  ),
  notes: ({ id, record }) => (
    <Whole id={id} record={record}>
      {(whole) => <Notes record={whole} />}
    </Whole>
  )
}

/** The call behind each part, for a terminal. */
const calls: Readonly<Record<keyof typeof words.tab, { readonly method: string; readonly path: string }>> = {
  conversation: inspectorConversation,
  anatomy: inspectorAnatomy,
  cache: inspectorCache,
  raw: inspectorGet,
  headers: inspectorGet,
  timing: inspectorGet,
  diff: inspectorDiff,
  replay: inspectorReplay,
  notes: inspectorCode
}

type Part = keyof typeof parts

const isPart = (name: string): name is Part => Object.hasOwn(parts, name)

export const Detail = (properties: Properties) => {
  const { id, others, record } = properties
  const { query } = useLocation()
  const named = query["tab"] ?? ""
  const part: Part = isPart(named) ? named : "conversation"
  const item = record ?? others.find((one) => one.id === id)
  return (
    <section class="card detail stack" aria-label={words.detail}>
      <header class="view-head">
        <h2>{item === undefined ? <span class="mono">{visible(id)}</span> : nameOf(item)}</h2>
        <a
          class="button plain"
          href={inspectorPlace("", { ...query, id: undefined, tab: undefined, other: undefined })}
          aria-label={words.close}
          title={words.close}
        >
          <Icon name="close" />
        </a>
      </header>
      {item !== undefined && (
        <p class="buttons">
          <StatusOf status={item.status} />
          {item.totalLatencyMs !== null && <span>{duration(item.totalLatencyMs)}</span>}
          <Time at={item.timestamp} />
          {item.error !== null && <span class="bad">{visible(item.error)}</span>}
          {item.gatewayRequestId !== null && (
            <a href={placeOf(`requests/${encodeURIComponent(item.gatewayRequestId)}`)}>{words.decision}</a>
          )}
        </p>
      )}
      <Tabs
        label={words.tabs}
        shown={part}
        tabs={Object.entries(words.tab).map(([name, title]) => ({
          name,
          title,
          url: inspectorPlace("", { ...query, tab: name })
        }))}
      />
      {parts[part](properties)}
      <CopyAs
        call={calls[part]}
        path={part === "diff" ? { id: query["other"] ?? "", other: id } : { id }}
        query={part === "notes" ? { format: "curl" } : undefined}
        body={part === "replay" ? {} : undefined}
      />
    </section>
  )
}
