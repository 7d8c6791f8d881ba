/** Other names for what can be asked for. Each change names the version of the list that was seen; only a change of the same alias is a conflict. */
import { type Signal, useSignal } from "@preact/signals"
import type { ApiError } from "../../api/ApiError.ts"
import { type AnswerOf, tagOf, type Versioned } from "../../api/client.ts"
import { modelAliasesList, modelAliasesRemove, modelAliasesSet } from "../../api/calls.generated.ts"
import { queries, refresh, useAnswer } from "../../api/queries.ts"
import { typing } from "../../ui/handlers.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Failure } from "../../ui/Failure.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { Merge } from "../../ui/merge/Merge.tsx"
import { ModelInput } from "../../ui/ModelInput.tsx"
import { useSaving, type Version } from "../../ui/merge/saving.ts"
import { visible } from "../../ui/format.ts"
import { toast } from "../../ui/toasts.tsx"
import { words as common } from "../../words/common.ts"
import { words } from "../../words/routingParts.ts"

type List = AnswerOf<typeof modelAliasesList>

/** The model that an alias stands for; null: there is no such alias. */
interface Meaning {
  readonly model: string | null
}

const meaningIn = ({ aliases }: List, alias: string): Meaning => ({
  model: aliases.find((each) => each.alias === alias)?.model ?? null
})

/** Shows a change at once: who goes on from there goes on from what is stored. */
const keep = (alias: string, model: string | null, tag: string | null): void => {
  queries.setQueryData<Versioned<List>>(["aliases"], (before) => {
    if (before === undefined) return undefined
    const { aliases } = before.answer
    const isKnown = aliases.some((each) => each.alias === alias)
    const after =
      model === null
        ? aliases.filter((each) => each.alias !== alias)
        : isKnown
          ? aliases.map((each) => (each.alias === alias ? { alias, model } : each))
          : [...aliases, { alias, model }]
    return { answer: { ...before.answer, aliases: after }, tag: tag ?? before.tag }
  })
}

/** Others may change other aliases at the same time: that is no conflict, and it is tried again with their version. */
const mostTries = 4

const change = async (
  alias: string,
  { model }: Meaning,
  tag: string | undefined,
  before: Meaning
): Promise<Version<Meaning>> => {
  let ifMatch = tag
  for (let tries = 1; ; tries++) {
    try {
      const { tag: next } =
        model === null
          ? await modelAliasesRemove.versioned({ query: { alias }, ifMatch })
          : await modelAliasesSet.versioned({ body: { alias, model }, ifMatch })
      keep(alias, model, next)
      void refresh("aliases")
      return { value: { model }, tag: next }
    } catch (error) {
      const refused = error as ApiError
      const { current } = (refused.answer ?? {}) as { readonly current?: List }
      const isOther = current !== undefined && meaningIn(current, alias).model === before.model
      if (refused.status !== 412 || !isOther || refused.tag === null || tries >= mostTries) throw error
      ifMatch = refused.tag
    }
  }
}

const useAlias = (alias: string, onSaved: () => void) =>
  useSaving<Meaning>({
    send: (value, tag, base) => change(alias, value, tag, base),
    shown: (current) => meaningIn(current as List, alias),
    onSaved: ({ value }) => {
      onSaved()
      if (value.model !== null) toast("good", words.aliases.saved(visible(alias)))
    }
  })

interface RowProperties {
  readonly alias: string
  readonly model: string
  /** Version of the list. */
  readonly tag: string | null
}

