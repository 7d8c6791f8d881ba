/** Ways to the month before and behind the one that is shown, which is in the address. */
import { Icon } from "../../../ui/Icon.tsx"
import { monthName, nowMs } from "../../../ui/format.ts"
import { words } from "../../../words/keysMoney.ts"
import { useAddress } from "../address.ts"
import { type Month, monthOf, movedBy, textOfMonth } from "./period.ts"

export const Months = ({ month }: { readonly month: Month }) => {
  const { to } = useAddress()
  const now = textOfMonth(monthOf(nowMs()))
  const next = textOfMonth(movedBy(month, 1))
  return (
    <span class="months">
      <a class="button plain" href={to({ month: textOfMonth(movedBy(month, -1)) })} aria-label={words.before}>
        <Icon name="previous" />
      </a>
      <span aria-live="polite">{monthName(textOfMonth(month))}</span>
      {textOfMonth(month) === now ? (
        <span class="button plain" aria-hidden="true" />
      ) : (
        <a class="button plain" href={to({ month: next === now ? "" : next })} aria-label={words.after}>
          <Icon name="next" />
        </a>
      )}
    </span>
  )
}
