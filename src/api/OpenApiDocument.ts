/** The OpenAPI document of the whole service, derived from the contract. Built on first use, then kept. */
import * as OpenApi from "@effect/platform/OpenApi"
import type { JsonSchema } from "@effect/platform/OpenApiJsonSchema"
import * as JSONSchema from "effect/JSONSchema"
import { ComboConfig } from "../domain/combo/ConfigSchema.ts"
import { version } from "../platform/Version.ts"
import { GatewayApi } from "./Api.ts"
import { CompatApi } from "./CompatApi.ts"

/** What schemes cannot say by themselves: an unsafe request needs the token beside the cookie, and keys may be not required. */
const refined = (security: ReadonlyArray<OpenApi.OpenAPISecurityRequirement>) => {
  const pairs = security.map((scheme) => ("session" in scheme ? { ...scheme, csrf: [] } : scheme))
  return security.some((scheme) => "apiKeyHeader" in scheme) ? [{}, ...pairs] : pairs
}

const csrf: OpenApi.OpenAPISecurityScheme = {
  type: "apiKey",
  name: "X-CSRF-Token",
  in: "header",
  description: "Needed with the cookie unless reading."
}

const methods = ["get", "post", "put", "patch", "delete"] as const

/** The framework's own decode error and its parts: clients never see it, only `ErrorBody`. */
const unusedSchemas = new Set(["HttpApiDecodeError", "Issue", "PropertyKey"])

/** What is an object of anything in the contract, because it is checked field by field behind it. */
const comboConfig = (): JsonSchema => {
  const { $schema: _version, ...schema } = JSONSchema.make(ComboConfig)
  return schema as JsonSchema
}

const build = (): OpenApi.OpenAPISpec => {
  const spec = OpenApi.fromApi(GatewayApi.addHttpApi(CompatApi).annotate(OpenApi.Version, version), {
    additionalPropertiesStrategy: "allow"
  })
  for (const item of Object.values(spec.paths)) {
    for (const method of methods) {
      const operation = item[method]
      if (operation === undefined) continue
      operation.security = refined(operation.security)
      const content = operation.responses[400]?.content?.["application/json"]
      if (content !== undefined) content.schema = { $ref: "#/components/schemas/ErrorBody" }
    }
  }
  const schemas = Object.fromEntries(
    Object.entries(spec.components.schemas).filter(([name]) => !unusedSchemas.has(name))
  )
  return {
    ...spec,
    components: {
      ...spec.components,
      schemas: { ...schemas, ComboConfig: comboConfig() },
      securitySchemes: { ...spec.components.securitySchemes, csrf }
    }
  }
}

let cached: string | null = null

/** The document as JSON text. */
export const openApiJson = (): string => (cached ??= JSON.stringify(build()))