const Row = ({ alias, model, tag }: RowProperties) => {
  /** The text that was typed, and the version of the list at which that began. */
  const edit = useSignal<{ readonly model: string; readonly base: Version<Meaning> } | null>(null)
  const done = (): void => {
    edit.value = null
  }
  const saving = useAlias(alias, done)
  const present: Version<Meaning> = { value: { model }, tag }
  const remove = async (): Promise<void> => {
    if (!(await saving.save(present, { model: null }))) return
    toast("good", words.aliases.removed(visible(alias)), {
      label: words.aliases.undo,
      run: () => {
        // Over the version that the list has then: one that another has added meanwhile stays.
        change(alias, { model }, tagOf(modelAliasesList), { model: null }).catch((error: Error) =>
          toast("bad", error.message)
        )
      }
    })
  }
  const typed = edit.value?.model ?? model
  const isChanged = edit.value !== null && typed.trim() !== edit.value.base.value.model && typed.trim() !== ""
  return (
    <tr>
      <th scope="row">{visible(alias)}</th>
      <td>
        <ModelInput
          label={words.aliases.change(visible(alias))}
          value={typed}
          onValue={(next) => {
            edit.value = { model: next, base: edit.value?.base ?? present }
          }}
        />
        {saving.error.value !== null && <Failure error={saving.error.value} />}
      </td>
      <td>
        <span class="buttons">
          <button
            type="button"
            class="button"
            disabled={!isChanged || saving.isBusy.value}
            onClick={() => void saving.save(edit.value?.base ?? present, { model: typed.trim() })}
          >
            {common.save}
          </button>
          <button
            type="button"
            class="button plain"
            aria-label={words.aliases.remove(visible(alias))}
            disabled={saving.isBusy.value}
            onClick={() => void remove()}
          >
            <Icon name="close" />
          </button>
        </span>
        <Merge name={alias} saving={saving} />
      </td>
    </tr>
  )
}

const Add = ({ list, tag }: { readonly list: List; readonly tag: string | null }) => {
  const alias = useSignal("")
  const model = useSignal("")
  const saving = useAlias(alias.value.trim(), () => {
    alias.value = ""
    model.value = ""
  })
  const submit = (event: Event): void => {
    event.preventDefault()
    void saving.save({ value: meaningIn(list, alias.value.trim()), tag }, { model: model.value.trim() })
  }
  return (
    <form class="card add-alias" onSubmit={submit}>
      <div class="field">
        <label for="alias-name">{words.aliases.alias}</label>
        <input
          id="alias-name"
          class="input"
          autocomplete="off"
          spellcheck={false}
          value={alias.value}
          onInput={typing(alias)}
        />
      </div>
      <div class="field">
        <label for="alias-model">{words.aliases.model}</label>
        <ModelInput
          id="alias-model"
          value={model.value}
          onValue={(value) => {
            model.value = value
          }}
        />
      </div>
      <button
        type="submit"
        class="button main-action"
        disabled={saving.isBusy.value || alias.value.trim() === "" || model.value.trim() === ""}
      >
        {words.aliases.add}
      </button>
      {saving.error.value !== null && <Failure error={saving.error.value} />}
      <Merge name={alias.value} saving={saving} />
    </form>
  )
}

/** Rows that are shown at once. */
const mostShown = 200

const Table = ({
  list,
  search,
  tag
}: {
  readonly list: List
  readonly tag: string | null
  readonly search: Signal<string>
}) => {
  const wanted = search.value.toLowerCase()
  const found = list.aliases.filter(({ alias, model }) => `${alias} ${model}`.toLowerCase().includes(wanted))
  return (
    <>
      <input
        class="input"
        type="search"
        aria-label={words.aliases.search}
        placeholder={words.aliases.search}
        value={search.value}
        onInput={typing(search)}
      />
      <div class="scroller card" tabIndex={0} role="region" aria-label={words.aliases.list}>
        <table class="plain-table">
          <thead>
            <tr>
              <th>{words.aliases.alias}</th>
              <th>{words.aliases.model}</th>
              <th>{words.aliases.actions}</th>
            </tr>
          </thead>
          <tbody>
            {found.slice(0, mostShown).map(({ alias, model }) => (
              <Row key={alias} alias={alias} model={model} tag={tag} />
            ))}
          </tbody>
        </table>
      </div>
      {found.length > mostShown && <p class="quiet">{words.aliases.more(found.length - mostShown)}</p>}
    </>
  )
}

export const Aliases = () => {
  const search = useSignal("")
  const aliases = useAnswer({ key: ["aliases"], ask: (signal) => modelAliasesList.versioned({ signal }) })
  return (
    <>
      <p class="quiet">{words.aliases.hint}</p>
      <Answered of={aliases} height={240}>
        {({ answer: list, tag }) => (
          <>
            <Add list={list} tag={tag} />
            {list.aliases.length === 0 ? (
              <div class="empty">
                <p>{words.aliases.none}</p>
              </div>
            ) : (
              <Table list={list} tag={tag} search={search} />
            )}
          </>
        )}
      </Answered>
    </>
  )
}
