/** Filters that are kept by a name, for all administrators: in the settings (`dashboard.requestViews`), because this page keeps nothing but choices of look. */
import { useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import { gatewaySettingsGet, gatewaySettingsUpdate } from "../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { sendOver } from "../../ui/merge/resend.ts"
import { visible } from "../../ui/format.ts"
import { useWork, type Work } from "../../ui/useWork.ts"
import { toast } from "../../ui/toasts.tsx"
import { words } from "../../words/requests.ts"
import { listPlace } from "./links.ts"

type Views = Readonly<Record<string, string>>

const key = ["settings", "request-views"]

/** Changes the views as they are stored now: those that another administrator has saved meanwhile stay. */
const change = async (by: (views: Views) => Views): Promise<void> => {
  const { answer, tag } = await gatewaySettingsGet.versioned()
  let views: Views = answer.dashboard.requestViews
  await sendOver(
    tag ?? undefined,
    (ifMatch) => gatewaySettingsUpdate({ body: { dashboard: { requestViews: by(views) } }, ifMatch }),
    (current) => {
      views = (current as typeof answer).dashboard.requestViews
      return true
    }
  )
  await refresh(...key)
}

const save = ({ run }: Work, name: string, filter: string): Promise<boolean> =>
  run(() => change((views) => ({ ...views, [name]: filter })), words.views.saved(visible(name)))

const remove = async (work: Work, name: string, filter: string): Promise<void> => {
  const rest = (views: Views): Views => Object.fromEntries(Object.entries(views).filter(([other]) => other !== name))
  if (!(await work.run(() => change(rest)))) return
  toast("good", words.views.removed(visible(name)), {
    label: words.views.undo,
    run: () => void save(work, name, filter)
  })
}

interface ListProperties {
  readonly views: Views
  readonly work: Work
  readonly written: string
}

const List = ({ views, work, written }: ListProperties) => {
  const all = Object.entries(views).toSorted(([one], [other]) => one.localeCompare(other))
  if (all.length === 0) return <p class="quiet">{words.views.none}</p>
  return (
    <ul class="saved-views">
      {all.map(([name, filter]) => (
        <li key={name}>
          <a href={listPlace(filter)} aria-current={filter === written ? "true" : undefined}>
            {visible(name)}
          </a>
          <code class="quiet">{visible(filter)}</code>
          <button
            type="button"
            class="button plain"
            aria-label={words.views.remove(visible(name))}
            title={words.views.remove(visible(name))}
            disabled={work.isBusy.value}
            onClick={() => void remove(work, name, filter)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  )
}

interface Properties {
  /** The filter of the address. */
  readonly written: string
}

const Opened = ({ written }: Properties) => {
  const name = useSignal("")
  const id = useId()
  const work = useWork([])
  const settings = useAnswer({ key, ask: (signal) => gatewaySettingsGet({ signal }) })
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const wanted = name.value.trim()
    if (wanted === "" || written === "") return
    if (await save(work, wanted, written)) name.value = ""
  }
  return (
    <div class="stack">
      <Answered of={settings} height={48}>
        {({ dashboard }) => <List views={dashboard.requestViews} work={work} written={written} />}
      </Answered>
      {written !== "" && (
        <form class="inline-form" onSubmit={(event) => void submit(event)}>
          <label for={id}>{words.views.name}</label>
          <input
            id={id}
            class="input"
            maxLength={80}
            autocomplete="off"
            value={name.value}
            onInput={(event) => {
              name.value = event.currentTarget.value
            }}
          />
          <button type="submit" class="button" disabled={work.isBusy.value || name.value.trim() === ""}>
            {words.views.save}
          </button>
        </form>
      )}
    </div>
  )
}

export const SavedViews = ({ written }: Properties) => {
  const isOpen = useSignal(false)
  return (
    <details
      class="views-of-filter"
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open
      }}
    >
      <summary>{words.views.title}</summary>
      {isOpen.value && <Opened written={written} />}
    </details>
  )
}
