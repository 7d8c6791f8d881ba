/** Hosts that are known to serve models, and whose provider they are. Pure. */
import { registry } from "../../../plane/providers/Registry.ts"

/** Hosts with the id of the provider in the registry; null: several providers, or none of its own. */
export const knownHosts: ReadonlyArray<readonly [pattern: string, provider: string | null]> = [
  ["api.openai.com", "openai"],
  ["api.anthropic.com", "anthropic"],
  ["generativelanguage.googleapis.com", "gemini"],
  ["*.openai.azure.com", "azure-openai"],
  ["api.mistral.ai", "mistral"],
  ["api.deepseek.com", "deepseek"],
  ["api.groq.com", "groq"],
  ["api.together.xyz", "together"],
  ["api.fireworks.ai", "fireworks"],
  ["api.cohere.com", "cohere"],
  ["api.perplexity.ai", "perplexity"],
  ["*.huggingface.co", "huggingface"],
  ["openrouter.ai", "openrouter"],
  ["api.x.ai", "xai"],
  ["api.moonshot.ai", "moonshot"],
  ["bigmodel.cn", "zhipu"],
  ["*.bytedance.com", null],
  ["*.aliyun.com", null]
]

/** A name without its port, in lower case. */
export const bareHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/:\d{1,5}$/, "")
    .replace(/\.$/, "")

const matches = (host: string, pattern: string): boolean => {
  const name = pattern.startsWith("*.") ? pattern.slice(2) : pattern
  return host === name || host.endsWith(`.${name}`)
}

const known = (host: string): readonly [string, string | null] | undefined =>
  knownHosts.find(([pattern]) => matches(host, pattern))

export const isKnownHost = (host: string): boolean => known(bareHost(host)) !== undefined

const hostOf = (url: string): string | null =>
  url.includes("{") || !URL.canParse(url) ? null : new URL(url).hostname.toLowerCase()

let byHost: ReadonlyMap<string, string> | null = null

/** Builds the hosts when they are first asked for: a gateway that captures nothing needs none. */
const registered = (): ReadonlyMap<string, string> =>
  (byHost ??= new Map(
    [...registry.values()]
      .filter((spec) => spec.class !== "local")
      .toReversed()
      .flatMap((spec): ReadonlyArray<[string, string]> => {
        const host = hostOf(spec.baseUrl)
        return host === null ? [] : [[host, spec.id]]
      })
  ))

/** Id of the provider that a host belongs to; null when unknown. */
export const providerOfHost = (host: string): string | null => {
  const name = bareHost(host)
  return registered().get(name) ?? known(name)?.[1] ?? null
}
