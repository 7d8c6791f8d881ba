/** The quotas of one account or of all, with when they are used up. */
import { useLocation } from "preact-iso"
import { usageQuotas } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Search } from "../../../ui/parts/Search.tsx"
import { Table } from "../../../ui/parts/Table.tsx"
import { State } from "../../../ui/State.tsx"
import { Time } from "../../../ui/Time.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { count, money, nowMs, percent, visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/account.ts"
import type { QuotaWindow } from "../connections/tightest.ts"

const { columns } = words.quotas

const amountOf = (value: number, unit: QuotaWindow["unit"]): string =>
  unit === "usd" ? money(value) : unit === "percent" ? percent(value / 100) : `${count(value)} ${unit}`

const Ends = ({ basis, exhaustedAt }: Pick<QuotaWindow, "basis" | "exhaustedAt">) => {
  if (exhaustedAt === null) return <span class="quiet">{words.quotas.never}</span>
  return (
    <State kind={Date.parse(exhaustedAt) <= nowMs() ? "bad" : "warning"}>
      <span>
        <Time at={exhaustedAt} /> {basis === "forecast" && words.quotas.forecast}
      </span>
    </State>
  )
}

const Row = ({ hasAccount, window }: { readonly window: QuotaWindow; readonly hasAccount: boolean }) => {
  const { connectionId, connectionName, model, provider, remaining, resetAt, source, total, unit, used } = window
  return (
    <tr>
      {hasAccount && (
        <td>
          <a href={placeOf(`providers/${encodeURIComponent(connectionId)}`)}>
            {visible(connectionName === "" ? provider : `${provider} / ${connectionName}`)}
          </a>
        </td>
      )}
      <td>
        {visible(window.window)} {model !== null && <code>{visible(model)}</code>}
      </td>
      <td>
        {total === null ? (
          amountOf(used, unit)
        ) : (
          <span class="left">
            <meter
              min={0}
              max={1}
              high={0.8}
              value={total === 0 ? 1 : Math.min(1, used / total)}
              aria-label={visible(window.window)}
            />{" "}
            {percent(total === 0 ? 1 : used / total)}
          </span>
        )}
      </td>
      <td>{remaining === null ? "–" : amountOf(remaining, unit)}</td>
      <td>{resetAt === null ? "–" : <Time at={resetAt} />}</td>
      <td>
        <Ends {...window} />
      </td>
      <td class="quiet">{words.quotas.sources[source]}</td>
    </tr>
  )
}

const idOf = ({ connectionId, model, unit, window }: QuotaWindow): string =>
  `${connectionId} ${window} ${unit} ${model ?? ""}`

/** Those that end first come first, then those with the least left. */
const byNeed = (one: QuotaWindow, other: QuotaWindow): number =>
  (one.exhaustedAt ?? "9").localeCompare(other.exhaustedAt ?? "9") ||
  (one.remainingPercentage ?? 100) - (other.remainingPercentage ?? 100)

const askAll = async (signal: AbortSignal) => (await usageQuotas({ signal })).windows

export const AccountQuotas = ({ connectionId }: { readonly connectionId: string }) => {
  const quotas = useAnswer({ key: ["quotas", "all"], ask: askAll })
  return (
    <section class="card stack" aria-labelledby="quotas">
      <h2 id="quotas">{words.quotas.title}</h2>
      <Answered of={quotas} height={64}>
        {(all) => {
          const its = all.filter((window) => window.connectionId === connectionId).toSorted(byNeed)
          return its.length === 0 ? (
            <p class="quiet">{words.quotas.none}</p>
          ) : (
            <Table
              label={words.quotas.title}
              columns={[columns.window, columns.used, columns.left, columns.renewed, columns.ends, columns.source]}
            >
              {its.map((window) => (
                <Row key={idOf(window)} window={window} hasAccount={false} />
              ))}
            </Table>
          )
        }}
      </Answered>
    </section>
  )
}

const mostRows = 200

export const Quotas = () => {
  const { query } = useLocation()
  const quotas = useAnswer({ key: ["quotas", "all"], ask: askAll })
  const wanted = (query["q"] ?? "").toLowerCase()
  return (
    <>
      <div class="filters">
        <Search label={words.quotas.search} />
      </div>
      <Answered of={quotas} height={200}>
        {(all) => {
          const fitting = all
            .filter(({ connectionName, model, provider, window }) =>
              `${provider} / ${connectionName} ${window} ${model ?? ""}`.toLowerCase().includes(wanted)
            )
            .toSorted(byNeed)
          return fitting.length === 0 ? (
            <div class="empty">
              <p>{words.quotas.noneAtAll}</p>
            </div>
          ) : (
            <div class="card stack">
              <Table label={words.quotas.title} columns={Object.values(columns)}>
                {fitting.slice(0, mostRows).map((window) => (
                  <Row key={idOf(window)} window={window} hasAccount />
                ))}
              </Table>
              {fitting.length > mostRows && <p class="quiet">{words.quotas.shown(mostRows, fitting.length)}</p>}
              <CopyAs call={usageQuotas} />
            </div>
          )
        }}
      </Answered>
    </>
  )
}
