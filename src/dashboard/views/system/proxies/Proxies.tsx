/** Answers by which address calls to providers leave: the proxies, what they are assigned to, and whether they work. */
import { useSignal } from "@preact/signals"
import { useLocation } from "preact-iso"
import { proxiesAssignments, proxiesList, proxiesSetSettings, proxiesSettings } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { AddButton } from "../../../ui/AddButton.tsx"
import { opening, setting } from "../../../ui/handlers.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { words } from "../../../words/system/proxies.ts"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Head } from "../parts/Head.tsx"
import { Pages } from "../../../ui/parts/Pages.tsx"
import { Table } from "../../../ui/parts/Table.tsx"
import { useWork } from "../../../ui/useWork.ts"
import { AddProxy } from "./AddProxy.tsx"
import { AssignProxy } from "./AssignProxy.tsx"
import { ProxyRow } from "./ProxyRow.tsx"

const pageRows = 100

const ForAll = () => {
  const settings = useAnswer({ key: ["proxies", "settings"], ask: (signal) => proxiesSettings({ signal }) })
  const { isBusy, run } = useWork(["proxies"])
  return (
    <section class="card stack">
      <h2>{words.forAll}</h2>
      <Answered of={settings} height={60}>
        {({ enabled, proxyId }) => (
          <>
            <p>{proxyId === null ? words.noneForAll : enabled ? words.allGo : words.allOff}</p>
            {proxyId !== null && (
              <div class="buttons">
                <button
                  type="button"
                  class="button"
                  disabled={isBusy.value}
                  onClick={() => void run(() => proxiesSetSettings({ body: { enabled: !enabled } }), words.changed)}
                >
                  {enabled ? words.switchOff : words.switchOn}
                </button>
              </div>
            )}
          </>
        )}
      </Answered>
    </section>
  )
}

const List = () => {
  const { query } = useLocation()
  const cursor = query["cursor"] ?? ""
  const assigning = useSignal<string | null>(null)
  const list = useAnswer({
    key: ["proxies", "list", cursor],
    ask: (signal) => proxiesList({ query: { limit: pageRows, cursor }, signal })
  })
  const assignments = useAnswer({
    key: ["proxies", "assignments"],
    ask: (signal) => proxiesAssignments({ signal })
  })
  const assigned = assignments.value.data?.assignments ?? []
  return (
    <Answered of={list} height={240}>
      {({ nextCursor, proxies }) =>
        proxies.length === 0 ? (
          <Empty text={words.none} />
        ) : (
          <>
            <Table label={words.list} columns={words.columns}>
              {proxies.map((proxy) => (
                <ProxyRow
                  key={proxy.id}
                  proxy={proxy}
                  assigned={assigned.filter(({ proxyId }) => proxyId === proxy.id)}
                  onAssign={setting(assigning, proxy.id)}
                />
              ))}
            </Table>
            <Pages name="cursor" before={cursor === "" ? null : ""} next={nextCursor} />
            <AssignProxy
              proxyId={assigning.value}
              name={proxies.find(({ id }) => id === assigning.value)?.name ?? ""}
              assigned={assigned.filter(({ proxyId }) => proxyId === assigning.value)}
              onClose={setting(assigning, null)}
            />
          </>
        )
      }
    </Answered>
  )
}

export const Proxies = () => {
  const isAdding = useSignal(false)
  return (
    <div class="stack">
      <Head title={words.title} hint={words.hint}>
        <AddButton opens={isAdding} label={words.add} />
      </Head>
      <CopyAs call={proxiesList} />
      <List />
      <ForAll />
      <AddProxy {...opening(isAdding)} />
    </div>
  )
}
