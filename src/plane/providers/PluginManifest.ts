/**
 * The provider registry for routers beside the gateway, as plain JSON (`/api/v1/provider-plugin-manifest`). It holds
 * only what the registry holds: nothing of accounts or nodes, no secret, no request header, no variable of the environment.
 */
import { isForSearchesOnly, type ProviderSpec } from "../../domain/Provider.ts"
import type { WireName } from "../../domain/Wire.ts"
import { wirePath } from "./Endpoints.ts"
import { factsOfName } from "./ModelFamilies.ts"
import { allProviders } from "./registry/index.ts"

export interface ManifestModel {
  readonly id: string
  readonly contextLength: number | null
  readonly maxOutputTokens: number | null
  readonly vision: boolean | null
  readonly reasoning: boolean | null
  readonly toolCalling: boolean | null
  readonly structuredOutput: boolean | null
}

export interface ManifestProvider {
  readonly id: string
  readonly name: string
  readonly aliases: ReadonlyArray<string>
  readonly category: string
  /** Base URL; may hold `{placeholders}` that an account's own base URL fills. */
  readonly baseUrl: string
  /** Preferred first. */
  readonly wires: ReadonlyArray<WireName>
  /** Path below `baseUrl` per wire; `{model}` stands for the model. */
  readonly paths: Readonly<Partial<Record<WireName, string>>>
  readonly modelsPath: string | null
  /** `prefix` is before the credential in the header, with its trailing space. */
  readonly auth: { readonly type: string; readonly header: string; readonly prefix: string }
  readonly docsUrl: string | null
  readonly models: ReadonlyArray<ManifestModel>
  /** Eligibility: whether a key and this entry are all that is needed to call the provider; if not, the reasons. */
  readonly sidecar: { readonly eligible: boolean; readonly reasons: ReadonlyArray<string> }
}

export interface PluginManifest {
  readonly schemaVersion: 1
  readonly providers: ReadonlyArray<ManifestProvider>
}

const modelOf = (id: string): ManifestModel => {
  const { contextLength, maxOutputTokens, reasoning, structuredOutput, toolCalling, vision } = factsOfName(id)
  return { id, contextLength, maxOutputTokens, vision, reasoning, toolCalling, structuredOutput }
}

const reasonsAgainst = (spec: ProviderSpec): ReadonlyArray<string> => [
  ...(spec.auth.type === "oauth" ? ["oauth_session"] : []),
  ...(isForSearchesOnly(spec) ? ["no_models"] : []),
  ...(spec.class === "local" ? ["local_server"] : []),
  ...(spec.baseUrl.includes("{") ? ["base_url_per_account"] : [])
]

/** Field by field, so that a new member of a spec is not published by accident. */
const providerOf = (spec: ProviderSpec): ManifestProvider => {
  const reasons = reasonsAgainst(spec)
  return {
    id: spec.id,
    name: spec.name,
    aliases: spec.aliases,
    category: spec.category,
    baseUrl: spec.baseUrl,
    wires: spec.wires,
    paths: Object.fromEntries(spec.wires.map((wire) => [wire, wirePath(spec, wire)])),
    modelsPath: spec.modelsPath,
    auth: { type: spec.auth.type, header: spec.auth.header, prefix: spec.auth.prefix },
    docsUrl: spec.docsUrl,
    models: spec.models.map(modelOf),
    sidecar: { eligible: reasons.length === 0, reasons }
  }
}

export const manifestOf = (providers: ReadonlyArray<ProviderSpec>): PluginManifest => ({
  schemaVersion: 1,
  providers: providers.map(providerOf)
})

let manifest: PluginManifest | null = null

/** The manifest of the registry. It never changes while the gateway runs, so it is made once, when it is first asked for. */
export const pluginManifest = (): PluginManifest => (manifest ??= manifestOf(allProviders))
