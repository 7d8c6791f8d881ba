/** Note of a person to a request, the request as a program, and as a preset of the playground. */
import { useSignal } from "@preact/signals"
import { useLocation } from "preact-iso"
import { inspectorAnnotate, inspectorCode, inspectorPreset, playgroundCreatePreset } from "../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../api/queries.ts"
import { getText } from "../../api/text.ts"
import { useWork } from "../../ui/useWork.ts"
import { submitting, typing } from "../../ui/handlers.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Copyable } from "../../ui/copy/Copyable.tsx"
import { placeOf } from "../../ui/address/places.ts"
import { toast } from "../../ui/toasts.tsx"
import { words } from "../../words/inspector.ts"
import type { WholeRecord } from "./record.ts"

const formats = ["curl", "python", "typescript"] as const
const mostChars = 10_000

const Note = ({ record }: { readonly record: WholeRecord }) => {
  const text = useSignal(record.annotation ?? "")
  const { isBusy, run } = useWork([])
  const save = async (): Promise<void> => {
    await run(async () => {
      await inspectorAnnotate({ path: { id: record.id }, body: { annotation: text.value } })
      toast("good", words.note.saved)
      await refresh("inspector-record", record.id)
    })
  }
  return (
    <form class="stack" onSubmit={submitting(save)}>
      <div class="field">
        <label for="note">{words.note.label}</label>
        <textarea id="note" class="input" rows={4} maxLength={mostChars} value={text.value} onInput={typing(text)} />
        <p class="hint">{words.note.hint}</p>
      </div>
      <div class="buttons">
        <button type="submit" class="button main-action" disabled={isBusy.value}>
          {words.note.save}
        </button>
      </div>
    </form>
  )
}

const Code = ({ id }: { readonly id: string }) => {
  const format = useSignal<(typeof formats)[number]>("curl")
  const code = useAnswer({
    key: ["inspector-code", id, format.value],
    ask: (signal) => getText(inspectorCode.path, { path: { id }, query: { format: format.value } }, signal)
  })
  return (
    <div class="stack">
      <div class="field">
        <label for="code-format">{words.code.label}</label>
        <select
          id="code-format"
          class="input"
          value={format.value}
          onChange={(event) => {
            format.value = event.currentTarget.value as (typeof formats)[number]
          }}
        >
          {formats.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
        <p class="hint">{words.code.hint}</p>
      </div>
      <Answered of={code}>{(text) => <Copyable text={text} />}</Answered>
    </div>
  )
}

const Preset = ({ id }: { readonly id: string }) => {
  const { route } = useLocation()
  const { isBusy, run } = useWork([])
  const open = (): void =>
    void run(async () => {
      const { system, ...rest } = await inspectorPreset({ path: { id } })
      const { preset } = await playgroundCreatePreset({ body: { ...rest, ...(system === null ? {} : { system }) } })
      route(`${placeOf("playground")}?preset=${encodeURIComponent(preset.id)}`)
    })
  return (
    <div class="buttons">
      <button type="button" class="button" disabled={isBusy.value} onClick={open}>
        {words.preset}
      </button>
    </div>
  )
}

export const Notes = ({ record }: { readonly record: WholeRecord }) => (
  <div class="stack">
    <Note record={record} />
    {record.llm !== null && <Preset id={record.id} />}
    <Code id={record.id} />
  </div>
)
