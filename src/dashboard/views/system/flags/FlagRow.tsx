/** One flag: a switch or a choice, who set it, and what it would be otherwise. */
import { type AnswerOf, tagOf } from "../../../api/client.ts"
import { flagsList, flagsSet } from "../../../api/calls.generated.ts"
import { sendOver } from "../../../ui/merge/resend.ts"
import { Prose } from "../../../ui/Prose.tsx"
import { State } from "../../../ui/State.tsx"
import { visible } from "../../../ui/format.ts"
import { toast } from "../../../ui/toasts.tsx"
import { words } from "../../../words/system/flags.ts"
import { words as parts } from "../../../words/parts.ts"
import { useWork, type Work } from "../../../ui/useWork.ts"

export type Flag = AnswerOf<typeof flagsList>["flags"][number]

const isOn = (value: string): boolean => /^(?:true|1|yes|on|enabled)$/i.test(value)

const named = ({ type }: Pick<Flag, "type">, value: string): string =>
  type === "boolean" ? (isOn(value) ? words.on : words.off) : value

type Seen = Pick<Flag, "effectiveValue" | "source">

/** Sets a flag that is still as it was seen; null: to what it is without a value of its own. Other flags may have changed since. */
const putOver = ({ key }: Flag, value: string | null, seen: Seen, tag: string | undefined) =>
  sendOver(
    tag,
    (ifMatch) => flagsSet.versioned({ body: { key, ...(value === null ? {} : { value }) }, ifMatch }),
    (current) => {
      const now = (current as AnswerOf<typeof flagsList>).flags.find((each) => each.key === key)
      return now?.effectiveValue === seen.effectiveValue && now.source === seen.source
    }
  )

/** Puts a value in force. The way back is in the message. */
const change = (flag: Flag, value: string | null, run: Work["run"]): void =>
  void run(async () => {
    const { answer, tag } = await putOver(flag, value, flag, tagOf(flagsList))
    const { effectiveValue, previousSource, previousValue } = answer
    const said = value === null ? words.cleared(flag.key) : words.set(flag.key, named(flag, effectiveValue))
    const before = previousSource === "db" ? previousValue : null
    const seen: Seen = { effectiveValue, source: answer.source }
    toast("good", said, {
      label: parts.undo,
      run: () => void run(() => putOver(flag, before, seen, tag ?? undefined))
    })
  })

const Value = ({ flag, work }: { readonly flag: Flag; readonly work: Work }) => {
  const { effectiveValue, enumValues, key, label } = flag
  const id = `flag-${key}`
  if (enumValues === null) {
    return (
      <label class="tick" for={id}>
        <input
          id={id}
          type="checkbox"
          role="switch"
          aria-label={label}
          checked={isOn(effectiveValue)}
          disabled={work.isBusy.value}
          onChange={({ currentTarget }) => {
            change(flag, String(currentTarget.checked), work.run)
            // What is shown is what the gateway says.
            currentTarget.checked = isOn(effectiveValue)
          }}
        />{" "}
        {named(flag, effectiveValue)}
      </label>
    )
  }
  return (
    <select
      id={id}
      class="input"
      aria-label={label}
      value={effectiveValue}
      disabled={work.isBusy.value}
      onChange={({ currentTarget }) => change(flag, currentTarget.value, work.run)}
    >
      {enumValues.map((value) => (
        <option key={value} value={value}>
          {value}
        </option>
      ))}
    </select>
  )
}

const Marks = ({ flag: { pendingRestart, requiresRestart, waitsFor, warningLevel } }: { readonly flag: Flag }) => (
  <span class="marks">
    {pendingRestart ? (
      <State kind="warning">{words.pending}</State>
    ) : (
      requiresRestart && (
        <State kind="quiet" icon="wait">
          {words.restart}
        </State>
      )
    )}
    {warningLevel !== "none" && (
      <State kind={warningLevel === "danger" ? "bad" : "warning"} icon="warning">
        {warningLevel === "danger" ? words.danger : words.caution}
      </State>
    )}
    {waitsFor !== null && <State kind="quiet">{words.waits(visible(waitsFor))}</State>}
  </span>
)

export const FlagRow = ({ flag }: { readonly flag: Flag }) => {
  const work = useWork(["flags"])
  const { defaultValue, description, key, label, source } = flag
  return (
    <li class="setting">
      <div class="setting-about">
        <strong>{label}</strong> <code class="quiet">{key}</code>
        <p class="quiet">
          <Prose text={description} />
        </p>
        <Marks flag={flag} />
      </div>
      <div class="setting-value">
        <Value flag={flag} work={work} />
        <span class="setting-source">
          <State kind={source === "default" ? "quiet" : "trial"}>{words.sources[source]}</State>
          {source !== "default" && <span class="quiet">{words.usual(named(flag, defaultValue))}</span>}
        </span>
      </div>
      <div class="buttons">
        {source === "db" && (
          <button
            type="button"
            class="button plain"
            aria-label={`${words.reset}: ${label}`}
            disabled={work.isBusy.value}
            onClick={() => change(flag, null, work.run)}
          >
            {words.reset}
          </button>
        )}
      </div>
    </li>
  )
}
