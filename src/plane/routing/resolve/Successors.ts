/**
 * Old and dated names of models, and what has come after them, for the flag `MODEL_ALIAS_COMPAT_ENABLED` (docs/routing.md). The lines are what
 * the makers' pages on retired models name as successors:
 * https://platform.claude.com/docs/en/about-claude/model-deprecations, https://platform.openai.com/docs/deprecations,
 * https://ai.google.dev/gemini-api/docs/deprecations, https://console.groq.com/docs/deprecations, https://docs.mistral.ai/getting-started/models.
 * Models that make vectors have none: vectors of two models do not fit together. Pure.
 */
import { withoutLongWindow } from "./ModelIds.ts"

/** Oldest first: each name's successor is the next one of the first line that it is in. */
const lines: ReadonlyArray<ReadonlyArray<string>> = [
  ["claude-3-sonnet", "claude-3-5-sonnet", "claude-3-7-sonnet", "claude-sonnet-4-0", "claude-sonnet-4"],
  ["claude-1", "claude-2.0", "claude-2.1", "claude-2", "claude-sonnet-4"],
  ["claude-3.5-sonnet", "claude-3.7-sonnet", "claude-sonnet-4", "claude-sonnet-4-5", "claude-sonnet-4-6"],
  ["claude-3-opus", "claude-opus-4-0", "claude-opus-4", "claude-opus-4-1", "claude-opus-4-5", "claude-opus-4-6"],
  ["claude-opus-4-6", "claude-opus-4-7", "claude-opus-4-8"],
  ["claude-instant-1.2", "claude-instant-1", "claude-3-haiku", "claude-3-5-haiku", "claude-haiku-4-5"],
  ["claude-3.5-haiku", "claude-haiku-4-5"],
  ["gpt-3.5-turbo-16k", "gpt-3.5-turbo", "gpt-4o-mini", "gpt-4.1-mini", "gpt-5-mini", "gpt-5.4-mini"],
  ["gpt-4-32k", "gpt-4", "gpt-4-turbo-preview", "gpt-4-turbo", "gpt-4o", "gpt-4.1"],
  ["gpt-4-vision-preview", "gpt-4-vision", "gpt-4o"],
  ["gpt-4.5-preview", "gpt-4.5", "gpt-4.1", "gpt-5", "gpt-5.1", "gpt-5.2", "gpt-5.4"],
  ["chatgpt-4o", "gpt-4o"],
  ["gpt-4.1-nano", "gpt-5-nano"],
  ["o1-preview", "o1", "o3", "gpt-5"],
  ["o1-mini", "o3-mini", "o4-mini", "gpt-5-mini"],
  ["gemini-pro", "gemini-1.0-pro", "gemini-1.5-pro", "gemini-2.5-pro"],
  ["gemini-pro-vision", "gemini-1.5-flash", "gemini-2.0-flash-exp", "gemini-2.0-flash", "gemini-2.5-flash"],
  ["gemini-2.5-flash", "gemini-3.5-flash"],
  ["gemini-1.5-flash-8b", "gemini-2.0-flash-lite", "gemini-2.5-flash-lite"],
  ["open-mixtral-8x7b", "open-mixtral-8x22b", "mistral-small"],
  ["open-mistral-7b", "ministral-8b"],
  ["deepseek-coder", "deepseek-chat"],
  ["grok-beta", "grok-2", "grok-3", "grok-4"],
  ["llama2-70b-4096", "llama3-70b-8192", "llama-3.1-70b-versatile", "llama-3.3-70b-versatile"],
  ["llama3-8b-8192", "gemma-7b-it", "gemma2-9b-it", "llama-3.1-8b-instant"],
  ["mixtral-8x7b-32768", "mistral-saba-24b", "llama-3.3-70b-versatile"]
]

const successors: ReadonlyMap<string, string> = new Map(
  lines
    .flatMap((line) => line.slice(0, -1).map((name, at): readonly [string, string] => [name, line[at + 1] ?? name]))
    // Of two entries of a map the last one stays.
    .toReversed()
)

/** `-20250929`, `@20250929`, `-2024-08-06`, `-08-2024`, `-0613`, `-001`, `-latest`, at the end of a name. */
const stamp = /[-@](?:20\d{6}|20\d\d-\d\d-\d\d|\d\d-20\d\d|\d{4}|00\d|latest)$/

/** Names longer than any maker's have no successor. */
const maxNameChars = 128

const undated = (name: string): string => name.replace(stamp, "")

const makesVectors = (name: string): boolean => name.includes("embed")

/**
 * Names that may stand in for one that is not served, best first: the same model under its name without a date, its newest dated name among
 * `listed`, then the same of its successors.
 */
export function* successorsOf(id: string, listed: Iterable<string>): Generator<string> {
  const name = withoutLongWindow(id)
  if (name.length > maxNameChars || makesVectors(name)) return
  const seen = new Set<string>([id])
  const fresh = (candidate: string): boolean => !seen.has(candidate) && seen.add(candidate) !== undefined
  for (let current: string | undefined = name; current !== undefined;) {
    const base = undated(current)
    for (const candidate of [current, base, `${base}-latest`]) if (fresh(candidate)) yield candidate
    const newest = newestOf(base, listed)
    if (newest !== null && fresh(newest)) yield newest
    const next: string | undefined = successors.get(current) ?? successors.get(base)
    current = next !== undefined && seen.has(next) ? undefined : next
  }
}

/** The dated name of a model that sorts last: dates of one maker have one form. */
const newestOf = (base: string, listed: Iterable<string>): string | null => {
  let newest: string | null = null
  for (const name of listed) {
    if (name.length > base.length && name.startsWith(base) && undated(name) === base && name > (newest ?? "")) {
      newest = name
    }
  }
  return newest
}
