/** Ways to the page before and behind this one; where the list is, is in the address. */
import { useLocation } from "preact-iso"
import { words } from "../../words/parts.ts"

/** The address of this place with other parameters; empty ones are left out. */
export const withQuery = (
  path: string,
  query: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string>>
): string => {
  const next = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...query, ...changes })) if (value !== "") next.set(name, value)
  const text = next.toString()
  return text === "" ? path : `${path}?${text}`
}

interface Properties {
  /** Parameter that says where the list is. */
  readonly name: string
  /** Value of it for the first page, the page before and the page behind; null: there is none. */
  readonly before: string | null
  readonly next: string | null
}

export const Pages = ({ before, name, next }: Properties) => {
  const { path, query } = useLocation()
  if (before === null && next === null) return null
  return (
    <nav class="buttons" aria-label={words.pages}>
      {before !== null && (
        <a class="button" href={withQuery(path, query, { [name]: before })}>
          {before === "" ? words.first : words.before}
        </a>
      )}
      {next !== null && (
        <a class="button" href={withQuery(path, query, { [name]: next })}>
          {words.next}
        </a>
      )}
    </nav>
  )
}
