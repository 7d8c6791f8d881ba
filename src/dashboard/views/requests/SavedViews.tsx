/** Filters that are kept by a name, for all administrators: in the settings (`dashboard.requestViews`), because this page keeps nothing but choices of look. */
import { useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import { gatewaySettingsGet, gatewaySettingsUpdate } from "../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { visible } from "../../ui/format.ts"
import { toast } from "../../ui/toasts.tsx"
import { words } from "../../words/requests.ts"
import { listPlace } from "./links.ts"

type Views = Readonly<Record<string, string>>

const key = ["settings", "request-views"]

/** Changes the views as they are stored now: those that another administrator has saved meanwhile stay. */
const change = async (by: (views: Views) => Views): Promise<void> => {
  const { dashboard } = await gatewaySettingsGet()
  await gatewaySettingsUpdate({ body: { dashboard: { requestViews: by(dashboard.requestViews) } } })
  await refresh(...key)
}

const attempt = async (work: () => Promise<void>): Promise<void> => {
  try {
    await work()
  } catch (error) {
    toast("bad", visible((error as Error).message))
  }
}

const save = (name: string, filter: string, said: string): Promise<void> =>
  attempt(async () => {
    await change((views) => ({ ...views, [name]: filter }))
    toast("good", said)
  })

const remove = (name: string, filter: string): Promise<void> =>
  attempt(async () => {
    await change((views) => Object.fromEntries(Object.entries(views).filter(([other]) => other !== name)))
    toast("good", words.views.removed(visible(name)), {
      label: words.views.undo,
      run: () => void save(name, filter, words.views.saved(visible(name)))
    })
  })

const List = ({ views, written }: { readonly views: Views; readonly written: string }) => {
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
            onClick={() => void remove(name, filter)}
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
  const settings = useAnswer({ key, ask: (signal) => gatewaySettingsGet({ signal }) })
  const submit = (event: Event): void => {
    event.preventDefault()
    const wanted = name.value.trim()
    if (wanted === "" || written === "") return
    name.value = ""
    void save(wanted, written, words.views.saved(visible(wanted)))
  }
  return (
    <div class="stack">
      <Answered of={settings} height={48}>
        {({ dashboard }) => <List views={dashboard.requestViews} written={written} />}
      </Answered>
      {written !== "" && (
        <form class="inline-form" onSubmit={submit}>
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
          <button type="submit" class="button" disabled={name.value.trim() === ""}>
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
