/** `docs/usage-by-provider.md`, written from the registry. */
import type { ReasoningCount, UsageDialect } from "../../../contract/domain/Dialect.ts"
import { isForSearchesOnly, type ProviderSpec } from "../../../contract/domain/Provider.ts"
import { isChatModel } from "../ChatModels.ts"
import { usageOn } from "./usage.ts"
import { usageRecordings } from "./usageRecordings.ts"

const introduction = `# Where providers count reasoning and cached tokens

The gateway's own counts are the same for every provider: all prompt tokens, cached ones included, and all generated tokens,
reasoning included. This page says where each provider's answer counts them, where that is documented, and which published answer
the reading was tried on. It is generated from the registry.

- **inside**: the larger count (completion, prompt) holds them already;
- **beside**: they are added to it;
- **outside the total**: not even the answer's own total holds them.

Whatever the table says, numbers that cannot be otherwise decide. A total of prompt, completion and reasoning means *beside*, one of
prompt and completion means *inside*; a part that is larger than its whole is beside it, and so are cached or audio tokens without
which the total does not come out. Where the total is more than anything told explains, or nothing but a total is told, the output
is the total less the prompt.

A dash under *Documentation*: the provider documents nothing of it; it is read as the maker of its wire documents it. Under
*Recorded answer* stands a published answer of the provider, or the example of its documentation, whose usage the tests read. *as*
names a provider of the same maker that has one; this address itself has none. A dash: none was found, and the tests read at most
numbers that are made up in the documented shape. A recorded answer shows only the members it has: many have no cached or reasoning
tokens, and it may be of another wire of the provider than the one in the row.`

const words: Readonly<Record<ReasoningCount, string>> = {
  inside: "inside",
  beside: "beside",
  outside_total: "outside the total"
}

const line = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`

const place = (word: string, [path]: ReadonlyArray<string>): string =>
  path === undefined ? "not told" : `${word}, \`${path}\``

const recorded = (id: string): string => {
  const recording = usageRecordings[id]
  if (recording === undefined) return "–"
  return "at" in recording ? `<${recording.at}>` : `as \`${recording.as}\``
}

const row = (spec: ProviderSpec): string => {
  const [wire] = spec.wires
  const usage: UsageDialect = usageOn(wire, spec.dialect.usage)
  return line([
    `\`${spec.id}\``,
    wire,
    place(words[usage.reasoning], usage.reasoningAt),
    place(usage.cacheRead, usage.cacheReadAt),
    usage.docs === null ? "–" : `<${usage.docs}>`,
    recorded(spec.id)
  ])
}

/** Checks whether a provider holds conversations; not one whose known models all do something else. */
const converses = (spec: ProviderSpec): boolean =>
  spec.models.length === 0
    ? !isForSearchesOnly(spec)
    : spec.models.some((model) => isChatModel(model, { outputModalities: null }))

/** The whole page, ending in a line end. */
export const renderUsagePage = (providers: ReadonlyArray<ProviderSpec>): string => {
  const head = ["Provider", "Wire", "Reasoning tokens", "Cached prompt tokens", "Documentation", "Recorded answer"]
  const rows = providers.filter(converses).map(row)
  return `${[introduction, [line(head), line(head.map(() => "---")), ...rows].join("\n")].join("\n\n")}\n`
}
