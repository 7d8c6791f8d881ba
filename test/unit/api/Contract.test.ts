import { assert, describe, it } from "@effect/vitest"
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { GatewayApi } from "../../../src/contract/Api.ts"
import { endpointsOf } from "../../../src/contract/Endpoints.ts"
import * as Errors from "../../../src/contract/Errors.ts"
import { anyFields } from "../../../src/subjects/combos/entity/ConfigFields.ts"
import { openApiJson } from "../../../src/contract/OpenApiDocument.ts"
import { managementRoutes } from "../../../src/contract/ManagementRoutes.ts"
import { routes } from "../../../src/contract/Routes.ts"
import {
  CallerAccess,
  IngestAccess,
  KnownAccess,
  LocalAccess,
  LoopbackAccess,
  ManageAccess,
  OwnerAccess,
  PublicAccess,
  SessionAccess,
  SelfAccess
} from "../../../src/contract/Security.ts"

interface Operation {
  readonly security: ReadonlyArray<Record<string, unknown>>
  readonly responses: Record<string, unknown>
}
interface Document {
  readonly openapi: string
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { readonly schemas: Record<string, unknown> }
}
const document = JSON.parse(openApiJson()) as Document

describe("contract errors", () => {
  for (const [answer, error, status] of [
    [Errors.BadRequestAnswer, new Errors.BadRequest({ message: "no", param: "a" }), 400],
    [Errors.UnauthorizedAnswer, new Errors.Unauthorized({ message: "no" }), 401],
    [Errors.ForbiddenAnswer, new Errors.Forbidden({ message: "no" }), 403],
    [Errors.NotFoundAnswer, new Errors.NotFound({ message: "no" }), 404],
    [Errors.MethodNotAllowedAnswer, new Errors.MethodNotAllowed({ message: "no" }), 405],
    [Errors.ConflictAnswer, new Errors.Conflict({ message: "no" }), 409],
    [Errors.TooLargeAnswer, new Errors.TooLarge({ message: "no" }), 413],
    [Errors.TooManyRequestsAnswer, new Errors.TooManyRequests({ message: "no" }), 429],
    [Errors.InternalAnswer, new Errors.Internal({ message: "no" }), 500],
    [Errors.UpstreamFailedAnswer, new Errors.UpstreamFailed({ message: "no" }), 502],
    [Errors.UnavailableAnswer, new Errors.Unavailable({ message: "no" }), 503]
  ] as const) {
    it(`${error._tag} is ${status}, flat, and comes back as the same class`, () => {
      const schema = answer as unknown as Schema.Schema<Errors.ContractError, typeof Errors.ErrorBody.Encoded>
      assert.strictEqual(HttpApiSchema.getStatusError(schema), status)
      const body = Schema.encodeSync(schema)(error)
      assert.deepStrictEqual(Object.keys(body), ["error"])
      assert.notProperty(body.error, "_tag")
      const back = Schema.decodeSync(schema)(body)
      assert.strictEqual(back._tag, error._tag)
      assert.strictEqual(back.message, "no")
    })
  }

  it("leaves out what is not known", () => {
    assert.deepStrictEqual(Errors.toBody(new Errors.NotFound({ message: "gone" })), {
      error: { message: "gone", type: "invalid_request_error", code: "not_found" }
    })
  })

  it("names fields", () => {
    const details = [{ field: "name", message: "is missing" }]
    assert.deepStrictEqual(Errors.toBody(new Errors.BadRequest({ message: "no", param: "name", details })), {
      error: { message: "no", type: "invalid_request_error", code: "bad_request", param: "name", details }
    })
  })

  it("gives every error of every endpoint a status of its own", () => {
    HttpApi.reflect(GatewayApi, {
      onGroup: () => {},
      onEndpoint: ({ endpoint, errors }) => {
        for (const status of errors.keys()) assert.isTrue(status >= 400 && status < 600, `${endpoint.name}: ${status}`)
      }
    })
  })
})

