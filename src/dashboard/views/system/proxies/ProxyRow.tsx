/** One proxy: how it is reached, how it did lately, what it is assigned to, and a test of it. Its password is never shown. */
import { useSignal } from "@preact/signals"
import type { AnswerOf } from "../../../api/client.ts"
import {
  type proxiesAssignments,
  type proxiesList,
  proxiesRemove,
  proxiesTest,
  proxiesUpdate
} from "../../../api/calls.generated.ts"
import { refresh } from "../../../api/queries.ts"
import { State } from "../../../ui/State.tsx"
import { duration, visible } from "../../../ui/format.ts"
import { words as shared } from "../../../words/parts.ts"
import { words } from "../../../words/system/proxies.ts"
import { DangerButton } from "../../../ui/parts/DangerButton.tsx"
import { switchWith, useWork } from "../../../ui/useWork.ts"

type Proxy = AnswerOf<typeof proxiesList>["proxies"][number]
export type Assignment = AnswerOf<typeof proxiesAssignments>["assignments"][number]
type Tested = AnswerOf<typeof proxiesTest>

const Health = ({ proxy: { health, isActive, usable } }: { readonly proxy: Proxy }) => {
  if (!isActive) return <State kind="quiet">{words.off}</State>
  if (!usable) return <State kind="bad">{words.unusable}</State>
  if (health.state === "working") {
    return (
      <State kind="good">
        {words.works}
        {health.latencyMs === null ? "" : `, ${duration(health.latencyMs)}`}
      </State>
    )
  }
  return health.state === "failing" ? (
    <State kind="bad">{words.fails}</State>
  ) : (
    <State kind="quiet">{words.unused}</State>
  )
}

const Test = ({ tested }: { readonly tested: Tested }) =>
  tested.ok ? (
    <State kind="good">
      {words.tested(duration(tested.latencyMs), visible(tested.egressIp ?? words.unknownAddress))}
    </State>
  ) : (
    <span class="problem" role="alert">
      {visible(tested.error ?? words.fails)}
    </span>
  )

interface Properties {
  readonly proxy: Proxy
  readonly assigned: ReadonlyArray<Assignment>
  readonly onAssign: () => void
}

const userOf = ({ password, username }: Proxy): string =>
  username === null ? "" : `${visible(username)}${password === null ? "" : ":****"}@`

export const ProxyRow = ({ assigned, onAssign, proxy }: Properties) => {
  const tested = useSignal<Tested | null>(null)
  const work = useWork(["proxies"])
  const { isBusy, run } = work
  const test = async (): Promise<void> => {
    tested.value = null
    tested.value = await proxiesTest({ body: { proxyId: proxy.id } })
  }
  const setActive = (isActive: boolean) => proxiesUpdate({ body: { id: proxy.id, isActive } })
  const change = (): Promise<void> =>
    switchWith(work, proxy.isActive, setActive, {
      on: words.switchedOn(visible(proxy.name)),
      off: words.switchedOff(visible(proxy.name))
    })
  return (
    <tr>
      <td>
        {visible(proxy.name)}
        {proxy.source === "free" && (
          <>
            <br />
            <State kind="warning">{words.free}</State>
          </>
        )}
      </td>
      <td>
        <code>
          {proxy.type}://{userOf(proxy)}
          {visible(proxy.host)}:{proxy.port}
        </code>
        {proxy.family !== "auto" && <span class="quiet"> {words.only(proxy.family)}</span>}
      </td>
      <td>
        <Health proxy={proxy} />
        {tested.value !== null && (
          <>
            <br />
            <Test tested={tested.value} />
          </>
        )}
      </td>
      <td>
        {assigned.length === 0 ? (
          <span class="quiet">{words.nothing}</span>
        ) : (
          assigned.map(({ scope, scopeId }) => (
            <div key={`${scope} ${scopeId}`}>
              {words.scopes[scope]} {scopeId !== null && <code>{visible(scopeId)}</code>}
            </div>
          ))
        )}
      </td>
      <td>
        <span class="buttons">
          <button type="button" class="button" disabled={isBusy.value} onClick={() => void run(test)}>
            {isBusy.value ? shared.wait : words.test}
          </button>
          <button type="button" class="button" onClick={onAssign}>
            {words.assign}
          </button>
          <button type="button" class="button" disabled={isBusy.value} onClick={() => void change()}>
            {proxy.isActive ? words.switchOff : words.switchOn}
          </button>
          <DangerButton
            title={words.removeTitle(visible(proxy.name))}
            means={words.removeMeans}
            name={proxy.name}
            verb={words.remove}
            run={async () => {
              await proxiesRemove({ query: { id: proxy.id } })
              void refresh("proxies")
            }}
          />
        </span>
      </td>
    </tr>
  )
}
