/**
 * The provider registry for routers beside the gateway, as plain JSON (`/api/v1/provider-plugin-manifest`). It holds
 * only what the registry holds: nothing of accounts or nodes, no secret, no request header, no variable of the environment.
 */
import type { Manifest, ManifestModel, ManifestProvider } from "../../contract/compat/Manifest.ts"
import { isForSearchesOnly, needsOf, type ProviderSpec } from "../../contract/domain/Provider.ts"
import { wirePath } from "./Endpoints.ts"
import { factsOfName } from "./ModelFamilies.ts"
import { allProviders } from "./registry/index.ts"
import { signInOf } from "./registry/signIn.ts"

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
    keyUrl: spec.keyUrl,
    keyHint: spec.keyHint,
    needs: needsOf(spec),
    signIn: signInOf(spec.id),
    models: spec.models.map(modelOf),
    sidecar: { eligible: reasons.length === 0, reasons }
  }
}

export const manifestOf = (providers: ReadonlyArray<ProviderSpec>): Manifest => ({
  schemaVersion: 1,
  providers: providers.map(providerOf)
})

let manifest: Manifest | null = null

/** The manifest of the registry. It never changes while the gateway runs, so it is made once, when it is first asked for. */
export const pluginManifest = (): Manifest => (manifest ??= manifestOf(allProviders))
