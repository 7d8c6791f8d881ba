/** The filter as it is typed, with its names and the values that the log has for them as proposals. */
import { useSignal } from "@preact/signals"
import { usageFacets } from "../../api/calls.generated.ts"
import { isAdministrator } from "../../api/rights.ts"
import { useAnswer } from "../../api/queries.ts"
import { Combobox, type Proposal } from "../../ui/Combobox.tsx"
import { short, visible } from "../../ui/format.ts"
import { words } from "../../words/requests.ts"
import { completionOf, filterNames, withCompletion } from "./filter.ts"

interface Properties {
  readonly value: string
  readonly onInput: (text: string) => void
  readonly wrong: string
}

const shownValues = 20

export const FilterField = ({ onInput, value, wrong }: Properties) => {
  const isUsed = useSignal(false)
  const at = completionOf(value)
  const facets = useAnswer({
    key: ["facets"],
    when: isAdministrator() && isUsed.value && at.field !== null,
    ask: (signal) => usageFacets({ signal })
  })
  const named: ReadonlyArray<Proposal> = filterNames
    .filter((name) => at.field === null && at.text !== "" && name.startsWith(at.text.toLowerCase()))
    .map((name) => ({ id: `${name}:`, text: `${name}:`, hint: words.filters[name] ?? "" }))
  const all = facets.value.data?.facets as
    | Readonly<
        Record<string, ReadonlyArray<{ readonly value: string; readonly name: string | null; readonly count: number }>>
      >
    | undefined
  const values = at.field === null ? [] : (all?.[at.field] ?? [])
  const wanted = at.text.toLowerCase()
  const known: ReadonlyArray<Proposal> = values
    .filter(({ name, value: one }) => `${one} ${name ?? ""}`.toLowerCase().includes(wanted) && one !== at.text)
    .slice(0, shownValues)
    .map(({ count, name, value: one }) => ({
      id: `${at.name}:${/\s/.test(one) ? `"${one.replaceAll('"', "")}"` : one} `,
      text: visible(name ?? one),
      hint: words.rows(count, short(count))
    }))
  return (
    <div class="field filter">
      <Combobox
        id="filter"
        label={words.filter}
        placeholder={words.filterHint}
        value={value}
        proposals={[...named, ...known]}
        isInvalid={wrong !== ""}
        describedBy="filter-problem"
        onInput={(text) => {
          isUsed.value = true
          onInput(text)
        }}
        onTake={({ id }) => onInput(withCompletion(value, id))}
      />
      <p id="filter-problem" class="problem" role="status">
        {wrong === "" ? "" : words.wrong(wrong)}
      </p>
    </div>
  )
}
