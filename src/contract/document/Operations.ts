/** An operation of the contract as the OpenAPI document shows it: with examples, headers and our own errors. Pure. */
import { everywhere, headersOf, ownHeaders, waiting } from "./Headers.ts"
import { asMap, type Definitions, exampleOf, type Json, type JsonMap, listOf, refer } from "./JsonSchemas.ts"
import { aliasTag, securityOf } from "./Texts.ts"
import type { WrittenOperation } from "./Written.ts"

/** `providers.create` → `providersCreate`: the name of a function in most languages. */
export const identifier = (...words: ReadonlyArray<string>): string =>
  words
    .join(".")
    .replaceAll(/[^A-Za-z0-9]+(\w)/g, (_, letter: string) => letter.toUpperCase())
    .replaceAll(/\W/g, "")

const given = (name: string, value: Json | undefined): JsonMap => (value === undefined ? {} : { [name]: value })

const parameterOf =
  (schemas: Definitions) =>
  (parameter: Json): JsonMap => {
    const { schema, ...rest } = asMap(parameter)
    const { description = "", examples, ...type } = asMap(schema)
    const first = listOf(examples)[0] ?? exampleOf(type, schemas)
    // The library writes the example of a number in a query as the text that it is decoded from.
    const example = type["type"] === "integer" || type["type"] === "number" ? Number(first) : first
    return { ...rest, description, schema: type, ...given("example", example) }
  }

const contentOf = (content: Json | undefined, schemas: Definitions, example?: Json): JsonMap =>
  Object.fromEntries(
    Object.entries(asMap(content)).map(([type, media]) => {
      const schema = asMap(asMap(media)["schema"])
      return [type, { schema, ...given("example", example ?? exampleOf(schema, schemas)) }]
    })
  )

const isNull = (schema: Json): boolean => asMap(schema)["type"] === "null"

/** A body that may be null may be left out as well. */
const bodyOf = (body: JsonMap, schemas: Definitions, example: Json | undefined): JsonMap => {
  const content = contentOf(body["content"], schemas, example)
  if (content["application/json"] === undefined) return { required: true, content }
  const { schema, ...media } = asMap(content["application/json"])
  const branches = listOf(asMap(schema)["anyOf"])
  if (!branches.some(isNull)) return { required: true, content }
  const only = branches.find((branch) => !isNull(branch)) ?? {}
  return { required: false, content: { "application/json": { schema: only, ...media } } }
}

/** Statuses whose answers say when to come again. */
const waits: ReadonlySet<string> = new Set(["429", "503"])

/** A refusal or failure in the shape of a schema. */
const failure = (status: string, description: string, schema: string): JsonMap => ({
  description,
  headers: headersOf(everywhere, waits.has(status) ? waiting : {}),
  content: { "application/json": { schema: refer(schema) } }
})

const managementFailures: Readonly<Record<string, string>> = {
  400: "The request is wrong; `details` names each field.",
  401: "No credential was given, or it is not valid here.",
  403: "The credential is known, but may not do this; or the request comes from a foreign web page.",
  404: "There is no such thing.",
  409: "The change does not fit what is there.",
  413: "The body is larger than this route takes.",
  415: "The body is not called `application/json`.",
  422: "The request is well-formed, but cannot be carried out on this.",
  429: "Too many tries; see `Retry-After`.",
  500: "A fault of the gateway; its log has the details.",
  501: "This needs settings that are not set; the message names them.",
  502: "The provider did not answer as it should.",
  503: "The gateway cannot serve this now."
}

/** `components.responses` of failures by status, in the shape of a schema. */
export const failureComponents = (schema: string, failures: Readonly<Record<string, string>>): JsonMap =>
  Object.fromEntries(
    Object.entries(failures).map(([status, description]) => [
      `${schema}${status}`,
      failure(status, description, schema)
    ])
  )

export const managementErrors: JsonMap = failureComponents("ErrorBody", managementFailures)

export const referToFailure = (schema: string, status: string): JsonMap => ({
  $ref: `#/components/responses/${schema}${status}`
})

const successes: Readonly<Record<string, string>> = { 201: "It was made.", 204: "It is done; there is no body." }

const errorExample: JsonMap = {
  error: {
    message: "Pages of other sites may not call this gateway.",
    type: "permission_error",
    code: "cross_site_request"
  }
}

const answerOf = (name: string, status: string, answer: Json, schemas: Definitions): JsonMap => {
  const { content } = asMap(answer)
  if (Number(status) >= 400) {
    const { "text/html": page } = asMap(content)
    if (page === undefined) return referToFailure("ErrorBody", status)
    // A page sends its own refusals as pages; refusals before it are sent as everywhere.
    const { content: usual, ...told } = asMap(managementErrors[`ErrorBody${status}`])
    const json = { ...asMap(asMap(usual)["application/json"]), example: errorExample }
    return { ...told, content: { "application/json": json, ...contentOf({ "text/html": page }, schemas) } }
  }
  return {
    description: successes[status] ?? "The answer.",
    headers: headersOf(everywhere, ownHeaders(name)),
    ...(content === undefined ? {} : { content: contentOf(content, schemas) })
  }
}

export interface Operation extends JsonMap {
  readonly operationId: string
  readonly summary: Json
  readonly description: Json
  readonly tags: Json
  readonly security: ReadonlyArray<JsonMap>
  readonly parameters: ReadonlyArray<JsonMap>
  readonly responses: JsonMap
}

export const operationOf = (
  name: string,
  { example, operation }: WrittenOperation,
  schemas: Definitions
): Operation => {
  const { description = "", parameters, requestBody, responses, security, summary = "", tags = [] } = operation
  return {
    operationId: identifier(name),
    summary,
    description,
    tags,
    security: securityOf(listOf(security)),
    parameters: listOf(parameters).map(parameterOf(schemas)),
    ...(requestBody === undefined ? {} : { requestBody: bodyOf(asMap(requestBody), schemas, example) }),
    responses: Object.fromEntries(
      Object.entries(asMap(responses)).map(([status, answer]) => [status, answerOf(name, status, answer, schemas)])
    )
  }
}

/**
 * Writes the differences of an operation at another spelling of its path. `first`: method and path where it is
 * described.
 */
export const aliasOf = (name: string, path: string, { description, summary }: Operation, first: string) => ({
  tags: [aliasTag.name],
  operationId: identifier(name, "at", path),
  summary: `${String(summary)} at ${path}`,
  description: `The same as \`${first}\`. ${String(description)}`
})
