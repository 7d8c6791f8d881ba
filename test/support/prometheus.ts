/** Checks a page against the grammar and the rules of the Prometheus text format 0.0.4. */

const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/u
const pair = String.raw`[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"`
const sampleLine = new RegExp(
  String.raw`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(${pair}(?:,${pair})*)\})? ([+-]?(?:Inf|\d+(?:\.\d+)?(?:e[+-]?\d+)?)|NaN)$`,
  "u"
)
const types = new Set(["counter", "gauge", "histogram"])
const boundLabel = /,?le="([^"]*)"/u

const numberOf = (text: string): number => Number(text.replace("Inf", "Infinity"))

/** Lists the problems of the page, empty when there are none. */
export const problems = (page: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const seen = new Set<string>()
  const declared = new Set<string>()
  const buckets = new Map<string, Array<readonly [bound: number, count: number]>>()
  const counts = new Map<string, number>()
  let family = { name: "", type: "" }

  if (page !== "" && !page.endsWith("\n")) found.push("the last line has no line feed")
  for (const line of page.split("\n").slice(0, -1)) {
    const [, keyword, name = "", rest = ""] = comment.exec(line) ?? []
    if (keyword === "HELP") continue
    if (keyword === "TYPE") {
      if (!types.has(rest)) found.push(`unknown type: ${line}`)
      if (declared.has(name)) found.push(`declared twice: ${name}`)
      declared.add(name)
      family = { name, type: rest }
      continue
    }
    const [, sample, labels = "", text = ""] = sampleLine.exec(line) ?? []
    if (sample === undefined) {
      found.push(`no sample: ${line}`)
      continue
    }
    const suffix = sample.slice(family.name.length)
    const allowed = family.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""]
    if (!sample.startsWith(family.name) || !allowed.includes(suffix)) found.push(`outside its family: ${line}`)
    const identity = `${sample}{${labels}}`
    if (seen.has(identity)) found.push(`twice: ${identity}`)
    seen.add(identity)
    if (suffix === "_bucket") {
      const key = `${family.name}{${labels.replace(boundLabel, "")}}`
      const bound = numberOf(boundLabel.exec(labels)?.[1] ?? "NaN")
      buckets.set(key, [...(buckets.get(key) ?? []), [bound, numberOf(text)]])
    }
    if (suffix === "_count" && family.type === "histogram") counts.set(`${family.name}{${labels}}`, numberOf(text))
  }

  for (const [key, steps] of buckets) {
    const rising = steps.every(
      ([bound, count], index) => index === 0 || (bound > steps[index - 1]![0] && count >= steps[index - 1]![1])
    )
    if (!rising) found.push(`buckets do not rise: ${key}`)
    const [bound, count] = steps.at(-1)!
    if (bound !== Number.POSITIVE_INFINITY) found.push(`no +Inf bucket: ${key}`)
    if (counts.get(key) !== count) found.push(`count differs from the last bucket: ${key}`)
  }
  return found
}
