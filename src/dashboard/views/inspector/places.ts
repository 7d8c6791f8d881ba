/** Addresses within the inspector: the area is in the path, what is chosen in it in the query. */
import { placeOf } from "../../ui/address/places.ts"

export type Query = Readonly<Record<string, string | undefined>>

export const inspectorPlace = (area: string, query: Query = {}): string => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== "") search.set(name, value)
  const rest = search.toString()
  return `${placeOf(area === "" ? "inspector" : `inspector/${area}`)}${rest === "" ? "" : `?${rest}`}`
}
