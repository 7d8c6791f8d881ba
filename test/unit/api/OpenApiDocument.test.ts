/** The document says all there is to say about every route, and nothing that is not so. */
import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { openApiJson } from "../../../src/contract/OpenApiDocument.ts"
import { match, type Route, routes } from "../../../src/contract/Routes.ts"

interface Schema {
  readonly [key: string]: unknown
  readonly $ref?: string
  readonly type?: string | ReadonlyArray<string>
  readonly description?: string
  readonly examples?: ReadonlyArray<unknown>
  readonly enum?: ReadonlyArray<unknown>
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly anyOf?: ReadonlyArray<Schema>
  readonly items?: Schema
}
interface Media {
  readonly schema: Schema
  readonly example?: unknown
}
interface Answer {
  readonly $ref?: string
  readonly description?: string
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, Media>>
}
interface Parameter {
  readonly $ref?: string
  readonly name: string
  readonly in: string
  readonly description?: string
  readonly example?: unknown
  readonly required?: boolean
  readonly schema: Schema
}
interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: ReadonlyArray<string>
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, Answer>>
}
interface Document {
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
  readonly servers: ReadonlyArray<{ readonly url: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses: Readonly<Record<string, Answer>>
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly headers: Readonly<Record<string, { readonly description: string; readonly example: unknown }>>
    readonly securitySchemes: Readonly<Record<string, { readonly description?: string }>>
  }
}

const text = openApiJson()
const document = JSON.parse(text) as Document
const { components } = document

const named = <A>(all: Readonly<Record<string, A>>, reference: string): A => {
  const found = all[reference.slice(reference.lastIndexOf("/") + 1)]
  assert.isDefined(found, reference)
  return found!
}
const answerOf = (answer: Answer): Answer =>
  answer.$ref === undefined ? answer : named(components.responses, answer.$ref)
const parameterOf = (parameter: Parameter): Parameter =>
  parameter.$ref === undefined ? parameter : named(components.parameters, parameter.$ref)

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    path,
    method: method.toUpperCase(),
    operation,
    name: `${method.toUpperCase()} ${path}`,
    /** The path with the examples of its parameters. */
    filled: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const given = operation.parameters.map(parameterOf).find((one) => one.name === name && one.in === "path")
      return encodeURIComponent(String(given?.example))
    })
  }))
)

/** A route in the document: by path parameters of OpenAPI; a free rest is a model, on the gemini wire with an action. */
const pathsOf = ({ key, path }: Route): ReadonlyArray<string> => {
  const template = path.replaceAll(/:(\w+)/g, "{$1}")
  if (key !== "inference.gemini") return [template.replace("/*", "/{model}")]
  return ["generateContent", "streamGenerateContent", "countTokens", "embedContent", "batchEmbedContents"].map(
    (action) => template.replace("/*", `/models/{model}:${action}`)
  )
}

