/** One combo: it is edited, tried before it is saved, saved over the version that was edited, cloned and deleted. */
import { useLocation } from "preact-iso"
import type { Versioned } from "../../../api/client.ts"
import type { AnswerOf } from "../../../api/client.ts"
import { combosCreate, combosGet, combosUpdate } from "../../../api/calls.generated.ts"
import { queries, refresh, useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { isSame } from "../../../ui/merge/merge.ts"
import type { Version } from "../../../ui/merge/saving.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/routing.ts"
import { drafts, newCombo } from "./drafts.ts"
import type { Editable } from "../editable.ts"
import { editableOf, emptyCombo } from "./draft.ts"
import { Editor } from "./Editor.tsx"

const versionOf = ({ answer, tag }: Versioned<AnswerOf<typeof combosGet>>): Version<Editable> => ({
  value: editableOf(answer.combo),
  tag
})

/** The members of an edit that are others than before: what was not touched is not sent. */
const changes = (value: Editable, base: Editable): Partial<Editable> =>
  Object.fromEntries(Object.entries(value).filter(([name, member]) => !isSame(member, base[name as keyof Editable])))

const shown = (current: unknown): Editable => editableOf((current as AnswerOf<typeof combosGet>).combo)

export const EditCombo = ({ id }: { readonly id: string }) => {
  const combo = useAnswer({
    key: ["combo", id],
    ask: async (signal) => versionOf(await combosGet.versioned({ path: { id }, signal }))
  })
  return (
    <Answered of={combo} height={480}>
      {(version) => (
        <Editor
          id={id}
          version={version}
          shown={shown}
          send={async (value, tag, base) => {
            const body = changes(value, base)
            const saved = versionOf(await combosUpdate.versioned({ path: { id }, body, ifMatch: tag }))
            queries.setQueryData(["combo", id], saved)
            void refresh("combos")
            return saved
          }}
        />
      )}
    </Answered>
  )
}

/** A new combo; `from`: id of the one that it is a copy of. */
export const NewCombo = ({ from }: { readonly from: string | undefined }) => {
  const { route } = useLocation()
  const origin = useAnswer({
    key: ["combo", "origin", from ?? ""],
    ask: async (signal): Promise<Version<Editable>> => {
      if (from === undefined) return { value: emptyCombo, tag: null }
      const { combo } = await combosGet({ path: { id: from }, signal })
      return { value: { ...editableOf(combo), name: words.combos.copyOf(combo.name) }, tag: null }
    }
  })
  return (
    <Answered of={origin} height={480}>
      {(version) => (
        <Editor
          id={null}
          version={version}
          shown={shown}
          send={async (value) => {
            const { combo } = await combosCreate({ body: value })
            void refresh("combos")
            drafts.delete(newCombo)
            route(placeOf(`routing/combo/${encodeURIComponent(combo.id)}`), true)
            return { value: editableOf(combo), tag: null }
          }}
        />
      )}
    </Answered>
  )
}
