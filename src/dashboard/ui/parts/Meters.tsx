/** Limits with what is used of them, as texts and bars. */
import type { AnswerOf } from "../../api/client.ts"
import type { usersGet } from "../../api/calls.generated.ts"
import { words as own } from "../../words/me.ts"
import { words } from "../../words/person.ts"
import { count, money, short } from "../format.ts"
import { State } from "../State.tsx"
import { Time } from "../Time.tsx"

/** A limit of a person or a team as it is now. */
export type Meter = AnswerOf<typeof usersGet>["user"]["meters"][number]

interface BarProperties {
  readonly text: string
  readonly used: number
  readonly most: number
  readonly renewedAt: string
}

/** Shows what is used of a limit, as text and as a bar. */
export const Bar = ({ most, renewedAt, text, used }: BarProperties) => (
  <li>
    {used >= most ? <State kind="bad">{text}</State> : text}{" "}
    <meter min={0} max={most} value={Math.min(used, most)} aria-label={text} />{" "}
    <span class="quiet">
      {own.renewed} <Time at={renewedAt} />
    </span>
  </li>
)

/** Says in words what is used of a limit. */
export const textOf = ({ interval, limit, unit, used }: Meter): string => {
  if (unit === "usd") return own.spent(money(used), money(limit), own.budget[interval])
  return unit === "tokens"
    ? own.tokenLimit(short(used), short(limit), own.everything, own.budget[interval])
    : words.requests(count(used), count(limit), own.budget[interval])
}

/** The limits of a person or a team. */
export const Meters = ({ meters }: { readonly meters: ReadonlyArray<Meter> }) =>
  meters.length === 0 ? (
    <p>{words.noLimit}</p>
  ) : (
    <ul class="stack">
      {meters.map((meter) => (
        <Bar
          key={`${meter.unit} ${meter.interval}`}
          text={textOf(meter)}
          used={meter.used}
          most={meter.limit}
          renewedAt={meter.nextResetAt}
        />
      ))}
    </ul>
  )
