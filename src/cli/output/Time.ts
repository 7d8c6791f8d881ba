/** Times as people read them. */

const two = (value: number): string => String(value).padStart(2, "0")

const dayOf = (date: Date): string => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`

/** An ISO time on this machine's clock: the time of today, else the day, too. A dash for null. */
export const localTime = (iso: string | null, nowMs: number): string => {
  if (iso === null) return "-"
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return iso
  const day = dayOf(date)
  const minute = `${two(date.getHours())}:${two(date.getMinutes())}`
  return day === dayOf(new Date(nowMs)) ? `${minute}:${two(date.getSeconds())}` : `${day} ${minute}`
}
