/** Addresses of the list by a filter. */
import { placeOf } from "../../ui/address/places.ts"

export const listPlace = (filter: string): string =>
  `${placeOf("requests")}${filter === "" ? "" : `?q=${encodeURIComponent(filter)}`}`

export const filterLink = (name: string, value: string): string => listPlace(`${name}:"${value.replaceAll('"', "")}"`)
