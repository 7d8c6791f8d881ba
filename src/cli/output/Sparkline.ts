/** A row of numbers as bars of eight heights, or of characters that every terminal has. */

const bars = "▁▂▃▄▅▆▇█"
const plainBars = "_.-=+*#@"

/** One character per number; the greatest has the highest bar, and 0 is a blank. */
export const sparkline = (values: ReadonlyArray<number>, unicode: boolean): string => {
  const levels = unicode ? bars : plainBars
  const most = Math.max(0, ...values)
  if (most === 0) return ""
  return values
    .map((value) =>
      value <= 0 ? " " : (levels[Math.min(levels.length - 1, Math.floor((value / most) * levels.length))] ?? "")
    )
    .join("")
}

/** Checks whether the terminal's character set has the bars. */
export const hasBars = (environment: ReadonlyMap<string, string>): boolean => {
  const locale = environment.get("LC_ALL") || environment.get("LC_CTYPE") || environment.get("LANG") || ""
  return environment.get("TERM") !== "linux" && environment.get("TERM") !== "dumb" && /utf-?8/i.test(locale)
}
