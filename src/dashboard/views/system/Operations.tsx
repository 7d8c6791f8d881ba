/** Lists every operation of the API by its name, with a form for each. */
import { useMemo } from "preact/hooks"
import { useLocation } from "preact-iso"
import { useAnswer } from "../../api/queries.ts"
import { loadOperations, type OperationSummary } from "../../forms/operations.ts"
import { typing } from "../../ui/handlers.ts"
import { Answered } from "../../ui/Answered.tsx"
import { useTyped } from "../../ui/address/address.ts"
import { placeOf } from "../../ui/address/places.ts"
import { words } from "../../words/system.ts"
import { OperationPage } from "./OperationPage.tsx"

const wordsOf = ({ method, path, summary, tag }: OperationSummary): string =>
  `${method} ${path} ${summary} ${tag}`.toLowerCase()

const matching = (all: ReadonlyArray<OperationSummary>, text: string): ReadonlyArray<OperationSummary> => {
  const wanted = text.toLowerCase().split(/\s+/u)
  return all.filter((operation) => wanted.every((word) => wordsOf(operation).includes(word)))
}

const byTag = (
  operations: ReadonlyArray<OperationSummary>
): ReadonlyArray<readonly [string, ReadonlyArray<OperationSummary>]> => {
  const groups = new Map<string, Array<OperationSummary>>()
  for (const operation of operations) {
    const known = groups.get(operation.tag)
    if (known === undefined) groups.set(operation.tag, [operation])
    else known.push(operation)
  }
  return [...groups]
}

const Groups = ({ operations }: { readonly operations: ReadonlyArray<OperationSummary> }) => (
  <div class="operations">
    {byTag(operations).map(([tag, those]) => (
      <section key={tag} class="card" aria-label={tag}>
        <h2>{tag}</h2>
        <ul>
          {those.map(({ id, method, path, summary }) => (
            <li key={id}>
              <a href={placeOf(`system/${id}`)}>{summary}</a>{" "}
              <code class="quiet">
                {method} {path}
              </code>
            </li>
          ))}
        </ul>
      </section>
    ))}
  </div>
)

const Search = ({ all }: { readonly all: ReadonlyArray<OperationSummary> }) => {
  const { query, route } = useLocation()
  const place = placeOf("system/operations")
  const typed = useTyped({
    written: query["q"] ?? "",
    place,
    write: (text) => route(`${place}${text === "" ? "" : `?q=${encodeURIComponent(text)}`}`, true)
  })
  const found = useMemo(() => matching(all, query["q"] ?? ""), [all, query["q"]])
  return (
    <div class="stack">
      <div class="field">
        <label for="operations">{words.search}</label>
        <input
          id="operations"
          class="input"
          type="search"
          placeholder={words.searchHint}
          autocomplete="off"
          value={typed.value}
          onInput={typing(typed)}
        />
        <p class="hint" role="status">
          {found.length === 0 ? words.none : words.found(found.length)}
        </p>
      </div>
      <Groups operations={found} />
    </div>
  )
}

export const Operations = ({ id }: { readonly id: string | undefined }) => {
  const operations = useAnswer({ key: ["operations"], ask: loadOperations })
  return (
    <Answered of={operations} height={400}>
      {(all) => {
        if (id === undefined) return <Search all={all} />
        const summary = all.find((operation) => operation.id === id)
        return summary === undefined ? <p>{words.unknown}</p> : <OperationPage key={id} summary={summary} />
      }}
    </Answered>
  )
}
