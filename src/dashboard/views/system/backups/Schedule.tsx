/** Sets how often the gateway makes a backup by itself, and how many it keeps. */
import { useSignal } from "@preact/signals"
import type { AnswerOf } from "../../../api/client.ts"
import { gatewaySettingsGet, gatewaySettingsUpdate } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Failure } from "../../../ui/Failure.tsx"
import { words as common } from "../../../words/common.ts"
import { words } from "../../../words/system/backups.ts"
import { Entry, Pick, Tick } from "../../../ui/parts/Entry.tsx"
import { useWork } from "../../../ui/useWork.ts"

type Settings = AnswerOf<typeof gatewaySettingsGet>["backup"]

const frequencies = ["hourly", "daily", "weekly"] as const

const frequencyOf = (text: string): Settings["frequency"] => frequencies.find((each) => each === text) ?? "daily"

const Form = ({ settings }: { readonly settings: Settings }) => {
  const isOn = useSignal(settings.autoBackupEnabled)
  const frequency = useSignal<string>(settings.frequency)
  const keepLast = useSignal(String(settings.keepLast))
  const { isBusy, problem, run } = useWork(["settings"], true)
  const submit = (event: Event): void => {
    event.preventDefault()
    const backup = {
      autoBackupEnabled: isOn.value,
      frequency: frequencyOf(frequency.value),
      keepLast: Number(keepLast.value)
    }
    void run(() => gatewaySettingsUpdate({ body: { backup } }), words.saved)
  }
  return (
    <form class="stack" noValidate onSubmit={submit}>
      <Tick name={words.byItself} value={isOn} />
      <div class="parameters">
        <Pick
          name={words.frequency}
          value={frequency}
          choices={frequencies.map((each) => [each, words.frequencies[each]])}
        />
        <Entry name={words.keepLast} type="number" value={keepLast} />
      </div>
      {problem.value !== null && <Failure error={problem.value} />}
      <div class="buttons">
        <button type="submit" class="button" disabled={isBusy.value}>
          {common.save}
        </button>
      </div>
    </form>
  )
}

export const Schedule = () => {
  const settings = useAnswer({ key: ["settings"], ask: (signal) => gatewaySettingsGet({ signal }) })
  return (
    <section class="card">
      <h2>{words.schedule}</h2>
      <Answered of={settings} height={140}>
        {({ backup }) => <Form key={JSON.stringify(backup)} settings={backup} />}
      </Answered>
    </section>
  )
}
