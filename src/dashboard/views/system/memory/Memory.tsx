/** Answers what is remembered of whom: the memories, searched, added and forgotten, and how the memory is set. */
import { useSignal } from "@preact/signals"
import { useLocation } from "preact-iso"
import type { AnswerOf } from "../../../api/client.ts"
import {
  keysList,
  memoryCreate,
  memoryHealth,
  memoryList,
  memoryReindex,
  memorySetSettings,
  memorySettings
} from "../../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../../api/queries.ts"
import { ValuesForm } from "../../../forms/ValuesForm.tsx"
import { AddButton } from "../../../ui/AddButton.tsx"
import { opening } from "../../../ui/handlers.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Dialog } from "../../../ui/dialogs/Dialog.tsx"
import { State } from "../../../ui/State.tsx"
import { count, visible } from "../../../ui/format.ts"
import { words } from "../../../words/system/memory.ts"
import { Body } from "../parts/Body.tsx"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Head } from "../parts/Head.tsx"
import { Pages, withQuery } from "../../../ui/parts/Pages.tsx"
import { Search } from "../../../ui/parts/Search.tsx"
import { size } from "../parts/size.ts"
import { Table } from "../../../ui/parts/Table.tsx"
import { Tiles } from "../parts/Tiles.tsx"
import { useWork } from "../../../ui/useWork.ts"
import { MemoryRow } from "./MemoryRow.tsx"

const pageRows = 50
/** Parameters that a new search begins without. */
const paging = ["cursor"] as const

type Health = AnswerOf<typeof memoryHealth>

const Figures = ({ health }: { readonly health: Health }) => {
  const { isBusy, run } = useWork(["memory-health"])
  const reindex = (): void => void run(() => memoryReindex())
  return (
    <>
      <State kind={health.enabled ? "good" : "quiet"}>{health.enabled ? words.on : words.off}</State>
      <Tiles
        figures={[
          { name: words.entries, value: count(health.entries), about: health.vectors ? words.vectors : words.words },
          { name: words.bytes, value: size(health.bytes) },
          { name: words.index, value: count(health.indexed) }
        ]}
      />
      {!health.ok && (
        <section class="card notice">
          <State kind="warning">{words.broken}</State>
          <button type="button" class="button" disabled={isBusy.value} onClick={reindex}>
            {words.reindex}
          </button>
        </section>
      )}
    </>
  )
}

const Choices = ({ keys }: { readonly keys: ReadonlyMap<string, string> }) => {
  const { path, query, route } = useLocation()
  const pick = (name: string) => (value: string) => route(withQuery(path, query, { [name]: value, cursor: "" }), true)
  return (
    <>
      <div class="field">
        <label for="memory-type">{words.type}</label>
        <select
          id="memory-type"
          class="input"
          value={query["type"] ?? ""}
          onChange={({ currentTarget }) => pick("type")(currentTarget.value)}
        >
          {Object.entries(words.types).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for="memory-key">{words.key}</label>
        <select
          id="memory-key"
          class="input"
          value={query["apiKeyId"] ?? ""}
          onChange={({ currentTarget }) => pick("apiKeyId")(currentTarget.value)}
        >
          <option value="">{words.everyKey}</option>
          <option value="none">{words.noKey}</option>
          {[...keys].map(([id, name]) => (
            <option key={id} value={id}>
              {visible(name)}
            </option>
          ))}
        </select>
      </div>
    </>
  )
}

const useMemories = () => {
  const { query } = useLocation()
  const asked = Object.fromEntries(
    ["q", "type", "apiKeyId", "cursor"].flatMap((name) =>
      (query[name] ?? "") === "" ? [] : [[name, query[name] ?? ""]]
    )
  )
  return {
    isFiltered: Object.keys(asked).some((name) => name !== "cursor"),
    cursor: asked["cursor"] ?? null,
    list: useAnswer({
      key: ["memories", asked],
      ask: (signal) => memoryList({ query: { ...asked, limit: pageRows } as object, signal })
    })
  }
}

const List = ({ keys }: { readonly keys: ReadonlyMap<string, string> }) => {
  const { cursor, isFiltered, list } = useMemories()
  return (
    <section class="card stack" aria-label={words.list}>
      <div class="filters">
        <Search label={words.search} placeholder={words.searchHint} dropped={paging} />
        <Choices keys={keys} />
      </div>
      <Answered of={list} height={240}>
        {({ memories, nextCursor, total }) =>
          memories.length === 0 ? (
            <Empty text={isFiltered ? words.noMatch : words.none} />
          ) : (
            <>
              <p role="status" class="quiet">
                {words.found(total ?? memories.length)}
              </p>
              <Table label={words.list} columns={words.columns}>
                {memories.map((memory) => (
                  <MemoryRow key={memory.id} memory={memory} keys={keys} />
                ))}
              </Table>
              <Pages name="cursor" before={cursor === null ? null : ""} next={nextCursor ?? null} />
            </>
          )
        }
      </Answered>
    </section>
  )
}

const Settings = () => {
  const settings = useAnswer({ key: ["memory-settings"], ask: (signal) => memorySettings({ signal }) })
  return (
    <section class="card stack" aria-label={words.settings}>
      <h3>{words.settings}</h3>
      <Answered of={settings} height={420}>
        {(values) => (
          <Body operation="gatewaySettingsUpdate" member="memory">
            {(schema) => (
              <ValuesForm
                schema={schema}
                values={values}
                stored={{ call: memorySettings, of: (answer) => answer as object }}
                save={async (body, ifMatch) => {
                  await memorySetSettings({ body: body as never, ifMatch })
                  await Promise.all([refresh("memory-settings"), refresh("memory-health")])
                }}
              />
            )}
          </Body>
        )}
      </Answered>
    </section>
  )
}

const nothing = {}

const Add = ({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) => (
  <Dialog title={words.add} isOpen={isOpen} onClose={onClose}>
    <Body operation="memoryCreate">
      {(schema) => (
        <ValuesForm
          schema={schema}
          values={nothing}
          verb={words.add}
          save={async (body) => {
            await memoryCreate({ body: body as never })
            await Promise.all([refresh("memories"), refresh("memory-health")])
          }}
          canUndo={false}
          onSaved={onClose}
          onCancel={onClose}
        />
      )}
    </Body>
  </Dialog>
)

export const Memory = () => {
  const health = useAnswer({ key: ["memory-health"], ask: (signal) => memoryHealth({ signal }) })
  const keys = useAnswer({ key: ["keys"], ask: (signal) => keysList({ signal }) })
  const names = new Map((keys.value.data?.keys ?? []).map(({ id, name }) => [id, name]))
  const isAdding = useSignal(false)
  return (
    <div class="stack">
      <Head title={words.title} hint={words.hint}>
        <AddButton opens={isAdding} label={words.add} />
      </Head>
      <Answered of={health} height={120}>
        {(answer) => <Figures health={answer} />}
      </Answered>
      <List keys={names} />
      <Settings />
      <Add {...opening(isAdding)} />
    </div>
  )
}
