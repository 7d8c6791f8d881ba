/** State of the view in its address: what is shown can be kept and passed on. */
import { useLocation } from "preact-iso"

type Query = Readonly<Record<string, string>>

/** The address with members of its query changed; an empty one is taken out. */
export const withQuery = (path: string, query: Query, changes: Query): string => {
  const next = new URLSearchParams(Object.entries({ ...query, ...changes }).filter(([, value]) => value !== ""))
  return next.size === 0 ? path : `${path}?${next.toString()}`
}

export const useAddress = () => {
  const { path, query, route } = useLocation()
  return {
    query,
    /** The address with these members changed, for links. */
    to: (changes: Query): string => withQuery(path, query, changes),
    /** Goes there, without a new entry in the history. */
    set: (changes: Query): void => route(withQuery(path, query, changes), true)
  }
}
