/** Comparing what a page shows with what a program prints: times, dates, ids, ports, durations and the width of columns may differ. */
const replaced: ReadonlyArray<readonly [pattern: RegExp, by: string]> = [
  [/\b\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?/g, "<date>"],
  [/\b\d\d:\d\d:\d\d(?:\.\d+)?\b/g, "<time>"],
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{8}(?:-[0-9a-f]+)*\b/g, "<id>"],
  [/\bgw_[\w…]+/g, "<secret>"],
  [/(?<=127\.0\.0\.1:|localhost:)\d+/g, "<port>"],
  [/\b\d+(?:\.\d+)? ?(?:ms|s|min|h|MiB|GiB)\b(?: \d+ (?:s|min)\b)?/g, "<amount>"]
]

const seen = (text: string, varies: ReadonlyArray<RegExp>): string => {
  let rest = text
  for (const pattern of varies) rest = rest.replaceAll(pattern, "<varies>")
  for (const [pattern, by] of replaced) rest = rest.replaceAll(pattern, by)
  return rest
    .split("\n")
    .map((line) => line.replaceAll(/\s+/g, " ").trim())
    .join("\n")
    .trim()
}

export const alike = (shown: string, printed: string, varies: ReadonlyArray<RegExp> = []): boolean =>
  seen(shown, varies) === seen(printed, varies)
