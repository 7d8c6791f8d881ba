/**
 * Days and times in ISO 8601 as people and programs give them. Strict, because JavaScript is not: it takes the 30th of February for the 2nd of
 * March, and a time without a zone for one of the machine it runs on.
 */

const dayForm = /^(\d{4})-(\d\d)-(\d\d)$/
const instantForm =
  /^(\d{4}-\d\d-\d\d)[Tt](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$/
const offset = /([+-]\d\d)(\d\d)$/

/** Checks whether the text is `YYYY-MM-DD` of a day that the calendar has. */
export const isDay = (text: string): boolean => {
  const [, year, month, day] = dayForm.exec(text) ?? []
  if (year === undefined) return false
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  // Of years below 100 JavaScript makes those of 1900.
  return Number(year) >= 100 && date.toISOString().slice(0, 10) === text
}

/** Epoch milliseconds of a day with a time and a zone (`Z` or an offset); null when it is none. */
export const instantMs = (text: string): number | null => {
  const [, day] = instantForm.exec(text) ?? []
  if (day === undefined || !isDay(day)) return null
  const ms = Date.parse(text.toUpperCase().replace(offset, "$1:$2"))
  return Number.isNaN(ms) ? null : ms
}
