/** Chooses the part of a list that is shown, by links: it stands in the address. */
import { useLocation } from "preact-iso"
import { withQuery } from "./Pages.tsx"

interface Properties {
  readonly label: string
  /** Values of `show` with their words; the first one is what is shown without it. */
  readonly choices: Readonly<Record<string, string>>
  /** Parameters that another part starts without, such as the page. */
  readonly dropped?: ReadonlyArray<string>
}

export const shownOf = (query: Readonly<Record<string, string>>, choices: Readonly<Record<string, string>>): string => {
  const [first = ""] = Object.keys(choices)
  const wanted = query["show"] ?? first
  return Object.hasOwn(choices, wanted) ? wanted : first
}

export const Shows = ({ choices, dropped = [], label }: Properties) => {
  const { path, query } = useLocation()
  const [first] = Object.keys(choices)
  const shown = shownOf(query, choices)
  const none = Object.fromEntries(dropped.map((name) => [name, ""]))
  return (
    <nav class="shows" aria-label={label}>
      {Object.entries(choices).map(([value, name]) => (
        <a
          key={value}
          href={withQuery(path, query, { ...none, show: value === first ? "" : value })}
          aria-current={value === shown ? "true" : undefined}
        >
          {name}
        </a>
      ))}
    </nav>
  )
}
