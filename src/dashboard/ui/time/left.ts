/** Time that is left: 0:09, 4:10, 2 h 5 min, 3 d. */
export const left = (ms: number): string => {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  if (hours >= 48) return `${Math.floor(hours / 24)} d`
  if (hours >= 1) return `${hours} h ${minutes % 60} min`
  return `${minutes}:${String(seconds % 60).padStart(2, "0")}`
}
