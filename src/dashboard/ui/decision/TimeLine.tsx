/** Draws where the time of a request went: each part at its place, as long as it took. */
import { duration, visible } from "../format.ts"
import { words } from "../../words/requests.ts"
import { type TimedCall, type TimePart, timeParts, type WholeTime } from "./timeParts.ts"

const nameOf = ({ kind, call }: TimePart): string => {
  if (call === null) return kind === "after" ? words.time.after : words.time.before
  const target = visible(`${call.provider}/${call.model}`)
  switch (kind) {
    case "firstToken":
      return words.time.first(target)
    case "answer":
      return words.time.answer
    case "call":
      return target
    default:
      return `${target} ${call.status ?? visible(call.reason)}`
  }
}

interface Properties {
  readonly calls: ReadonlyArray<TimedCall>
  /** Null: only the calls are known. */
  readonly whole: WholeTime | null
}

export const TimeLine = ({ calls, whole }: Properties) => {
  const { parts, wholeMs } = timeParts(calls, whole)
  return (
    <ol class="time-line" aria-label={words.timeline}>
      {parts.map((part) => (
        <li
          key={`${part.kind} ${part.fromMs} ${part.call?.connectionId ?? ""}`}
          title={`${nameOf(part)} ${duration(part.forMs)}`}
        >
          <span class="time-name">{nameOf(part)}</span>
          <span class="time-track" aria-hidden="true">
            <span
              class={`time-part ${part.kind}`}
              style={{
                insetInlineStart: `${Math.min(99.5, (part.fromMs / wholeMs) * 100)}%`,
                inlineSize: `max(3px, ${(part.forMs / wholeMs) * 100}%)`
              }}
            />
          </span>
          <span class="number">{duration(part.forMs)}</span>
        </li>
      ))}
    </ol>
  )
}
