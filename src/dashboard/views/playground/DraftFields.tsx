/** The fields of a question, as its endpoint takes them: shared by all columns, or of one. */
import { useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import { Icon } from "../../ui/Icon.tsx"
import { visible } from "../../ui/format.ts"
import { words } from "../../words/playground.ts"
import { type Draft, paramNames, type Picture } from "./draft.ts"
import { type Endpoint, type FieldName, forms } from "./endpoints.ts"

interface Properties {
  readonly endpoint: Endpoint
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
}

interface FieldProperties {
  readonly label: string
  readonly value: string
  readonly onInput: (text: string) => void
  readonly rows?: number
  readonly hint?: string
  readonly isNumber?: boolean
  readonly isCode?: boolean
}

const TextField = ({ hint, isCode, isNumber, label, onInput, rows, value }: FieldProperties) => {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {rows === undefined ? (
        <input
          id={id}
          class="input"
          autocomplete="off"
          {...(isNumber === true ? { type: "number", step: "any" } : {})}
          placeholder={hint ?? words.own}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      ) : (
        <textarea
          id={id}
          class={isCode === true ? "input mono" : "input"}
          rows={rows}
          spellcheck={isCode !== true}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
      {hint !== undefined && rows !== undefined && <p class="hint">{hint}</p>}
    </div>
  )
}

const mostPictureBytes = 20_000_000

const dataUrlOf = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener("load", () => resolve(String(reader.result)))
    reader.addEventListener("error", () => reject(new Error(words.wrong.image)))
    reader.readAsDataURL(file)
  })

const Pictures = ({ draft, onChange }: Omit<Properties, "endpoint">) => {
  const id = useId()
  const problem = useSignal<string | null>(null)
  const take = async (files: ReadonlyArray<File>): Promise<void> => {
    problem.value = null
    const fit = files.filter(({ size, type }) => type.startsWith("image/") && size <= mostPictureBytes)
    if (fit.length < files.length) problem.value = words.wrong.image
    const taken: ReadonlyArray<Picture> = await Promise.all(
      fit.map(async (file) => ({ name: file.name, url: await dataUrlOf(file) }))
    )
    onChange({ ...draft, images: [...draft.images, ...taken] })
  }
  return (
    <div class="field">
      <label for={id}>{words.images}</label>
      <input
        id={id}
        class="input"
        type="file"
        accept="image/*"
        multiple
        onChange={(event) => {
          const files = [...(event.currentTarget.files ?? [])]
          event.currentTarget.value = ""
          void take(files)
        }}
      />
      <p class="hint">{words.imagesHint}</p>
      {problem.value !== null && (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
      {draft.images.length > 0 && (
        <ul class="thumbs">
          {draft.images.map(({ name, url }, index) => (
            <li key={index}>
              <img src={url} alt={visible(name)} />
              <button
                type="button"
                class="button plain"
                aria-label={words.removeImage(visible(name))}
                onClick={() => onChange({ ...draft, images: draft.images.filter((_one, at) => at !== index) })}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

const SoundFile = ({ draft, onChange }: Omit<Properties, "endpoint">) => {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{words.file}</label>
      <input
        id={id}
        class="input"
        type="file"
        accept="audio/*,video/*"
        onChange={(event) => onChange({ ...draft, file: event.currentTarget.files?.[0] ?? null })}
      />
      {draft.file !== null && <p class="hint">{visible(draft.file.name)}</p>}
    </div>
  )
}

const Params = ({ draft, onChange }: Omit<Properties, "endpoint">) => (
  <details class="params">
    <summary>{words.parameters}</summary>
    <div class="parameters">
      {paramNames.map((name) => (
        <TextField
          key={name}
          label={words.params[name]}
          value={draft.params[name]}
          {...(name === "stop" ? { rows: 2 } : { isNumber: true })}
          onInput={(text) => onChange({ ...draft, params: { ...draft.params, [name]: text } })}
        />
      ))}
    </div>
  </details>
)

export const DraftFields = ({ draft, endpoint, onChange }: Properties) => {
  const takes = (field: FieldName): boolean => forms[endpoint].fields.includes(field)
  const set =
    (name: "system" | "prompt" | "tools" | "schema" | "documents" | "count" | "size" | "voice" | "seconds") =>
    (text: string): void =>
      onChange({ ...draft, [name]: text })
  return (
    <div class="draft">
      {takes("file") && <SoundFile draft={draft} onChange={onChange} />}
      {takes("prompt") && (
        <TextField label={words.prompts[endpoint]} rows={3} value={draft.prompt} onInput={set("prompt")} />
      )}
      {takes("documents") && (
        <TextField label={words.documents} rows={4} value={draft.documents} onInput={set("documents")} />
      )}
      {takes("system") && (
        <TextField
          label={endpoint === "transcriptions" ? words.hint : words.system}
          rows={1}
          value={draft.system}
          onInput={set("system")}
        />
      )}
      <div class="parameters">
        {takes("count") && <TextField label={words.count} isNumber value={draft.count} onInput={set("count")} />}
        {takes("size") && (
          <TextField label={words.size} hint={words.sizeHint} value={draft.size} onInput={set("size")} />
        )}
        {takes("voice") && <TextField label={words.voice} hint="alloy" value={draft.voice} onInput={set("voice")} />}
        {takes("seconds") && (
          <TextField label={words.seconds} isNumber value={draft.seconds} onInput={set("seconds")} />
        )}
      </div>
      {takes("params") && <Params draft={draft} onChange={onChange} />}
      {takes("tools") && (
        <details class="params">
          <summary>{words.more}</summary>
          <div class="stack">
            <TextField
              label={words.tools}
              hint={words.toolsHint}
              rows={4}
              isCode
              value={draft.tools}
              onInput={set("tools")}
            />
            <TextField
              label={words.schema}
              hint={words.schemaHint}
              rows={4}
              isCode
              value={draft.schema}
              onInput={set("schema")}
            />
            <Pictures draft={draft} onChange={onChange} />
          </div>
        </details>
      )}
    </div>
  )
}