describe("route table", () => {
  it("has every method and path once, and one tier per key", () => {
    assert.strictEqual(new Set(routes.map(({ method, path }) => `${method} ${path}`)).size, routes.length)
    const tiers = new Map(routes.map(({ key, tier }) => [key, tier]))
    assert.isTrue(routes.every(({ key, tier }) => tiers.get(key) === tier))
  })

  it("makes an endpoint only of a route of the table, which has a tier", () => {
    // @ts-expect-error -- no such route
    assert.throws(() => endpointsOf("keys")("nothing"))
    // @ts-expect-error -- no such group
    assert.throws(() => endpointsOf("nothing")("list"))
  })

  it("gives every endpoint the parameters of its path, and the way in of its tier", () => {
    HttpApi.reflect(GatewayApi, {
      onGroup: () => {},
      onEndpoint: ({ endpoint, group }) => {
        const key = `${group.identifier}.${endpoint.name}`
        const route = managementRoutes.find((candidate) => candidate.key === key)
        assert.isDefined(route, key)
        assert.deepStrictEqual([endpoint.method, endpoint.path], [route!.method, route!.path], key)
        const fields = Option.match(endpoint.pathSchema, {
          onNone: () => [],
          onSome: ({ ast }) => AST.getPropertySignatures(ast).map(({ name }) => `:${String(name)}`)
        })
        assert.sameMembers(
          Array.from(route!.path.matchAll(/:\w+/g), ([parameter]) => parameter),
          fields,
          key
        )
        const access = {
          public: PublicAccess,
          inference: CallerAccess,
          manage: ManageAccess,
          self: SelfAccess,
          known: KnownAccess,
          session: SessionAccess,
          local: LocalAccess,
          loopback: LoopbackAccess,
          owner: OwnerAccess,
          ingest: IngestAccess
        }
        const [last] = [...endpoint.middlewares].toReversed()
        assert.strictEqual(last?.key, access[route!.tier as keyof typeof access].key, key)
      }
    })
  })

  it("makes public only what the contract says", () => {
    const open = routes.filter(({ tier }) => tier === "public").map(({ key }) => key)
    assert.sameMembers(open, [
      "a2a.card",
      "a2a.formerCard",
      "agentSkills.list",
      "agentSkills.coverage",
      "agentSkills.get",
      "agentSkills.raw",
      "agentSkills.file",
      "auth.login",
      "logins.begin",
      "logins.token",
      "oauth.callback",
      "signIn.offered",
      "signIn.begin",
      "signIn.callback",
      "system.init",
      "system.ping",
      "system.openapi",
      "system.configurationSchema",
      "system.docs",
      "system.docsFile",
      "system.dashboard",
      "system.dashboard",
      "system.root"
    ])
  })

  it("gives feature flags to sessions only", () => {
    const flags = routes.filter(({ path }) => path === "/api/settings/feature-flags")
    assert.deepStrictEqual(
      flags.map(({ tier }) => tier),
      ["session", "session", "session"]
    )
  })
})

describe("OpenAPI document", () => {
  it("holds every management and inference route, by its first spelling", () => {
    // Paths with a free rest cannot be said in OpenAPI.
    const said = routes.filter(
      ({ key, path, tier }) =>
        !["system.dashboard", "system.metrics", "system.root"].includes(key) && tier !== "scim" && !path.endsWith("*")
    )
    const first = said.filter((route) => said.find(({ key }) => key === route.key) === route)
    for (const route of first) {
      const path = route.path.replaceAll(/:(\w+)/g, "{$1}")
      assert.isDefined(document.paths[path]?.[route.method.toLowerCase()], `${route.method} ${route.path}`)
    }
  })

  it("tells which credentials a route takes", () => {
    assert.deepStrictEqual(document.paths["/api/health/ping"]?.get?.security, [])
    assert.deepStrictEqual(document.paths["/api/settings/feature-flags"]?.get?.security, [{ session: [], csrf: [] }])
    assert.deepStrictEqual(document.paths["/api/providers"]?.get?.security, [{ bearer: [] }, { session: [], csrf: [] }])
    assert.deepStrictEqual(document.paths["/v1/chat/completions"]?.post?.security, [
      {},
      { bearer: [] },
      { apiKeyHeader: [] },
      { csrf: [], session: [] }
    ])
  })

  it("shows the gateway's own error body, never the framework's", () => {
    assert.notInclude(openApiJson(), "HttpApiDecodeError")
    assert.isDefined(document.components.schemas.ErrorBody)
  })

  it("shows every field of a combo's config, with its range, meaning and default", () => {
    const { properties } = document.components.schemas["ComboConfig"] as {
      readonly properties: Readonly<Record<string, { readonly anyOf: ReadonlyArray<object> }>>
    }
    const { nested, plain } = anyFields
    assert.sameMembers(Object.keys(properties), [...Object.keys(plain), ...Object.keys(nested)])
    assert.deepInclude(properties["setRetryDelayMs"]?.anyOf[0], {
      type: "number",
      minimum: 0,
      maximum: 600_000,
      default: 2_000,
      description: "Milliseconds before another round."
    })
    for (const [key, property] of Object.entries(properties)) {
      assert.property(property.anyOf[0], "description", key)
    }
    const combos = JSON.stringify(document.components.schemas["CreateCombo"])
    assert.include(combos, '"$ref":"#/components/schemas/ComboConfig"')
    assert.notInclude(openApiJson(), "#/$defs/")
  })

  it("has no dangling reference", () => {
    for (const [, name = ""] of openApiJson().matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      assert.isDefined(document.components.schemas[name], name)
    }
  })
})

describe("inputs", () => {
  it("take null for every optional field and ignore unknown ones", async () => {
    const { CreateConnection } = await import("../../../src/subjects/connections/routes.ts")
    const fields = Object.keys(CreateConnection.fields).filter((field) => field !== "provider")
    const input = { provider: "openai", surprise: 1, ...Object.fromEntries(fields.map((field) => [field, null])) }
    const decoded = Schema.decodeUnknownEither(CreateConnection)(input)
    assert.isTrue(Either.isRight(decoded))
    assert.notProperty(Either.getOrThrow(decoded), "surprise")
  })
})
