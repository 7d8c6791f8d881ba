/**
 * A client that is generated from `/openapi.json` calls every operation of the document on a running gateway, with the documented examples.
 * Every answer has a documented status and fits the schema that is documented for it.
 */
import { assert, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { changesMachine, rankOf, refusedHere, upstreamAnswer } from "../../support/DocumentedOperations.ts"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import * as Redocly from "../../support/Redocly.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { exampleId, exampleKeyId, exampleProxyId } from "../../../src/contract/Examples.ts"

interface Parameter {
  readonly $ref?: string
  readonly name: string
  readonly in: string
  readonly example: unknown
}
interface Operation {
  readonly operationId: string
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example: unknown }>> }
  readonly responses: Readonly<
    Record<string, { readonly $ref?: string; readonly content?: Readonly<Record<string, object>> }>
  >
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/** A function of the generated client. Streams are read by iterating over them. */
type Call = (args: object, init: object) => Promise<unknown> | AsyncIterable<unknown>
interface Client {
  readonly configure: (config: object) => void
  readonly client: Readonly<Record<string, Call>>
}

interface Placed {
  readonly path: string
  readonly method: string
  readonly operation: Operation
}

const rank = ({ operation: { operationId } }: Placed): number => rankOf(operationId)

/** The examples of the document are done at once, so that no job is kept, and no response in the background: those routes answer that there is none. */
const mayRefuse = ({ operation: { operationId }, path }: Placed): boolean =>
  /\{(?:job|response)\}/.test(path) || refusedHere[operationId] !== undefined

/** Members of a query that only an answer before can give. */
const fromAnswers = new Set(["cursor", "after", "after_id", "before_id", "pageToken"])

/** Times that are given in the place of a `range`. */
const inPlaceOfRange = new Set(["from", "to"])

/** Filters that leave the record of the examples; the generated client reads lines of JSON as one value, which no line is not. */
const ownQueries: Readonly<Record<string, object>> = { inspectorJsonl: {} }

const ingestToken = "ingest-token-of-the-tests"

const step = (name: string): string => `/${encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"))}`

const adminPassword = "correct horse battery staple"

it.scopedLive(
  "every operation is called by a generated client, and answers as the document says",
  () =>
    Effect.gen(function* () {
      const upstream = yield* FakeUpstream.start
      upstream.always((response, request) => upstreamAnswer(request)(response, request))
      upstream.lists(FakeUpstream.json(FakeUpstream.models(["gpt-4o-mini", "text-embedding-3-small"])))
      const gateway = yield* TestGateway.start({
        adminPassword: Redacted.make(adminPassword),
        environment: new Map([["INSPECTOR_INTERNAL_INGEST_TOKEN", ingestToken]])
      })
      // The examples connect a provider of models only.
      const searches = { provider: "tavily", name: "searches", apiKey: "k", baseUrl: upstream.origin }
      yield* Effect.promise(() => gateway.manage("POST", "/api/providers", searches))
      yield* Effect.promise(() => gateway.manage("PATCH", "/api/settings", { a2aEnabled: true }))
      yield* Effect.promise(() => callAll(gateway.url, upstream.origin))
    }),
  { timeout: 180_000 }
)

/** They have events whether or not these are asked for. */
const streamsAlways: ReadonlySet<string> = new Set(["inspectorReplay", "tunnelsInstallMesh", "playgroundCompare"])