describe("the operations", () => {
  it("are all routes of the route table, and no others", () => {
    // Pages for people are no part of the API, and the routes of SCIM are described by its own law.
    const described = routes.filter(({ key, tier }) => key !== "system.dashboard" && tier !== "scim")
    const expected = described.flatMap((route) => pathsOf(route).map((path) => `${route.method} ${path}`))
    assert.sameMembers(
      operations.map(({ name }) => name),
      expected
    )
  })

  it("lead to the route they stand for", () => {
    for (const { filled, method, name, path } of operations) {
      const found = match(method, filled)
      assert.strictEqual(found._tag, "Found", name)
      if (found._tag === "Found") assert.include(pathsOf(found.route), path)
    }
  })

  it("have an id of their own, a summary, a description, a tag that is described, and say what they answer", () => {
    assert.strictEqual(new Set(operations.map(({ operation }) => operation.operationId)).size, operations.length)
    const tags = new Map(document.tags.map((tag) => [tag.name, tag.description]))
    for (const { name, operation } of operations) {
      assert.match(operation.operationId, /^[a-z][A-Za-z0-9]+$/, name)
      assert.isNotEmpty(operation.summary, name)
      assert.notMatch(operation.summary, /\.$/, name)
      assert.isNotEmpty(operation.description, name)
      assert.isAtLeast(operation.tags.length, 1, name)
      for (const tag of operation.tags) assert.isNotEmpty(tags.get(tag), `${name}: ${tag}`)
      assert.isTrue(
        Object.keys(operation.responses).some((status) => status.startsWith("2")),
        name
      )
    }
    assert.strictEqual(tags.size, document.tags.length)
    const used = new Set(operations.flatMap(({ operation }) => operation.tags))
    assert.sameMembers([...tags.keys()], [...used])
  })

  it("have an example and a description of every parameter", () => {
    for (const { name, operation, path } of operations) {
      const parameters = operation.parameters.map(parameterOf)
      for (const parameter of parameters) {
        assert.isNotEmpty(parameter.description, `${name}: ${parameter.name}`)
        assert.isDefined(parameter.example, `${name}: ${parameter.name}`)
      }
      const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, parameter]) => parameter)
      assert.deepStrictEqual(
        parameters.filter((parameter) => parameter.in === "path").map((parameter) => parameter.name),
        inPath,
        name
      )
    }
  })

  it("have an example of every body they take and give", () => {
    for (const { name, operation } of operations) {
      const given = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"))
      const contents = [operation.requestBody?.content, ...given.map(([, { content }]) => content)]
      for (const [type, media] of contents.flatMap((content) => Object.entries(content ?? {}))) {
        assert.isDefined(media.example, `${name}: ${type}`)
      }
      for (const [status, answer] of Object.entries(operation.responses)) {
        assert.isNotEmpty(answerOf(answer).description, `${name}: ${status}`)
        const headers = answerOf(answer).headers ?? {}
        assert.property(headers, "X-Gateway-Request-Id", `${name}: ${status}`)
        assert.property(headers, "X-Gateway-Version", `${name}: ${status}`)
        if (status === "429" || status === "503") assert.property(headers, "Retry-After", `${name}: ${status}`)
      }
    }
  })

  it("stream where their route does, in the form of its wire", () => {
    const streaming = operations.filter(({ operation }) =>
      ["text/event-stream", "application/x-ndjson"].some((type) => type in (operation.responses["200"]?.content ?? {}))
    )
    const canonical = streaming.filter(({ operation }) => !operation.tags.includes("Other paths"))
    assert.deepStrictEqual(canonical.map(({ name }) => name).toSorted(), [
      "GET /mcp",
      "POST /api/chat",
      "POST /api/generate",
      "POST /api/playground/compare",
      "POST /api/tunnels/mesh/install",
      "POST /v1/chat/completions",
      "POST /v1/completions",
      "POST /v1/messages",
      "POST /v1/responses",
      "POST /v1beta/models/{model}:streamGenerateContent"
    ])
  })

  it("show the error of their wire, with its real shape", () => {
    const shapes: Readonly<Record<string, string>> = {
      chat: "OpenAiError",
      responses: "OpenAiError",
      messages: "MessagesError",
      gemini: "GeminiError",
      ollama: "LocalRunnerError"
    }
    for (const { filled, method, name, operation } of operations) {
      const found = match(method, filled)
      const route = found._tag === "Found" ? found.route : null
      const expected = /^(?:mcp\.(?:sendMessage|listen|endSession)|a2a\.askAgent)$/.test(route?.key ?? "")
        ? "McpError"
        : route?.plane === "management"
          ? "ErrorBody"
          : route?.wire === null
            ? "OpenAiError"
            : shapes[route?.wire ?? ""]
      const errors = Object.entries(operation.responses).filter(([status]) => Number(status) >= 400)
      assert.isNotEmpty(errors, name)
      for (const [status, answer] of errors) {
        const { schema } = answerOf(answer).content?.["application/json"] ?? {}
        assert.strictEqual(schema?.$ref, `#/components/schemas/${expected}`, `${name}: ${status}`)
      }
    }
  })
})

