/** Answers what is set and by whom, what is reachable from where, and how to get back: a first page, an area for each subject, and every operation. */
import { useId } from "preact/hooks"
import { useLocation, useRoute } from "preact-iso"
import { placeOf } from "../../ui/address/places.ts"
import { words } from "../../words/system.ts"
import { areas } from "./areas.ts"
import { Operations } from "./Operations.tsx"
import { Overview } from "./Overview.tsx"

/** Path of the list of operations; the form of one is at its own id. */
const listPath = "operations"

interface Place {
  readonly path: string
  readonly name: string
}

const places: ReadonlyArray<Place> = [
  { path: "", name: words.overview },
  ...areas,
  { path: listPath, name: words.operations }
]

const addressOf = (path: string): string => placeOf(path === "" ? "system" : `system/${path}`)

/** The areas as a list; where the page is narrow, as a choice. */
const Areas = ({ chosen }: { readonly chosen: string }) => {
  const { route } = useLocation()
  const id = useId()
  return (
    <>
      <nav class="areas" aria-label={words.areas}>
        {places.map(({ name, path }) => (
          <a key={path} href={addressOf(path)} aria-current={path === chosen ? "page" : undefined}>
            {name}
          </a>
        ))}
      </nav>
      <div class="area-choice">
        <label class="visually-hidden" for={id}>
          {words.areas}
        </label>
        <select
          id={id}
          class="input"
          value={chosen}
          onChange={({ currentTarget }) => route(addressOf(currentTarget.value))}
        >
          {places.map(({ name, path }) => (
            <option key={path} value={path}>
              {name}
            </option>
          ))}
        </select>
      </div>
    </>
  )
}

const View = ({ id }: { readonly id: string | undefined }) => {
  const area = areas.find(({ path }) => path === id)
  if (area !== undefined) return <area.view key={area.path} />
  if (id === undefined) return <Overview />
  return <Operations id={id === listPath ? undefined : id} />
}

export const System = () => {
  const { id } = useRoute().params
  const isPlace = id === undefined || areas.some(({ path }) => path === id)
  return (
    <div class="stack">
      <header class="view-head">
        <h1>{words.title}</h1>
      </header>
      <div class="with-areas">
        <Areas chosen={isPlace ? (id ?? "") : listPath} />
        <div class="area stack">
          <View id={id} />
        </div>
      </div>
    </div>
  )
}
