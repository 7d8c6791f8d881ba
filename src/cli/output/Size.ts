/** Sizes as people read them. */

const units = ["B", "KiB", "MiB", "GiB", "TiB"] as const

/** `512 B`, `1.4 MiB`. */
export const sizeText = (bytes: number): string => {
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit += 1
  }
  // 1023.96 KiB would be written as 1024.0 KiB.
  if (Number(value.toFixed(1)) >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit += 1
  }
  return unit === 0 ? `${value} B` : `${value.toFixed(1)} ${units[unit] ?? ""}`
}