const callAll = async (url: string, upstream: string): Promise<void> => {
  const text = await (await fetch(`${url}/openapi.json`)).text()
  const document = JSON.parse(text) as Document
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .map(([method, operation]) => ({ path, method, operation }))
      .filter(({ operation: { operationId } }) => !changesMachine.has(operationId))
  )
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.addSchema({ $id: "https://gateway.test/openapi", ...document })

  const folder = mkdtempSync(join(tmpdir(), "gateway-client-"))
  try {
    writeFileSync(join(folder, "openapi.json"), text)
    const file = join(folder, "client.ts")
    await Redocly.run(folder, [
      "generate-client",
      "openapi.json",
      "-o",
      file,
      "--import-ext",
      "ts",
      "--error-mode",
      "result"
    ])
    const { client, configure } = (await import(/* @vite-ignore */ file)) as Client

    const ids: Record<string, string> = {}
    const registered: Array<string> = []
    let session: Readonly<Record<string, string>> = {}
    let current: Placed | null = null
    const statuses = new Map<string, number>()

    /** Compares an answer with what is documented of its operation. */
    const check = async ({ method, operation, path }: Placed, answer: Response): Promise<void> => {
      const name = `${method.toUpperCase()} ${path}`
      const body = await answer.text()
      statuses.set(operation.operationId, answer.status)
      const said = `${name}: ${answer.status} ${body.slice(0, 500)}`
      if (!mayRefuse({ method, operation, path })) assert.isBelow(answer.status, 300, said)
      const documented = operation.responses[String(answer.status)]
      assert.isDefined(documented, said)
      assert.isString(answer.headers.get("x-gateway-request-id"), said)
      if (answer.status === 204) return assert.strictEqual(body, "", said)
      const type = (answer.headers.get("content-type") ?? "").split(";")[0] ?? ""
      const pointer =
        documented?.$ref?.replace("#", "") ?? `/paths${step(path)}${step(method)}/responses/${answer.status}`
      if (documented?.$ref === undefined) assert.property(documented?.content, type, said)
      const value: unknown = type === "application/json" ? JSON.parse(body) : body
      const fits = ajv.validate({ $ref: `https://gateway.test/openapi#${pointer}/content${step(type)}/schema` }, value)
      assert.isTrue(fits, `${ajv.errorsText()} in ${said}`)
      remember(operation.operationId, value, answer)
    }

    const remember = (operationId: string, value: unknown, { headers }: Response): void => {
      const at = (member: string): string => String((value as Record<string, Record<string, unknown>>)[member]?.["id"])
      if (operationId === "authLogin") {
        const cookie = (headers.get("set-cookie") ?? "").split(";")[0] ?? ""
        session = { cookie, "x-csrf-token": String((value as { csrfToken?: unknown }).csrfToken) }
      }
      if (operationId === "inspectorIngest") ids["inspector"] = String((value as { id?: unknown }).id)
      if (operationId === "inspectorStartSession") ids["recording"] = at("session")
      if (operationId === "providersCreate") {
        ids["providers"] = at("connection")
        ids["issueLimits"] = at("connection")
      }
      if (operationId.startsWith("registeredKeysRegister")) {
        registered.push(String((value as { keyId?: unknown }).keyId))
      }
      ids["registeredKeys"] = registered.at(-1) ?? ""
      if (operationId === "providerNodesCreate") ids["providerNodes"] = at("node")
      if (operationId === "usersCreate") ids["users"] = at("user")
      if (operationId === "issuersCreate") ids["issuers"] = at("issuer")
      if (operationId === "teamsCreate") ids["teams"] = at("team")
      if (operationId === "quotaGroupsCreate") ids["quotaGroups"] = at("group")
      if (operationId === "proxiesCreate") ids["proxies"] = at("proxy")
      if (operationId === "webhooksCreate") ids["webhooks"] = at("webhook")
      if (operationId === "mcpServersCreate") ids["mcpServers"] = at("server")
      if (operationId === "evalsStart") {
        ids["evalsRun"] = at("run")
        ids["evalsCancel"] = at("run")
      }
      if (operationId === "evalsCreateSuite") ids["evals"] = at("suite")
      if (operationId === "memoryCreate") ids["memory"] = at("memory")
      if (operationId === "playgroundCreatePreset") ids["playground"] = at("preset")
      if (operationId === "combosCreate") ids["combos"] = at("combo")
      if (operationId === "compressionCombosCreate") ids["compressionCombos"] = at("combo")
      if (operationId === "keysCreate") {
        ids["keys"] = at("key")
        ids["token"] = String((value as { secret?: unknown }).secret)
      }
      if (operationId === "limitsSetTokenLimit") ids["tokenLimit"] = at("limit")
      if (operationId.startsWith("inferenceCreateFile")) ids["file"] = String((value as { id?: unknown }).id)
      if (operationId.startsWith("inferenceCreateBatch")) ids["batch"] = String((value as { id?: unknown }).id)
      if (operationId === "inferenceChat") ids["requestId"] = headers.get("x-gateway-request-id") ?? ""
    }

    /** Flags, the password and the log-out are for sessions; a key asks about itself. */
    const credentials = (address: string): Readonly<Record<string, string>> => {
      if (/feature-flags|auth\/(?:logout|password|session)|sign-in\/logout/.test(address)) return session
      if (address.endsWith("/internal/ingest")) return { authorization: `Bearer ${ingestToken}` }
      return {
        authorization: `Bearer ${/\/api\/usage\/me(?:\/|$)/.test(address) ? ids["token"] : TestGateway.adminKey}`
      }
    }

    configure({
      serverUrl: url,
      fetch: async (address: string | URL, init: RequestInit) => {
        const placed = current
        assert.isNotNull(placed)
        const headers = { ...Object.fromEntries(new Headers(init.headers)), ...credentials(String(address)) }
        const answer = await fetch(address, { ...init, headers })
        await check(placed!, answer.clone())
        return answer
      }
    })

    const pathOf = ({ operation: { operationId, parameters }, path }: Placed): Readonly<Record<string, string>> => {
      const group = Object.keys(ids).find((name) => operationId.startsWith(name))
      const owner = operationId.startsWith("providerNodes") ? "providerNodes" : group
      const given: Readonly<Record<string, string | undefined>> = {
        id: path.includes("/traffic-inspector/sessions/")
          ? ids["recording"]
          : operationId.startsWith("registeredKeysRemove")
            ? registered.pop()
            : ids[owner ?? ""],
        other: ids["inspector"],
        connectionId: ids["providers"],
        requestId: ids["requestId"],
        token: ids["token"],
        file: path.startsWith("/v1/files/") ? ids["file"] : undefined,
        batch: path.startsWith("/v1/batches/") ? ids["batch"] : undefined
      }
      return Object.fromEntries(
        parameters
          .filter((parameter) => parameter.in === "path")
          .map(({ example, name }) => [name, given[name] ?? String(example)])
      )
    }

    /** The documented body, with ids of this gateway, and with the fake upstream as the provider's address. */
    const bodyOf = ({ operation: { operationId, requestBody } }: Placed): unknown => {
      if (requestBody === undefined) return undefined
      // A form that the generated client fills in.
      if (requestBody.content["application/json"] === undefined) {
        if (/imageEdits|imageVariations/i.test(operationId)) {
          const image = new File(["PNG"], "gate.png", { type: "image/png" })
          return { image, model: "openai/gpt-4o-mini", prompt: "Open the gate." }
        }
        if (/createVideo/i.test(operationId)) return { model: "openai/gpt-4o-mini", prompt: "A gate opens." }
        if (/transcriptions|translations/i.test(operationId)) {
          return { file: new File(["RIFF"], "speech.wav"), model: "openai/gpt-4o-mini" }
        }
        return { file: new File(["line\n"], "lines.jsonl"), purpose: "batch" }
      }
      const written = JSON.stringify(requestBody.content["application/json"].example)
        .replaceAll(exampleId, ids["providers"] ?? exampleId)
        .replaceAll(exampleKeyId, ids["keys"] ?? exampleKeyId)
        .replaceAll(exampleProxyId, ids["proxies"] ?? exampleProxyId)
      const body = JSON.parse(written) as Record<string, unknown>
      if (operationId === "providersCreate") return { ...body, baseUrl: upstream, wires: ["chat"] }
      if (operationId === "mcpServersCreate") return { ...body, url: upstream }
      if (operationId === "authChangePassword") return { ...body, currentPassword: adminPassword }
      if (operationId.startsWith("inferenceCreateBatch")) return { ...body, input_file_id: ids["file"] }
      // Of the providers only this one has a connection here.
      if (/rerank/i.test(operationId)) return { ...body, model: "openai/gpt-4o-mini" }
      return operationId === "providersValidate" ? { ...body, baseUrl: upstream } : body
    }

    const isStream = ({ operation }: Placed): boolean =>
      "text/event-stream" in (operation.responses["200"]?.content ?? {}) && !streamsAlways.has(operation.operationId)

    const exampleOf = (operationId: string, example: unknown): unknown => {
      if (example === exampleKeyId) return ids["keys"]
      if (example === exampleProxyId) return ids["proxies"]
      return operationId === "limitsRemoveTokenLimit" ? ids["tokenLimit"] : example
    }

    const queryOf = ({ operation: { operationId, parameters } }: Placed): Readonly<Record<string, unknown>> =>
      Object.fromEntries(
        parameters
          .filter((parameter) => parameter.in === "query" && !fromAnswers.has(parameter.name))
          .filter(({ name }) => !inPlaceOfRange.has(name) || parameters.every((other) => other.name !== "range"))
          .map(({ example, name }) => [name, exampleOf(operationId, example)])
      )

    const call = async (placed: Placed, more: object, query: object): Promise<void> => {
      const { operationId } = placed.operation
      const run = client[operationId]
      assert.isFunction(run, operationId)
      const body = bodyOf(placed)
      const args = {
        path: pathOf(placed),
        query,
        ...(body === undefined ? {} : { body: { ...(body as object), ...more } })
      }
      const outcome = run!(args, { reconnect: false })
      if (Symbol.asyncIterator in outcome) {
        let events = 0
        try {
          for await (const event of outcome) if (event !== undefined) events++
        } catch (error) {
          if (!mayRefuse(placed)) throw error
        }
        if ("stream" in more) assert.isAbove(events, 1, operationId)
      } else await outcome
    }

    for (const placed of operations.toSorted((a, b) => rank(a) - rank(b))) {
      current = placed
      await call(placed, {}, ownQueries[placed.operation.operationId] ?? queryOf(placed))
      const hasForms = placed.operation.parameters.some(({ name }) => name === "alt")
      if (hasForms) await call(placed, {}, {})
      else if (isStream(placed) && !mayRefuse(placed)) await call(placed, { stream: true }, queryOf(placed))
    }
    assert.strictEqual(statuses.size, operations.length)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
