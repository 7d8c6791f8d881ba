/** Sizes of files as people read them. */
const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const

export const size = (bytes: number): string => {
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return new Intl.NumberFormat(navigator.language, {
    style: "unit",
    unit: units[step] ?? "byte",
    unitDisplay: "short",
    maximumFractionDigits: step === 0 ? 0 : 1
  }).format(bytes / 1_000 ** step)
}
