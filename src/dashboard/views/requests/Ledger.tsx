/** Shows what was reserved and booked for a request, call by call. */
import { useSignal } from "@preact/signals"
import { limitsLedger } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { money } from "../../ui/format.ts"
import { words as common } from "../../words/common.ts"
import { words } from "../../words/requests.ts"

const Entries = ({ id }: { readonly id: string }) => {
  const ledger = useAnswer({
    key: ["ledger", id],
    ask: (signal) => limitsLedger({ query: { requestId: id }, signal })
  })
  return (
    <Answered of={ledger} height={64}>
      {({ entries }) =>
        entries.length === 0 ? (
          <p class="quiet">{words.ledger.none}</p>
        ) : (
          <div class="scroller" tabIndex={0} role="region" aria-label={words.ledger.title}>
            <table class="plain-table">
              <thead>
                <tr>
                  <th>{words.ledger.call}</th>
                  <th>{words.ledger.state}</th>
                  <th class="number">{words.ledger.reserved}</th>
                  <th class="number">{words.ledger.booked}</th>
                  <th class="number">{words.ledger.price}</th>
                </tr>
              </thead>
              <tbody>
                {entries.map(({ attempt, id: entry, price, reservedUsd, settledUsd, state }) => (
                  <tr key={entry}>
                    <td>{attempt}</td>
                    <td>{words.ledger.states[state]}</td>
                    <td class="number">{money(reservedUsd)}</td>
                    <td class="number">{settledUsd === null ? common.nothing : money(settledUsd)}</td>
                    <td class="number">
                      {price === null
                        ? words.facts.unpriced
                        : `${money(price.input ?? 0)} / ${money(price.output ?? 0)}`}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )
      }
    </Answered>
  )
}

/** Asked for when it is opened. */
export const Ledger = ({ id }: { readonly id: string }) => {
  const isOpen = useSignal(false)
  return (
    <details
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open
      }}
    >
      <summary>{words.ledger.title}</summary>
      {isOpen.value && <Entries id={id} />}
    </details>
  )
}
