/** Edits what a key may do, gives it another secret, and ends it. */
import { useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import { useLocation } from "preact-iso"
import type { AnswerOf } from "../../../api/client.ts"
import { type keysGet, keysPatch, keysRemove, keysRotate } from "../../../api/calls.generated.ts"
import { queries, refresh } from "../../../api/queries.ts"
import { EditForm } from "../../../forms/EditForm.tsx"
import type { FieldSchema } from "../../../forms/operations.ts"
import { useOperation } from "../../../forms/useOperation.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { Danger } from "../../../ui/dialogs/Danger.tsx"
import { Dialog } from "../../../ui/dialogs/Dialog.tsx"
import { Failure } from "../../../ui/Failure.tsx"
import { isSame } from "../../../ui/merge/merge.ts"
import type { Version } from "../../../ui/merge/saving.ts"
import { visible } from "../../../ui/format.ts"
import { useWork } from "../../../ui/useWork.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { toast } from "../../../ui/toasts.tsx"
import { words as common } from "../../../words/common.ts"
import { words } from "../../../words/keys.ts"
import { Secret } from "../Secret.tsx"

export type StoredKey = AnswerOf<typeof keysGet>["key"]
/** Members of a key that an editor changes. */
type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (schema: FieldSchema, key: StoredKey): Fields =>
  Object.fromEntries(Object.keys(schema.properties ?? {}).map((name) => [name, key[name as keyof StoredKey]]))

/** The fields that were changed of a version: what another editor has changed meanwhile is not sent back. */
const changesOf = (value: Fields, base: Fields): Fields =>
  Object.fromEntries(Object.entries(value).filter(([name, member]) => !isSame(member, base[name])))

const Form = ({ schema, version }: { readonly schema: FieldSchema; readonly version: Version<StoredKey> }) => {
  const { id } = version.value
  return (
    <div class="settings-form columns-form">
      <EditForm<Fields>
        name={version.value.name}
        schema={schema}
        version={{ value: fieldsOf(schema, version.value), tag: version.tag }}
        shown={(current) => fieldsOf(schema, (current as AnswerOf<typeof keysGet>).key)}
        send={async (value, tag, base) => {
          const body = changesOf(value, base) as Parameters<typeof keysPatch>[0] extends { body?: infer Body }
            ? Body
            : never
          const { answer, tag: next } = await keysPatch.versioned({ path: { id }, body, ifMatch: tag })
          queries.setQueryData(["keys", "one", id], { value: answer.key, tag: next })
          void refresh("keys", "table")
          return { value: fieldsOf(schema, answer.key), tag: next }
        }}
      />
    </div>
  )
}

const overlaps = [0, 3_600, 86_400, 604_800] as const

const Rotate = ({
  apiKey,
  isOpen,
  onClose
}: {
  readonly apiKey: StoredKey
  readonly isOpen: boolean
  readonly onClose: () => void
}) => {
  const secret = useSignal<string | null>(null)
  const seconds = useSignal<number>(0)
  const { forget, isBusy, problem: error, run } = useWork(["keys"], true)
  const id = useId()
  const rotate = (): void =>
    void run(async () => {
      const body = { overlapSeconds: seconds.value }
      secret.value = (await keysRotate({ path: { id: apiKey.id }, body })).secret
    })
  const close = (): void => {
    secret.value = null
    forget()
    onClose()
  }
  const name = visible(apiKey.name)
  return (
    <Dialog title={secret.value === null ? words.reallyRotate(name) : words.made(name)} isOpen={isOpen} onClose={close}>
      {secret.value === null ? (
        <>
          <p>{words.rotateMeans}</p>
          <div class="field">
            <label for={id}>{words.overlap}</label>
            <select
              id={id}
              class="input"
              value={seconds.value}
              onChange={({ currentTarget }) => {
                seconds.value = Number(currentTarget.value)
              }}
            >
              {overlaps.map((each) => (
                <option key={each} value={each}>
                  {words.overlaps[each]}
                </option>
              ))}
            </select>
          </div>
          {error.value !== null && <Failure error={error.value} />}
          <div class="buttons">
            <button type="button" class="button danger" disabled={isBusy.value} onClick={rotate}>
              {words.rotate}
            </button>
            <button type="button" class="button" onClick={close}>
              {common.cancel}
            </button>
          </div>
        </>
      ) : (
        <Secret secret={secret.value} onClose={close} />
      )}
    </Dialog>
  )
}

const Ends = ({ apiKey }: { readonly apiKey: StoredKey }) => {
  const { route } = useLocation()
  const asked = useSignal<"rotate" | "remove" | null>(null)
  const path = { id: apiKey.id }
  const close = (): void => {
    asked.value = null
  }
  return (
    <section class="card stack" aria-label={words.page.danger}>
      <h2>{words.page.danger}</h2>
      <div class="buttons">
        <button
          type="button"
          class="button"
          onClick={() => {
            asked.value = "rotate"
          }}
        >
          {words.rotate}
        </button>
        <button
          type="button"
          class="button danger"
          onClick={() => {
            asked.value = "remove"
          }}
        >
          {words.remove}
        </button>
      </div>
      <CopyAs call={keysRotate} path={path} body={{ overlapSeconds: 86_400 }} />
      <Rotate apiKey={apiKey} isOpen={asked.value === "rotate"} onClose={close} />
      <Danger
        title={words.reallyRemove(visible(apiKey.name))}
        means={words.removeMeans}
        name={apiKey.name}
        verb={words.remove}
        isOpen={asked.value === "remove"}
        onClose={close}
        run={async () => {
          await keysRemove({ path })
          toast("good", words.removed(visible(apiKey.name)))
          void refresh("keys", "table")
          route(placeOf("keys"))
        }}
      />
    </section>
  )
}

export const Rules = ({ version }: { readonly version: Version<StoredKey> }) => {
  const operation = useOperation("keysPatch")
  return (
    <>
      <section class="card stack" aria-label={words.page.tabs.rules}>
        <h2>{words.page.tabs.rules}</h2>
        <p class="quiet">{words.page.rulesHint}</p>
        <Answered of={operation} height={480}>
          {({ body }) => <Form schema={body ?? {}} version={version} />}
        </Answered>
      </section>
      <Ends apiKey={version.value} />
    </>
  )
}
