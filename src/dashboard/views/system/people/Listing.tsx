/** The list of an area: searched by a text in the address, with a form that adds an entry. */
import { useSignal, type ReadonlySignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useLocation } from "preact-iso"
import { refresh, type Result } from "../../../api/queries.ts"
import { AddButton } from "../../../ui/AddButton.tsx"
import { Answered } from "../../../ui/Answered.tsx"
import { opening } from "../../../ui/handlers.ts"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Search } from "../../../ui/parts/Search.tsx"
import { Table } from "../../../ui/parts/Table.tsx"
import { words as all } from "../../../words/system/people.ts"
import { Head } from "../parts/Head.tsx"
import { Create, type Creation, foundIn } from "./parts.tsx"

interface Properties<D, A> {
  readonly words: typeof all.people | typeof all.teams
  readonly of: ReadonlySignal<Result<D>>
  readonly entriesOf: (answer: D) => ReadonlyArray<A>
  /** The text of an entry that is searched. */
  readonly textOf: (entry: A) => string
  /** Draws an entry; `entries` has all of them. */
  readonly row: (entry: A, entries: ReadonlyArray<A>) => ComponentChildren
  readonly numbers?: ReadonlyArray<number>
  readonly operation: Creation
  /** Adds the entry of a form. */
  readonly create: (body: object) => Promise<unknown>
  /** Answers that are read anew then. */
  readonly changes: string
}

export const Listing = <D, A>(properties: Properties<D, A>) => {
  const { changes, create, entriesOf, numbers = [], of, operation, row, textOf, words } = properties
  const { query } = useLocation()
  const isAdding = useSignal(false)
  return (
    <div class="stack">
      <Head title={words.title} hint={words.hint}>
        <AddButton opens={isAdding} label={words.add} />
      </Head>
      <Search label={words.search} />
      <Answered of={of} height={200}>
        {(answer) => {
          const entries = entriesOf(answer)
          const { more, shown } = foundIn(entries, query["q"] ?? "", textOf)
          return shown.length === 0 ? (
            <Empty text={entries.length === 0 ? words.none : words.noneFound} />
          ) : (
            <div class="card">
              <Table label={words.list} columns={words.columns} numbers={numbers}>
                {shown.map((entry) => row(entry, entries))}
              </Table>
              {more > 0 && <p class="quiet">{all.more(more)}</p>}
            </div>
          )
        }}
      </Answered>
      <Create
        title={words.add}
        operation={operation}
        {...opening(isAdding)}
        create={async (body) => {
          await create(body)
          isAdding.value = false
          void refresh(changes)
        }}
      />
    </div>
  )
}
