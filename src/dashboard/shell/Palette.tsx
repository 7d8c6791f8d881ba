/** Finds every view, area, object, operation and action by typing a part of its name. Loaded when it is opened for the first time. */
import { useSignal } from "@preact/signals"
import { useEffect, useMemo, useRef } from "preact/hooks"
import { combosList, keysList, modelCatalogList, providersList } from "../api/calls.generated.ts"
import { useAnswer } from "../api/queries.ts"
import { loadOperations } from "../forms/operations.ts"
import { Combobox, type Proposal } from "../ui/Combobox.tsx"
import { Dialog } from "../ui/dialogs/Dialog.tsx"
import { visible } from "../ui/format.ts"
import { placeOf } from "../ui/address/places.ts"
import { setTheme } from "../ui/preferences.ts"
import { areas } from "../views/system/areas.ts"
import { words } from "../words/shell.ts"
import { entries, openEntries } from "./entries.ts"

interface Item extends Proposal {
  readonly does: { readonly open: string } | { readonly run: () => void }
}

const most = 60
const objectsEach = 6
const settlesMs = 150

interface Properties {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly open: (url: string) => void
  readonly actions: ReadonlyArray<{ readonly name: string; readonly run: () => void }>
}

const place = (id: string, text: string, hint: string, path: string): Item => ({
  id,
  text: visible(text),
  hint,
  does: { open: placeOf(path) }
})

/** Objects of the gateway with a text; each kind is asked for a few. */
const useObjects = (text: string): ReadonlyArray<Item> => {
  const query = { search: text, limit: objectsEach, view: "summary" } as const
  const found = useAnswer({
    key: ["palette", text],
    when: text.length > 1,
    ask: async (signal): Promise<ReadonlyArray<Item>> => {
      const asked = { query, signal }
      const [connections, keys, combos, models] = await Promise.all([
        providersList(asked).then((answer) => answer.connections),
        keysList(asked).then((answer) => answer.keys),
        combosList(asked).then((answer) => answer.combos),
        modelCatalogList(asked).then((answer) => answer.models)
      ])
      const { kinds } = words.palette
      return [
        ...connections.map(({ id, name, provider }) =>
          place(`c-${id}`, name === "" ? provider : `${provider} / ${name}`, kinds.connection, `providers/${id}`)
        ),
        ...keys.map(({ id, name }) => place(`k-${id}`, name, kinds.key, `keys/${id}`)),
        ...combos.map(({ id, name }) => place(`o-${id}`, name, kinds.combo, comboPlace(id))),
        ...models.map(({ id }) => place(`m-${id}`, id, kinds.model, `requests?q=${encodeURIComponent(`asked:${id}`)}`))
      ]
    }
  })
  return text.length > 1 ? (found.value.data ?? []) : []
}

/** Address at which combos are edited: their own view where this dashboard has one. */
const comboPlace = (id: string): string =>
  entries.some(({ path }) => path === "routing") ? `routing/${id}` : `system/combosGet?id=${id}`

const useFixed = (actions: Properties["actions"]): ReadonlyArray<Item> => {
  const operations = useAnswer({ key: ["operations"], ask: loadOperations })
  const all = operations.value.data
  return useMemo(() => {
    const { kinds, themes } = words.palette
    return [
      ...openEntries().map(({ name, path }) => place(`v-${path}`, name, kinds.view, path)),
      ...areas.map(({ name, path }) => place(`a-${path}`, name, kinds.area, `system/${path}`)),
      place("do-provider", words.palette.addProvider, kinds.action, "providers/add"),
      place("do-key", words.palette.createKey, kinds.action, "keys?create=1"),
      ...actions.map(({ name, run }): Item => ({ id: `do-${name}`, text: name, hint: kinds.action, does: { run } })),
      ...(["system", "light", "dark"] as const).map((name): Item => ({
        id: `do-theme-${name}`,
        text: themes[name],
        hint: kinds.action,
        does: { run: () => setTheme(name) }
      })),
      ...(all ?? []).map(({ id, method, path, summary }) =>
        place(`p-${id}`, summary, `${kinds.operation} ${method} ${path}`, `system/${id}`)
      )
    ]
  }, [all, actions])
}

const fits = (item: Item, parts: ReadonlyArray<string>): boolean => {
  const text = `${item.text} ${item.hint ?? ""}`.toLowerCase()
  return parts.every((part) => text.includes(part))
}

const Finder = ({ actions, onClose, open }: Properties) => {
  const typed = useSignal("")
  const settled = useSignal("")
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  useEffect(() => {
    const timer = globalThis.setTimeout(() => {
      settled.value = typed.value.trim()
    }, settlesMs)
    return () => globalThis.clearTimeout(timer)
  }, [typed.value, settled])
  const fixed = useFixed(actions)
  const objects = useObjects(settled.value)
  const parts = typed.value.toLowerCase().split(/\s+/).filter(Boolean)
  const matching = fixed.filter((item) => fits(item, parts))
  const near =
    parts[0] === undefined ? [] : matching.filter(({ text }) => text.toLowerCase().startsWith(parts[0] ?? ""))
  const items = [...new Set([...near, ...objects, ...matching])].slice(0, most)
  const take = ({ id }: Proposal): void => {
    const item = items.find((one) => one.id === id)
    onClose()
    if (item === undefined) return
    if ("open" in item.does) open(item.does.open)
    else item.does.run()
  }
  return (
    <Combobox
      isPalette
      label={words.palette.title}
      placeholder={words.palette.hint}
      field={field}
      value={typed.value}
      proposals={items}
      onInput={(text) => {
        typed.value = text.slice(0, 200)
      }}
      onTake={take}
    >
      <p class="quiet" role="status">
        {items.length === 0 ? words.palette.none : ""}
      </p>
    </Combobox>
  )
}

export const Palette = (properties: Properties) => (
  <Dialog title={words.palette.title} isOpen={properties.isOpen} onClose={properties.onClose}>
    <Finder {...properties} />
  </Dialog>
)
