/** The form of a combo with its trial beside it. A change by another editor meanwhile is shown, and merged when it is saved. */
import { type Signal, useSignal } from "@preact/signals"
import { useLocation } from "preact-iso"
import { useEffect, useMemo } from "preact/hooks"
import { combosRemove } from "../../../api/calls.generated.ts"
import { refresh } from "../../../api/queries.ts"
import type { FieldSchema } from "../../../forms/operations.ts"
import { useOperation } from "../../../forms/useOperation.ts"
import { opening, setting } from "../../../ui/handlers.ts"
import { Danger } from "../../../ui/dialogs/Danger.tsx"
import { Failure } from "../../../ui/Failure.tsx"
import { Merge } from "../../../ui/merge/Merge.tsx"
import { isSame } from "../../../ui/merge/merge.ts"
import { type Saving, useSaving, type Version } from "../../../ui/merge/saving.ts"
import { State } from "../../../ui/State.tsx"
import { visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { toast } from "../../../ui/toasts.tsx"
import { words as forms } from "../../../words/forms.ts"
import { words as merging } from "../../../words/merge.ts"
import { words } from "../../../words/routing.ts"
import type { Editable } from "../editable.ts"
import { Trial } from "../trial/Trial.tsx"
import { Config } from "./Config.tsx"
import { type Draft, draftOf, type Read, readDraft } from "./draft.ts"
import { drafts, type Kept, newCombo } from "./drafts.ts"
import { StrategyField } from "./Strategy.tsx"
import { Targets } from "./Targets.tsx"

interface Properties {
  /** Null: it is new. */
  readonly id: string | null
  /** The version that is stored, as far as this page knows. */
  readonly version: Version<Editable>
  readonly shown: (current: unknown) => Editable
  readonly send: (value: Editable, tag: string | undefined, base: Editable) => Promise<Version<Editable>>
}

/** The edit of a combo, as it was left when it was edited before. */
const useDraft = ({ id, version }: Properties, schema: FieldSchema | null) => {
  const name = id ?? newCombo
  const kept = useSignal<Kept>(drafts.get(name) ?? { base: version, draft: draftOf(version.value) })
  const { base, draft } = kept.value
  const read = useMemo(() => readDraft(draft, base.value, schema), [draft, base, schema])
  const isEdited = !isSame(read.value, base.value) || isWrong(read)
  const adopt = (stored: Version<Editable>): void => {
    kept.value = { base: stored, draft: draftOf(stored.value) }
  }
  useEffect(() => {
    if (isEdited) drafts.set(name, kept.value)
    else drafts.delete(name)
  }, [isEdited, kept.value, name])
  // What is stored meanwhile is taken over only where nothing was typed.
  useEffect(() => {
    if (!isEdited && version.tag !== base.tag) adopt(version)
  }, [version.tag, isEdited])
  const change = (part: Partial<Draft>): void => {
    kept.value = { base, draft: { ...draft, ...part } }
  }
  return { base, draft, read, isEdited, adopt, change }
}

const isWrong = ({ wrong }: Read): boolean => Object.keys(wrong).length > 0

/** Problems by their field: what cannot be read, and what the API has refused. */
const problemsOf = (read: Read, saving: Saving<Editable>): Readonly<Record<string, string>> => ({
  ...Object.fromEntries((saving.error.value?.details ?? []).map(({ field, message }) => [field, message])),
  ...Object.fromEntries(Object.entries(read.wrong).map(([path, why]) => [path, forms.wrong[why]]))
})

const targetProblems = (problems: Readonly<Record<string, string>>): ReadonlyMap<number, string> => {
  const found = new Map<number, string>()
  for (const [field, message] of Object.entries(problems)) {
    const place = /^targets[.[](\d+)/u.exec(field)?.[1]
    if (place !== undefined) found.set(Number(place), message)
  }
  return found
}

const configProblems = (problems: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(problems).flatMap(([field, message]) =>
      field.startsWith("config.") ? [[field.slice("config.".length), message]] : []
    )
  )

interface FormProperties {
  readonly draft: Draft
  readonly schema: FieldSchema | null
  readonly problems: Readonly<Record<string, string>>
  readonly change: (part: Partial<Draft>) => void
}

const Fields = ({ change, draft, problems, schema }: FormProperties) => (
  <>
    <div class="field">
      <label for="combo-name">{words.combo.name}</label>
      <input
        id="combo-name"
        class="input"
        autocomplete="off"
        spellcheck={false}
        aria-describedby="combo-name-hint"
        aria-invalid={problems["name"] !== undefined}
        value={draft.name}
        onInput={(event) => change({ name: event.currentTarget.value })}
      />
      <p id="combo-name-hint" class="hint">
        {words.combo.nameHint}
      </p>
      {problems["name"] !== undefined && (
        <p class="problem" role="alert">
          {problems["name"]}
        </p>
      )}
    </div>
    <StrategyField value={draft.strategy} onValue={(strategy) => change({ strategy })} />
    <Targets
      targets={draft.targets}
      hasWeights={draft.strategy === "weighted"}
      problems={targetProblems(problems)}
      onTargets={(targets) => change({ targets })}
    />
    {schema !== null && (
      <Config
        schema={schema}
        strategy={draft.strategy}
        config={draft.config}
        typed={draft.typed}
        problems={configProblems(problems)}
        onTyped={(typed) => change({ typed })}
      />
    )}
    <label class="choice">
      <input
        type="checkbox"
        checked={draft.isActive}
        onChange={(event) => change({ isActive: event.currentTarget.checked })}
      />
      {words.combo.active}
    </label>
  </>
)

const Head = ({
  id,
  isEdited,
  name
}: {
  readonly id: string | null
  readonly name: string
  readonly isEdited: boolean
}) => (
  <>
    <p>
      <a href={placeOf("routing")}>{words.combo.back}</a>
    </p>
    <header class="view-head">
      <h1>{id === null ? words.combo.newTitle : visible(name)}</h1>
      {isEdited && <State kind="trial">{words.combo.unsaved}</State>}
      {id !== null && (
        <a class="button" href={placeOf(`routing/new?from=${encodeURIComponent(id)}`)}>
          {words.combo.clone}
        </a>
      )}
    </header>
  </>
)

const Remove = ({
  id,
  isOpen,
  name
}: {
  readonly id: string
  readonly name: string
  readonly isOpen: Signal<boolean>
}) => {
  const { route } = useLocation()
  return (
    <Danger
      title={words.combo.removeTitle(visible(name))}
      means={words.combo.removeMeans(visible(name))}
      name={name}
      verb={words.combo.remove}
      {...opening(isOpen)}
      run={async () => {
        await combosRemove({ path: { id } })
        drafts.delete(id)
        toast("good", words.combo.removed(visible(name)))
        void refresh("combos")
        route(placeOf("routing"))
      }}
    />
  )
}

export const Editor = (properties: Properties) => {
  const { id, send, shown, version } = properties
  const schema = useOperation("combosUpdate").value.data?.body?.properties?.["config"] ?? null
  const { adopt, base, change, draft, isEdited, read } = useDraft(properties, schema)
  const isRemoving = useSignal(false)
  const saving = useSaving<Editable>({
    send,
    shown,
    onSaved: (saved) => {
      if (id !== null) adopt(saved)
      toast("good", words.combo.saved(visible(saved.value.name)))
    }
  })
  const isElsewhere = isEdited && id !== null && version.tag !== base.tag && !isSame(version.value, base.value)
  const submit = (event: Event): void => {
    event.preventDefault()
    if (!isWrong(read)) void saving.save(base, read.value)
  }
  return (
    <div class="routing stack">
      <Head id={id} name={base.value.name} isEdited={isEdited && id !== null} />
      {isElsewhere && (
        <p class="buttons" role="status">
          <State kind="warning">{merging.changed}</State>
          <button
            type="button"
            class="button"
            onClick={() => {
              saving.conflict.value = { base: base.value, mine: read.value, theirs: version }
            }}
          >
            {merging.compare}
          </button>
        </p>
      )}
      <form class="card stack combo" noValidate onSubmit={submit}>
        <Fields draft={draft} schema={schema} problems={problemsOf(read, saving)} change={change} />
        {saving.error.value !== null && <Failure error={saving.error.value} />}
        <div class="buttons">
          <button
            type="submit"
            class="button main-action"
            disabled={saving.isBusy.value || isWrong(read) || (id !== null && !isEdited)}
          >
            {id === null ? words.combo.create : words.combo.save}
          </button>
          {isEdited && (
            <button type="button" class="button" onClick={() => adopt(version)}>
              {words.combo.discard}
            </button>
          )}
          {id !== null && (
            <button type="button" class="button danger" onClick={setting(isRemoving, true)}>
              {words.combo.remove}
            </button>
          )}
        </div>
      </form>
      <Trial
        key={id ?? newCombo}
        id={id}
        combo={isWrong(read) ? null : read.value}
        storedName={id === null || !base.value.isActive ? null : base.value.name}
        isEdited={isEdited}
      />
      <Merge name={base.value.name} saving={saving} />
      {id !== null && <Remove id={id} name={base.value.name} isOpen={isRemoving} />}
    </div>
  )
}
