/** By which proxy the calls of an account leave; changed at once, with a way back. */
import { proxiesAssign, proxiesList, providersUpdate } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { toast } from "../../../ui/toasts.tsx"
import { words } from "../../../words/account.ts"
import { words as common } from "../../../words/providers.ts"
import { doing } from "../actions.ts"
import type { Connection } from "../names.ts"

/** Runs a change and offers to take it back. */
const withUndo = (change: () => Promise<unknown>, back: () => Promise<unknown>): Promise<void> =>
  doing(async () => {
    await change()
    toast("good", words.proxy.changed, { label: common.undo, run: () => void doing(back) })
  })

export const Proxy = ({ connection }: { readonly connection: Connection }) => {
  const { id, proxyEnabled, proxyId, source } = connection
  const proxies = useAnswer({
    key: ["proxies", "to choose"],
    ask: (signal) => proxiesList({ query: { limit: 1_000 }, signal })
  })
  const assign = (to: string | null) => proxiesAssign({ body: { scope: "connection", scopeId: id, proxyId: to } })
  const enable = (isOn: boolean) => providersUpdate({ path: { id }, body: { proxyEnabled: isOn } })
  return (
    <section class="card stack" aria-labelledby="proxy">
      <div class="card-head">
        <h2 id="proxy">{words.proxy.title}</h2>
        <a href={placeOf("system/proxies")}>{words.proxy.system}</a>
      </div>
      <Answered of={proxies} height={64}>
        {(answer) => (
          <div class="field">
            <label for="account-proxy">{words.proxy.label}</label>
            <select
              id="account-proxy"
              class="input"
              aria-describedby="account-proxy-hint"
              value={proxyId ?? ""}
              onChange={({ currentTarget: { value } }) => {
                const next = value === "" ? null : value
                void withUndo(
                  () => assign(next),
                  () => assign(proxyId)
                )
              }}
            >
              <option value="">{words.proxy.none}</option>
              {answer.proxies.map(({ id: each, name }) => (
                <option key={each} value={each}>
                  {visible(name)}
                </option>
              ))}
            </select>
            <p id="account-proxy-hint" class="hint">
              {words.proxy.hint}
            </p>
          </div>
        )}
      </Answered>
      {source === "db" && (
        <label class="tick">
          <input
            type="checkbox"
            checked={proxyEnabled}
            onChange={({ currentTarget: { checked } }) => {
              void withUndo(
                () => enable(checked),
                () => enable(!checked)
              )
            }}
          />{" "}
          {words.proxy.enabled}
        </label>
      )}
    </section>
  )
}
