/** Shows which budgets and quotas are used up next, with the time. */
import { keysList, limitsBudget, usageQuotas } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { State } from "../../ui/State.tsx"
import { Time } from "../../ui/Time.tsx"
import { nowMs, percent, visible } from "../../ui/format.ts"
import { placeOf } from "../../ui/address/places.ts"
import { words } from "../../words/home.ts"
import { endingsOf } from "./next.ts"

const most = 5
const everyMs = 60_000

const ask = async (signal: AbortSignal) => {
  const [budgets, quotas] = await Promise.all([limitsBudget({ signal }), usageQuotas({ signal })])
  const all = "budgets" in budgets ? budgets.budgets : []
  // Names are asked for only where there is something to name.
  const { keys } =
    all.length === 0 ? { keys: [] } : await keysList({ query: { view: "summary", limit: 1_000 }, signal })
  const names = new Map(keys.map(({ id, name }) => [id, name]))
  return endingsOf(all, quotas.windows, (id) => names.get(id) ?? id, nowMs())
}

export const Next = () => {
  const endings = useAnswer({ key: ["endings"], ask, everyMs })
  return (
    <section class="card" aria-labelledby="next">
      <h2 id="next">{words.next.title}</h2>
      <Answered of={endings} height={64}>
        {(all) =>
          all.length === 0 ? (
            <State kind="good">{words.next.none}</State>
          ) : (
            <ul class="endings">
              {all.slice(0, most).map(({ _tag, atMs, id, name, renewedAt, subjectId, unit, used, window }) => (
                <li key={id}>
                  <a href={placeOf(`${_tag === "Budget" ? "keys" : "providers"}/${encodeURIComponent(subjectId)}`)}>
                    {visible(name)}
                  </a>
                  <span class="quiet">
                    {visible(_tag === "Budget" ? words.next.budget(window) : words.next.quota(window, unit))}
                  </span>
                  <span class="used">
                    <meter min={0} max={1} high={0.8} value={used} aria-label={`${visible(name)} ${visible(window)}`} />{" "}
                    {words.next.used(percent(used))}
                  </span>
                  <State kind={atMs <= nowMs() ? "bad" : "warning"}>
                    <span>
                      {words.next.over} <Time at={new Date(atMs).toISOString()} />
                    </span>
                  </State>
                  {renewedAt !== null && (
                    <span class="quiet">
                      {words.next.renewed} <Time at={renewedAt} />
                    </span>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </section>
  )
}
