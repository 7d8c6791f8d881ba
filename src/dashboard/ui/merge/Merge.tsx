/** Shows what another editor has stored beside what was edited here, field by field, and lets one of both be chosen for each. */
import { type Signal, useSignal } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { words } from "../../words/merge.ts"
import { Dialog } from "../dialogs/Dialog.tsx"
import { visible } from "../format.ts"
import { type Difference, differencesOf, mergedOf, nameOfPath, type Side, sideOf } from "./merge.ts"
import type { Saving } from "./saving.ts"
import { State } from "../State.tsx"

/** Longer values are shown by their beginning. */
const shownCharacters = 4_000

const textOf = (value: unknown): string => {
  if (value === undefined) return words.nothing
  if (typeof value === "string") return value
  if (!Array.isArray(value)) return JSON.stringify(value)
  return value.map((item) => (typeof item === "string" ? item : JSON.stringify(item))).join("\n")
}

type Choices = Signal<Readonly<Record<string, Side>>>

const chosen = (choices: Choices, difference: Difference): Side | null =>
  choices.value[nameOfPath(difference.path)] ?? sideOf(difference)

interface RowProperties {
  readonly difference: Difference
  readonly choices: Choices
}

const Row = ({ choices, difference }: RowProperties) => {
  const name = nameOfPath(difference.path)
  const side = chosen(choices, difference)
  return (
    <tr>
      <th scope="row">
        {visible(name)} {side === null && <State kind="warning">{words.choose}</State>}
      </th>
      {(["mine", "theirs"] as const).map((each) => (
        <td key={each}>
          <label class="choice">
            <input
              type="radio"
              name={`merge-${name}`}
              checked={side === each}
              aria-label={`${name}: ${words[each]}`}
              onChange={() => {
                choices.value = { ...choices.value, [name]: each }
              }}
            />
            <code>{visible(textOf(difference[each]).slice(0, shownCharacters))}</code>
          </label>
        </td>
      ))}
    </tr>
  )
}

interface Properties<A> {
  /** The version that both were made from. */
  readonly base: A
  readonly mine: A
  readonly theirs: A
  /** Saves what was chosen over what is stored now. */
  readonly save: (merged: A) => void
  readonly onClose: () => void
  readonly isBusy: boolean
}

const Compared = <A extends object>({ base, isBusy, mine, onClose, save, theirs }: Properties<A>) => {
  const choices = useSignal<Readonly<Record<string, Side>>>({})
  const differences = useMemo(() => differencesOf(base, mine, theirs), [base, mine, theirs])
  const open = differences.filter((difference) => chosen(choices, difference) === null)
  return (
    <>
      <p>{differences.length === 0 ? words.same : words.means}</p>
      {differences.length > 0 && (
        <div class="scroller" tabIndex={0} role="region" aria-label={words.field}>
          <table class="plain-table">
            <thead>
              <tr>
                <th>{words.field}</th>
                <th>{words.mine}</th>
                <th>{words.theirs}</th>
              </tr>
            </thead>
            <tbody>
              {differences.map((difference) => (
                <Row key={nameOfPath(difference.path)} difference={difference} choices={choices} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p role="status">{open.length === 0 ? words.allChosen : words.openCount(open.length)}</p>
      <div class="buttons">
        <button
          type="button"
          class="button main-action"
          disabled={open.length > 0 || isBusy}
          onClick={() => save(mergedOf(theirs, differences, (difference) => chosen(choices, difference) ?? "theirs"))}
        >
          {words.save}
        </button>
        <button type="button" class="button" onClick={onClose}>
          {words.back}
        </button>
      </div>
    </>
  )
}

/** The dialog over the page; there is none while nothing is to be merged. */
export const Merge = <A extends object>({ name, saving }: { readonly name: string; readonly saving: Saving<A> }) => {
  const conflict = saving.conflict.value
  const close = (): void => {
    saving.conflict.value = null
  }
  return (
    <Dialog title={words.title(visible(name))} isOpen={conflict !== null} onClose={close}>
      {conflict !== null && (
        <div class="merge stack">
          <Compared
            key={JSON.stringify(conflict.theirs)}
            base={conflict.base}
            mine={conflict.mine}
            theirs={conflict.theirs.value}
            save={(merged) => void saving.save(conflict.theirs, merged)}
            onClose={close}
            isBusy={saving.isBusy.value}
          />
        </div>
      )}
    </Dialog>
  )
}
