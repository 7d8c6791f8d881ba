/** The catalogue of providers. */
import type { Manifest } from "../../contract/compat/Manifest.ts"
import { readError } from "./ApiError.ts"
import { gatewayUrl } from "./client.ts"

export type Provider = Manifest["providers"][number]

export const loadProviders = async (signal: AbortSignal): Promise<ReadonlyArray<Provider>> => {
  const response = await fetch(new URL("api/v1/provider-plugin-manifest", gatewayUrl), { signal })
  if (!response.ok) throw await readError(response)
  return ((await response.json()) as Manifest).providers
}
