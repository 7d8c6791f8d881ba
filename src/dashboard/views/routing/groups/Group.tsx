/** Edits one quota group: its name, its connections and its keys, each with a weight. */
import { useSignal } from "@preact/signals"
import { useLocation } from "preact-iso"
import { useEffect } from "preact/hooks"
import type { AnswerOf } from "../../../api/client.ts"
import {
  quotaGroupsCreate,
  quotaGroupsGet,
  quotaGroupsRemove,
  quotaGroupsUpdate
} from "../../../api/calls.generated.ts"
import { queries, refresh, useAnswer } from "../../../api/queries.ts"
import { opening, setting } from "../../../ui/handlers.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Danger } from "../../../ui/dialogs/Danger.tsx"
import { Failure } from "../../../ui/Failure.tsx"
import { Merge } from "../../../ui/merge/Merge.tsx"
import { isSame } from "../../../ui/merge/merge.ts"
import { useSaving, type Version } from "../../../ui/merge/saving.ts"
import { visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { toast } from "../../../ui/toasts.tsx"
import { words } from "../../../words/routingParts.ts"
import type { Names } from "./names.ts"
import { type Weighted, WeightedRows, weightedRow } from "./WeightedRows.tsx"

type Stored = AnswerOf<typeof quotaGroupsGet>["group"]

export interface Editable {
  readonly name: string
  readonly members: ReadonlyArray<{ readonly connectionId: string; readonly weight: number }>
  readonly allocations: ReadonlyArray<{ readonly apiKeyId: string; readonly weight: number }>
}

interface Draft {
  readonly name: string
  readonly members: ReadonlyArray<Weighted>
  readonly allocations: ReadonlyArray<Weighted>
}

const editableOf = ({ allocations, members, name }: Stored): Editable => ({
  name,
  members,
  allocations: allocations.map(({ apiKeyId, weight }) => ({ apiKeyId, weight }))
})

const draftOf = ({ allocations, members, name }: Editable): Draft => ({
  name,
  members: members.map(({ connectionId, weight }) => weightedRow(connectionId, String(weight))),
  allocations: allocations.map(({ apiKeyId, weight }) => weightedRow(apiKeyId, String(weight)))
})

const isWhole = ({ id, weight }: Weighted): boolean => id !== "" && Number(weight) > 0

const readDraft = ({ allocations, members, name }: Draft): Editable => ({
  name: name.trim(),
  members: members.map(({ id, weight }) => ({ connectionId: id, weight: Number(weight) })),
  allocations: allocations.map(({ id, weight }) => ({ apiKeyId: id, weight: Number(weight) }))
})

interface EditorProperties {
  /** Null: it is new. */
  readonly id: string | null
  readonly version: Version<Editable>
  readonly names: Names
  readonly send: (value: Editable, tag: string | undefined) => Promise<Version<Editable>>
}

const Remove = ({ id, name }: { readonly id: string; readonly name: string }) => {
  const { route } = useLocation()
  const isOpen = useSignal(false)
  return (
    <>
      <button type="button" class="button danger" onClick={setting(isOpen, true)}>
        {words.groups.remove}
      </button>
      <Danger
        title={words.groups.removeTitle(visible(name))}
        means={words.groups.removeMeans(visible(name))}
        name={name}
        verb={words.groups.remove}
        {...opening(isOpen)}
        run={async () => {
          await quotaGroupsRemove({ path: { id } })
          toast("good", words.groups.removed(visible(name)))
          void refresh("quotaGroups")
          route(placeOf("routing/groups"))
        }}
      />
    </>
  )
}

const Fields = ({
  change,
  draft,
  names
}: {
  readonly draft: Draft
  readonly names: Names
  readonly change: (part: Partial<Draft>) => void
}) => (
  <>
    <div class="field">
      <label for="group-name">{words.groups.name}</label>
      <input
        id="group-name"
        class="input"
        autocomplete="off"
        spellcheck={false}
        aria-describedby="group-name-hint"
        value={draft.name}
        onInput={(event) => change({ name: event.currentTarget.value })}
      />
      <p id="group-name-hint" class="hint">
        {words.groups.nameHint}
      </p>
    </div>
    <WeightedRows
      title={words.groups.members}
      add={words.groups.addMember}
      rows={draft.members}
      choices={names.connections}
      labelOf={words.groups.member}
      weightOf={words.groups.memberWeight}
      removeOf={words.groups.removeMember}
      onRows={(members) => change({ members })}
    />
    <WeightedRows
      title={words.groups.keys}
      add={words.groups.addKey}
      rows={draft.allocations}
      choices={names.keys}
      labelOf={words.groups.key}
      weightOf={words.groups.keyWeight}
      removeOf={words.groups.removeKey}
      onRows={(allocations) => change({ allocations })}
    />
  </>
)

const Editor = ({ id, names, send, version }: EditorProperties) => {
  const base = useSignal(version)
  const draft = useSignal(draftOf(version.value))
  const mine = readDraft(draft.value)
  const isReady =
    mine.name !== "" &&
    mine.members.length > 0 &&
    draft.value.members.every(isWhole) &&
    draft.value.allocations.every(isWhole)
  const isEdited = !isSame(mine, base.value.value)
  const adopt = (stored: Version<Editable>): void => {
    base.value = stored
    draft.value = draftOf(stored.value)
  }
  useEffect(() => {
    if (!isEdited && version.tag !== base.value.tag) adopt(version)
  }, [version.tag, isEdited])
  const saving = useSaving<Editable>({
    send,
    shown: (current) => editableOf((current as AnswerOf<typeof quotaGroupsGet>).group),
    onSaved: (saved) => {
      if (id !== null) adopt(saved)
      toast("good", words.groups.saved(visible(saved.value.name)))
    }
  })
  const submit = (event: Event): void => {
    event.preventDefault()
    if (isReady) void saving.save(base.value, mine)
  }
  return (
    <form class="card stack" noValidate onSubmit={submit}>
      <p>
        <a href={placeOf("routing/groups")}>{words.groups.back}</a>
      </p>
      <h2>{id === null ? words.groups.newTitle : visible(base.value.value.name)}</h2>
      <Fields
        draft={draft.value}
        names={names}
        change={(part) => {
          draft.value = { ...draft.value, ...part }
        }}
      />
      {!isReady && <p class="quiet">{words.groups.incomplete}</p>}
      {saving.error.value !== null && <Failure error={saving.error.value} />}
      <div class="buttons">
        <button
          type="submit"
          class="button main-action"
          disabled={!isReady || saving.isBusy.value || (id !== null && !isEdited)}
        >
          {id === null ? words.groups.createIt : words.groups.save}
        </button>
        {isEdited && (
          <button type="button" class="button" onClick={() => adopt(version)}>
            {words.groups.discard}
          </button>
        )}
        {id !== null && <Remove id={id} name={base.value.value.name} />}
      </div>
      <Merge name={base.value.value.name} saving={saving} />
    </form>
  )
}

export const EditGroup = ({ id, names }: { readonly id: string; readonly names: Names }) => {
  const key = ["quotaGroup", id]
  const group = useAnswer({
    key,
    ask: async (signal): Promise<Version<Editable>> => {
      const { answer, tag } = await quotaGroupsGet.versioned({ path: { id }, signal })
      return { value: editableOf(answer.group), tag }
    }
  })
  return (
    <Answered of={group} height={320}>
      {(version) => (
        <Editor
          id={id}
          version={version}
          names={names}
          send={async (value, tag) => {
            const { answer, tag: next } = await quotaGroupsUpdate.versioned({ path: { id }, body: value, ifMatch: tag })
            const saved = { value: editableOf(answer.group), tag: next }
            queries.setQueryData(key, saved)
            return saved
          }}
        />
      )}
    </Answered>
  )
}

const blank: Version<Editable> = { value: { name: "", members: [], allocations: [] }, tag: null }

export const NewGroup = ({ names }: { readonly names: Names }) => {
  const { route } = useLocation()
  return (
    <Editor
      id={null}
      version={blank}
      names={names}
      send={async (value) => {
        const { group } = await quotaGroupsCreate({ body: value })
        void refresh("quotaGroups")
        route(placeOf("routing/groups"))
        return { value: editableOf(group), tag: null }
      }}
    />
  )
}
