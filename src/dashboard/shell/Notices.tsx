/** Says what holds of the page as a whole: the gateway has another dashboard, or the clocks are apart. */
import { clockDifferenceMs } from "../api/clock.ts"
import { builtState } from "../live/build.ts"
import { Icon } from "../ui/Icon.tsx"
import { State } from "../ui/State.tsx"
import { duration } from "../ui/format.ts"
import { words } from "../words/shell.ts"
import { reload } from "./typed.ts"

/** A smaller difference is not shown. */
const toldFromMs = 30_000

const Clock = () => {
  const differenceMs = clockDifferenceMs()
  if (Math.abs(differenceMs) <= toldFromMs) return null
  const by = duration(Math.abs(differenceMs))
  return (
    <p class="notice">
      <State kind="warning">{differenceMs > 0 ? words.clock.behind(by) : words.clock.ahead(by)}</State>
    </p>
  )
}

const Build = () => {
  if (builtState.value === "same") return null
  return (
    <p class="notice">
      <State kind="trial">{builtState.value === "other" ? words.newVersion : words.noVersion}</State>
      {builtState.value === "other" && (
        <button type="button" class="button" onClick={reload}>
          <Icon name="next" /> {words.reload}
        </button>
      )}
    </p>
  )
}

export const Notices = () => (
  <div class="notices" role="status">
    <Build />
    <Clock />
  </div>
)
