/** A saved session as it was recorded. */
import { useMemo } from "preact/hooks"
import { useLocation } from "preact-iso"
import { inspectorSession, inspectorSessionHar, inspectorSessionJsonl } from "../../../api/calls.generated.ts"
import { addressOf, gatewayUrl } from "../../../api/client.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { State } from "../../../ui/State.tsx"
import { count, visible } from "../../../ui/format.ts"
import { words } from "../../../words/inspector.ts"
import { Detail } from "../Detail.tsx"
import type { WholeRecord } from "../record.ts"
import { inspectorPlace } from "../places.ts"
import { RecordList } from "../RecordList.tsx"

const Split = ({ records }: { readonly records: ReadonlyArray<WholeRecord> }) => {
  const { query, route } = useLocation()
  const rows = useMemo(() => records.toReversed(), [records])
  const id = query["id"]
  const record = rows.find((row) => row.id === id)
  if (rows.length === 0) return <p class="empty">{words.none}</p>
  return (
    <div class={record === undefined ? "split" : "split with-detail"}>
      <RecordList
        rows={rows}
        id={id}
        onOpen={(next, isReplacing) => route(inspectorPlace("", { ...query, id: next, other: undefined }), isReplacing)}
      />
      {record !== undefined && <Detail key={record.id} id={record.id} record={record} others={rows} />}
    </div>
  )
}

export const Viewing = ({ id }: { readonly id: string }) => {
  const session = useAnswer({
    key: ["inspector-session", id],
    ask: (signal) => inspectorSession({ path: { id }, signal })
  })
  const told = session.value.data?.session
  return (
    <>
      <div class="records-head">
        <State kind="trial">{words.state.viewing(visible(told?.name ?? words.untitled))}</State>
        <a class="button" href={inspectorPlace("")}>
          {words.backToLive}
        </a>
        <span class="grow" />
        {told !== undefined && <span class="quiet">{words.total(told.requestCount, count(told.requestCount))}</span>}
        <a
          class="button"
          href={`${gatewayUrl}${addressOf(inspectorSessionHar.path, { path: { id } })}`}
          download="session.har"
        >
          {words.exportHar}
        </a>
        <a
          class="button"
          href={`${gatewayUrl}${addressOf(inspectorSessionJsonl.path, { path: { id } })}`}
          download="session.jsonl"
        >
          {words.exportJsonl}
        </a>
      </div>
      <Answered of={session} height={400}>
        {({ requests }) => <Split records={requests} />}
      </Answered>
    </>
  )
}