describe("the schemas", () => {
  const roots: ReadonlyArray<readonly [string, Schema]> = [
    ...Object.entries(components.schemas),
    ...operations.flatMap(({ name, operation }) =>
      [operation.requestBody?.content, ...Object.values(operation.responses).map(({ content }) => content)].flatMap(
        (content) => Object.entries(content ?? {}).map(([type, { schema }]) => [`${name} ${type}`, schema] as const)
      )
    )
  ]

  /** Every field of every object, with the place it stands at. */
  const fieldsOf = (place: string, schema: Schema): ReadonlyArray<readonly [string, Schema]> => [
    ...Object.entries(schema.properties ?? {}).map(([name, field]) => [`${place}.${name}`, field] as const),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => fieldsOf(`${place}.${name}`, field)),
    ...(schema.anyOf ?? []).flatMap((branch) => fieldsOf(place, branch)),
    ...(schema.items === undefined ? [] : fieldsOf(`${place}[]`, schema.items))
  ]
  const fields = roots.flatMap(([name, schema]) => fieldsOf(name, schema))

  const hasExample = (schema: Schema): boolean => {
    if (schema.examples !== undefined || schema.default !== undefined || schema.enum !== undefined) return true
    if (schema.$ref !== undefined) return hasExample(named(components.schemas, schema.$ref))
    if (schema.anyOf !== undefined) return schema.anyOf.some(hasExample)
    if (schema.items !== undefined) return hasExample(schema.items)
    if (schema.properties !== undefined) return Object.values(schema.properties).every(hasExample)
    return [schema.type].flat().includes("boolean") || schema["minimum"] !== undefined
  }

  it("describe every field, in words of ours", () => {
    assert.isAbove(fields.length, 500)
    const missing = fields.filter(
      ([place, { description = "" }]) =>
        !place.startsWith("ComboConfig.") &&
        (description === "" || /^an? (?:string|number|array|positive)/.test(description))
    )
    assert.deepStrictEqual(
      missing.map(([place]) => place),
      []
    )
  })

  it("have an example of every field, or of its parts", () => {
    const missing = fields.filter(([, schema]) => !hasExample(schema))
    assert.deepStrictEqual(
      missing.map(([place]) => place),
      []
    )
  })

  it("hold nothing of the library's own", () => {
    assert.notInclude(text, '"$id"')
    assert.notInclude(text, "/schemas/unknown")
    assert.notInclude(text, "HttpApiDecodeError")
    assert.notMatch(text, /between\(|minLength\(|"title":"(?:int|positive)"/)
  })

  it("of bodies of the management refuse what they do not name", () => {
    for (const name of ["CreateConnection", "CreateApiKey", "UpdateCombo", "ChangeSettings", "PatchResilience"]) {
      assert.propertyVal(components.schemas[name], "additionalProperties", false, name)
    }
    assert.notPropertyVal(components.schemas["Connection"], "additionalProperties", false)
    assert.notPropertyVal(components.schemas["ChatCompletionRequest"], "additionalProperties", false)
  })

  it("fit their examples", () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true })
    ajv.addSchema({ $id: "https://gateway.test/openapi", ...document })
    const check = (place: string, pointer: string, value: unknown): void => {
      const valid = ajv.validate({ $ref: `https://gateway.test/openapi#${pointer}` }, value)
      assert.isTrue(valid, `${place}: ${ajv.errorsText()} in ${JSON.stringify(value)?.slice(0, 300)}`)
    }
    const step = (name: string): string => `/${encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"))}`
    for (const { method, name, operation, path } of operations) {
      const at = `/paths${step(path)}${step(method.toLowerCase())}`
      for (const [type, media] of Object.entries(operation.requestBody?.content ?? {})) {
        check(name, `${at}/requestBody/content${step(type)}/schema`, media.example)
      }
      for (const [status, answer] of Object.entries(operation.responses)) {
        for (const [type, media] of Object.entries(answer.content ?? {})) {
          check(`${name}: ${status}`, `${at}/responses/${status}/content${step(type)}/schema`, media.example)
        }
      }
      for (const [index, parameter] of operation.parameters.entries()) {
        if (parameter.$ref === undefined) check(name, `${at}/parameters/${index}/schema`, parameter.example)
      }
    }
  })
})

describe("the rest", () => {
  it("is described too", () => {
    assert.strictEqual(document.servers[0]?.url, "/")
    for (const [name, header] of Object.entries(components.headers)) {
      assert.isNotEmpty(header.description, name)
      assert.isDefined(header.example, name)
    }
    for (const [name, scheme] of Object.entries(components.securitySchemes)) {
      assert.isNotEmpty(scheme.description ?? "", name)
    }
  })
})
