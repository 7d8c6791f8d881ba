/** The OpenAPI document of the whole service, derived from the contract and the route table. Built on first use, then kept. */
import { build } from "./document/Build.ts"

let cached: string | null = null

/** The document as JSON text. */
export const openApiJson = (): string => (cached ??= JSON.stringify(build()))
