/** Captured requests: live, while a session records, or of a saved session as it was; beside the list the request that is chosen. */
import { useSignal } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { useLocation } from "preact-iso"
import {
  inspectorClear,
  inspectorGateway,
  inspectorHar,
  inspectorJsonl,
  inspectorList
} from "../../api/calls.generated.ts"
import { addressOf, gatewayUrl } from "../../api/client.ts"
import { useTyped } from "../../ui/address/address.ts"
import { useWork } from "../../ui/useWork.ts"
import { opening, setting, typing } from "../../ui/handlers.ts"
import { CopyAs } from "../../ui/copy/CopyAs.tsx"
import { Danger } from "../../ui/dialogs/Danger.tsx"
import { Failure } from "../../ui/Failure.tsx"
import { State } from "../../ui/State.tsx"
import { count, duration } from "../../ui/format.ts"
import { placeOf } from "../../ui/address/places.ts"
import { words } from "../../words/inspector.ts"
import { Detail } from "./Detail.tsx"
import type { FeedState } from "./feed.ts"
import { readFilter } from "./filter.ts"
import { inspectorPlace } from "./places.ts"
import { RecordList } from "./RecordList.tsx"
import { Recording } from "./sessions/Recording.tsx"
import { useRecords } from "./useRecords.ts"
import { Viewing } from "./sessions/Viewing.tsx"

const None = ({ isFiltered }: { readonly isFiltered: boolean }) => {
  const { isBusy, run } = useWork(["capture-modes"])
  return (
    <div class="empty">
      <p>{isFiltered ? words.noMatch : words.none}</p>
      {!isFiltered && (
        <>
          <p class="quiet">{words.noneHint}</p>
          <div class="buttons">
            <button
              type="button"
              class="button main-action"
              disabled={isBusy.value}
              onClick={() => void run(() => inspectorGateway({ body: { enabled: true } }))}
            >
              {words.recordOwn}
            </button>
            <a class="button" href={inspectorPlace("capture")}>
              {words.toCapture}
            </a>
          </div>
        </>
      )}
    </div>
  )
}

const FeedWord = ({ behindMs, isOpen }: FeedState) => {
  if (!isOpen) return <State kind="warning">{words.state.away}</State>
  if (behindMs > 0) return <State kind="warning">{words.state.behind(duration(behindMs))}</State>
  return (
    <State kind="good" icon="live">
      {words.state.live}
    </State>
  )
}

const Exports = ({ query }: { readonly query: Readonly<Record<string, string>> }) => (
  <>
    <a class="button" href={`${gatewayUrl}${addressOf(inspectorHar.path, { query })}`} download="captured.har">
      {words.exportHar}
    </a>
    <a class="button" href={`${gatewayUrl}${addressOf(inspectorJsonl.path, { query })}`} download="captured.jsonl">
      {words.exportJsonl}
    </a>
  </>
)

const Forget = ({ onDone }: { readonly onDone: () => void }) => {
  const isOpen = useSignal(false)
  return (
    <>
      <button type="button" class="button danger" onClick={setting(isOpen, true)}>
        {words.clear}
      </button>
      <Danger
        title={words.clear}
        means={words.clearMeans}
        name={words.clearName}
        verb={words.clear}
        {...opening(isOpen)}
        run={async () => {
          await inspectorClear()
          onDone()
        }}
      />
    </>
  )
}

/** Puts what is typed into the address once it has settled. */
const useFilter = () => {
  const { query, route } = useLocation()
  const written = query["q"] ?? ""
  const typed = useTyped({
    written,
    place: placeOf("inspector"),
    write: (text) => route(inspectorPlace("", { ...query, q: text }), true)
  })
  return { typed, filter: useMemo(() => readFilter(written), [written]) }
}

const Live = () => {
  const { query, route } = useLocation()
  const { filter, typed } = useFilter()
  const { feed, loaded, more, reload, waiting } = useRecords(filter.query)
  const { error, isLoading, rows, total } = loaded.value
  const id = query["id"]
  const wrong = filter.wrong.join(", ")
  return (
    <>
      <div class="records-head">
        <FeedWord {...feed.value} />
        <Recording />
        <span class="grow" />
        {rows.length > 0 && (
          <>
            <span class="quiet">{words.total(total, count(total))}</span>
            <Exports query={filter.query} />
            <Forget onDone={reload} />
          </>
        )}
      </div>
      <div class="field filter">
        <label class="visually-hidden" for="record-filter">
          {words.filter}
        </label>
        <input
          id="record-filter"
          class="input"
          type="search"
          placeholder={words.filterHint}
          spellcheck={false}
          autocomplete="off"
          aria-invalid={wrong !== ""}
          aria-describedby="record-filter-problem"
          value={typed.value}
          onInput={typing(typed)}
        />
        <p id="record-filter-problem" class="problem" role="status">
          {wrong === "" ? "" : words.wrong(wrong)}
        </p>
      </div>
      {waiting.value > 0 && (
        <button type="button" class="button new-ones" onClick={reload}>
          {words.newOnes(waiting.value)}
        </button>
      )}
      {error !== null && <Failure error={error} retry={reload} />}
      {rows.length === 0 && id === undefined ? (
        !isLoading && error === null && <None isFiltered={Object.keys(filter.query).length > 0} />
      ) : (
        <div class={id === undefined ? "split" : "split with-detail"}>
          <RecordList
            rows={rows}
            id={id}
            onEnd={more}
            onOpen={(next, isReplacing) =>
              route(inspectorPlace("", { ...query, id: next, other: undefined }), isReplacing)
            }
          />
          {id !== undefined && <Detail key={id} id={id} record={null} others={rows} />}
        </div>
      )}
      {id === undefined && rows.length > 0 && <CopyAs call={inspectorList} query={filter.query} />}
    </>
  )
}

export const Records = () => {
  const { query } = useLocation()
  const session = query["session"]
  return <div class="records">{session === undefined ? <Live /> : <Viewing key={session} id={session} />}</div>
}
