/** Shows what a key spends: its budget as it burns down, its month by model, and its sessions. */
import { limitsSetBudget, telemetrySessions, usageHistoryBreakdown } from "../../../api/calls.generated.ts"
import { isAdministrator, reachOf } from "../../../api/rights.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { Time } from "../../../ui/Time.tsx"
import { count, money, nowMs, visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/keys.ts"
import { words as moneyWords } from "../../../words/keysMoney.ts"
import { fieldsOf, type Standing } from "../budgets.ts"
import { monthOf } from "../money/period.ts"
import { rangeOf } from "../money/useMoney.ts"
import { BurnDown } from "./BurnDown.tsx"

const everyMs = 60_000
const mostModels = 10

const ByModel = ({ keyId }: { readonly keyId: string }) => {
  const query = { ...rangeOf(monthOf(nowMs())), by: "model", top: mostModels, apiKeyId: keyId } as const
  const pairs = useAnswer({
    key: ["money", "key", query],
    ask: (signal) => usageHistoryBreakdown({ query, signal }),
    everyMs
  })
  return (
    <section class="card stack" aria-label={words.page.byModel}>
      <h2>{words.page.byModel}</h2>
      <Answered of={pairs} height={120}>
        {({ rest, rows, total }) =>
          total.requests === 0 ? (
            <p class="quiet">{words.page.nothing}</p>
          ) : (
            <>
              <p>
                <strong class="big">{words.page.monthSpent(money(total.costUsd))}</strong>{" "}
                {total.cacheSavedUsd > 0 && (
                  <span class="quiet" title={moneyWords.savedHint}>
                    {moneyWords.saved(money(total.cacheSavedUsd))}
                  </span>
                )}
              </p>
              <ul class="shares">
                {rows.map(({ costUsd, key, name, requests }) => (
                  <li key={key}>
                    <span class="name">{visible(name ?? key ?? moneyWords.none.model)}</span>
                    <span class="share-bar" aria-hidden="true">
                      <span style={{ width: `${total.costUsd === 0 ? 0 : (100 * costUsd) / total.costUsd}%` }} />
                    </span>
                    <span class="number">{money(costUsd)}</span>
                    <span class="number quiet">{count(requests)}</span>
                  </li>
                ))}
                {rest.requests > 0 && (
                  <li>
                    <span class="name quiet">{moneyWords.others}</span>
                    <span class="share-bar" aria-hidden="true" />
                    <span class="number">{money(rest.costUsd)}</span>
                    <span class="number quiet">{count(rest.requests)}</span>
                  </li>
                )}
              </ul>
            </>
          )
        }
      </Answered>
      <CopyAs call={usageHistoryBreakdown} query={query} />
    </section>
  )
}

const Sessions = ({ keyId }: { readonly keyId: string }) => {
  const sessions = useAnswer({
    key: ["telemetry", "sessions"],
    ask: (signal) => telemetrySessions({ signal }),
    everyMs
  })
  return (
    <section class="card stack" aria-label={words.page.sessions}>
      <h2>{words.page.sessions}</h2>
      <Answered of={sessions} height={64}>
        {({ sessions: all }) => {
          const own = all.filter(({ apiKeyId }) => apiKeyId === keyId)
          return own.length === 0 ? (
            <p class="quiet">{words.page.noSessions}</p>
          ) : (
            <div class="scroller" tabIndex={0} role="region" aria-label={words.page.sessions}>
              <table class="plain-table">
                <thead>
                  <tr>
                    <th>{words.page.session}</th>
                    <th>{words.page.model}</th>
                    <th class="number">{words.page.count}</th>
                    <th>{words.page.seen}</th>
                  </tr>
                </thead>
                <tbody>
                  {own.map(({ id, lastUsedAt, model, provider, requests }) => (
                    <tr key={id}>
                      <td>
                        <code>{visible(id)}</code>
                      </td>
                      <td>{model === null ? "–" : visible(`${provider ?? ""}/${model}`)}</td>
                      <td class="number">{count(requests)}</td>
                      <td>
                        <Time at={lastUsedAt} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }}
      </Answered>
    </section>
  )
}

export const Spending = ({ keyId, standing }: { readonly keyId: string; readonly standing: Standing }) => (
  <>
    {standing.budget === null ? (
      <div class="empty">
        <p>{words.page.noBudget}</p>
        {reachOf("setLimits") !== "none" && (
          <a class="button" href={placeOf(`keys/${encodeURIComponent(keyId)}/limits`)}>
            {words.setBudget}
          </a>
        )}
      </div>
    ) : (
      <>
        <div class="burns">
          {standing.windows.map((window) => (
            <BurnDown key={window.interval} keyId={keyId} window={window} />
          ))}
        </div>
        <CopyAs call={limitsSetBudget} body={{ apiKeyId: keyId, ...fieldsOf(standing.budget) }} />
      </>
    )}
    <div class="halves">
      <ByModel keyId={keyId} />
      {isAdministrator() && <Sessions keyId={keyId} />}
    </div>
  </>
)
