/** `docs/usage-by-provider.md`, written from the registry. */
import type { ReasoningCount, UsageDialect } from "../../domain/Dialect.ts"
import type { ProviderSpec } from "../../domain/Provider.ts"
import { usageOn } from "./usage.ts"

const introduction = `# Where providers count reasoning and cached tokens

The gateway's own counts are the same for every provider: all prompt tokens, cached ones included, and all generated tokens,
reasoning included. This page says where each provider's answer counts them, and where that is documented. It is generated from
the registry; tests hold the reading to it.

- **inside**: the larger count (completion, prompt) holds them already;
- **beside**: they are added to it;
- **outside the total**: not even the answer's own total holds them.

Whatever the table says, numbers that cannot be otherwise decide: a total of prompt, completion and reasoning means *beside*, one of
prompt and completion means *inside*, and a part that is larger than its whole is beside it. Where only a total is told, the
output is the total less the prompt. A dash in the last column: the provider documents nothing of it; it is read as the maker of
its wire documents it.`

const words: Readonly<Record<ReasoningCount, string>> = {
  inside: "inside",
  beside: "beside",
  outside_total: "outside the total"
}

const line = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`

const place = (word: string, [path]: ReadonlyArray<string>): string =>
  path === undefined ? "not told" : `${word}, \`${path}\``

const row = (spec: ProviderSpec): string => {
  const [wire] = spec.wires
  const usage: UsageDialect = usageOn(wire, spec.dialect.usage)
  return line([
    `\`${spec.id}\``,
    wire,
    place(words[usage.reasoning], usage.reasoningAt),
    place(usage.cacheRead, usage.cacheReadAt),
    usage.docs === null ? "–" : `<${usage.docs}>`
  ])
}

/** The whole page, ending in a line end. */
export const renderUsagePage = (providers: ReadonlyArray<ProviderSpec>): string => {
  const head = ["Provider", "Wire", "Reasoning tokens", "Cached prompt tokens", "Documentation"]
  return `${[introduction, [line(head), line(head.map(() => "---")), ...providers.map(row)].join("\n")].join("\n\n")}\n`
}
