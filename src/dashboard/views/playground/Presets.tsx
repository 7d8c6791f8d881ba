/** Named configurations: chosen, saved, changed, deleted. A preset holds one question's frame, not its prompt. */
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { useLocation } from "preact-iso"
import type { AnswerOf } from "../../api/client.ts"
import {
  playgroundCreatePreset,
  playgroundPresets,
  playgroundRemovePreset,
  playgroundUpdatePreset
} from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { visible } from "../../ui/format.ts"
import { placeOf } from "../../ui/address/places.ts"
import { toast } from "../../ui/toasts.tsx"
import { useWork } from "../../ui/useWork.ts"
import { words } from "../../words/playground.ts"
import { paramsOfPreset } from "./draft.ts"
import { paramsOf } from "./endpoints.ts"
import { columns, draft, endpoint, setModels } from "./store.ts"

type Preset = AnswerOf<typeof playgroundPresets>["presets"][number]

const take = (preset: Preset): void => {
  endpoint.value = preset.endpoint
  draft.value = { ...draft.value, system: preset.system ?? "", params: paramsOfPreset(preset.params_json) }
  setModels([preset.model, ...columns.value.slice(1).map(({ model }) => model.value)])
}

/** Takes what is on the screen as the members of a preset. */
const shown = () => ({
  endpoint: endpoint.value,
  model: columns.value[0]?.model.value ?? "auto",
  params_json: JSON.stringify(paramsOf(draft.value))
})

const useChosen = () => {
  const { query, route } = useLocation()
  const presets = useAnswer({ key: ["playground-presets"], ask: (signal) => playgroundPresets({ signal }) })
  const all = presets.value.data?.presets ?? []
  const chosen = all.find(({ id }) => id === query["preset"])
  const choose = (id: string): void =>
    route(`${placeOf("playground")}${id === "" ? "" : `?preset=${encodeURIComponent(id)}`}`, true)
  // Taken once, when it is chosen: what is changed afterwards stays changed.
  useEffect(() => {
    if (chosen !== undefined) take(chosen)
  }, [chosen?.id])
  return { all, chosen, choose }
}

export const Presets = () => {
  const { all, choose, chosen } = useChosen()
  const name = useSignal("")
  const { isBusy, run } = useWork(["playground-presets"])
  const create = async (): Promise<void> => {
    const { system } = draft.value
    const body = { name: name.value.trim(), ...shown(), ...(system === "" ? {} : { system }) }
    const { preset } = await playgroundCreatePreset({ body })
    name.value = ""
    toast("good", words.saved(preset.name))
    choose(preset.id)
  }
  const update = async (preset: Preset): Promise<void> => {
    const system = draft.value.system === "" ? null : draft.value.system
    await playgroundUpdatePreset({ path: { id: preset.id }, body: { ...shown(), system } })
    toast("good", words.saved(preset.name))
  }
  const remove = async (preset: Preset): Promise<void> => {
    await playgroundRemovePreset({ path: { id: preset.id } })
    choose("")
    const { endpoint: kind, model, name: called, params_json, system } = preset
    const body = { name: called, endpoint: kind, model, params_json, ...(system === null ? {} : { system }) }
    toast("good", words.removed(called), {
      label: words.undo,
      run: () => void run(() => playgroundCreatePreset({ body }))
    })
  }
  return (
    <details class="params">
      <summary>{words.presets}</summary>
      <div class="parameters">
        <div class="field">
          <label for="preset">{words.presets}</label>
          <select
            id="preset"
            class="input"
            value={chosen?.id ?? ""}
            onChange={(event) => choose(event.currentTarget.value)}
          >
            <option value="">{words.noPreset}</option>
            {all.map((preset) => (
              <option key={preset.id} value={preset.id}>
                {visible(preset.name)}
              </option>
            ))}
          </select>
        </div>
        {chosen !== undefined && (
          <p class="buttons">
            <button type="button" class="button" disabled={isBusy.value} onClick={() => void run(() => update(chosen))}>
              {words.update}
            </button>
            <button type="button" class="button" disabled={isBusy.value} onClick={() => void run(() => remove(chosen))}>
              {words.remove}
            </button>
          </p>
        )}
        <div class="field">
          <label for="preset-name">{words.presetName}</label>
          <input
            id="preset-name"
            class="input"
            autocomplete="off"
            value={name.value}
            onInput={(event) => {
              name.value = event.currentTarget.value
            }}
          />
        </div>
        <p class="buttons">
          <button
            type="button"
            class="button"
            disabled={isBusy.value || name.value.trim() === ""}
            onClick={() => void run(create)}
          >
            {words.save}
          </button>
        </p>
      </div>
      <p class="quiet">{words.presetHolds}</p>
    </details>
  )
}
