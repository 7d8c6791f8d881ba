/** Closes a month, and lists those that were closed. */
import { billsClose, billsClosed } from "../../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { money, monthName, visible } from "../../../ui/format.ts"
import { DangerButton } from "../../../ui/parts/DangerButton.tsx"
import { Table } from "../../../ui/parts/Table.tsx"
import { State } from "../../../ui/State.tsx"
import { Time } from "../../../ui/Time.tsx"
import { toast } from "../../../ui/toasts.tsx"
import { words } from "../../../words/monthBill.ts"
import { useAddress } from "../address.ts"

interface Properties {
  /** Such as `2026-11`. */
  readonly month: string
  readonly timezone: string
}

/** Closes a month, which cannot be taken back: the month is typed first. */
export const CloseMonth = ({ month, timezone }: Properties) => (
  <DangerButton
    verb={words.close}
    title={words.closeTitle(monthName(month))}
    means={words.closeMeans}
    name={month}
    run={async () => {
      await billsClose({ body: { month, timezone } })
      toast("good", words.isClosed)
      void refresh("bills")
    }}
  />
)

export const ClosedMonths = () => {
  const { to } = useAddress()
  const closed = useAnswer({ key: ["bills", "closed"], ask: (signal) => billsClosed({ signal }) })
  return (
    <section class="card stack screen-only" aria-label={words.allClosed}>
      <h2>{words.allClosed}</h2>
      <Answered of={closed} height={64}>
        {({ bills }) =>
          bills.length === 0 ? (
            <p class="quiet">{words.noneClosed}</p>
          ) : (
            <Table label={words.allClosed} columns={words.closedColumns} numbers={[3, 4]}>
              {bills.toReversed().map(({ closedAt, correctionsUsd, costUsd, intact, month, timezone }) => (
                <tr key={`${month} ${timezone}`}>
                  <th scope="row">
                    <a href={to({ month, zone: timezone })}>{monthName(month)}</a>
                  </th>
                  <td>{visible(timezone)}</td>
                  <td>
                    <Time at={closedAt} />
                  </td>
                  <td class="number">{money(costUsd)}</td>
                  <td class="number">{money(correctionsUsd)}</td>
                  <td>
                    <State kind={intact ? "good" : "bad"}>{intact ? words.good : words.bad}</State>
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Answered>
    </section>
  )
}
