/**
 * What every route of the table answers to every method and caller, by the spellings that lead to it and those that must not. The answers are
 * on file in `routes.txt`: a change there is a change of the gateway's contract. Write them anew with `npm test -- test/http/doors/routes -u`.
 */
import { assert, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { routes } from "../../../src/contract/Routes.ts"
import * as RawRequest from "../../support/RawRequest.ts"
import type { RawAnswer } from "../../support/RawRequest.ts"
import * as TestGateway from "../../support/TestGateway.ts"

interface Ask {
  readonly method: string
  readonly path: string
  readonly key?: string | undefined
  readonly body?: string | Buffer | undefined
}

const ask = (url: string, { body, key, method, path }: Ask): Promise<RawAnswer> =>
  RawRequest.ask(url, {
    method,
    path,
    body,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined
        ? {}
        : { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) })
    }
  })

/** The code of an error in whatever wire it is told; its words where a wire has no code. */
const codeOf = ({ body, headers }: RawAnswer): string => {
  if (body === "" || !String(headers["content-type"]).includes("json")) return ""
  const { error } = JSON.parse(body) as { readonly error?: unknown }
  if (typeof error !== "object" || error === null) return String(error ?? "")
  const { code, status, type } = error as Readonly<Record<string, unknown>>
  return String(status ?? code ?? type)
}

const told = (raw: RawAnswer): string =>
  [
    raw.status,
    raw.status < 400 ? "" : codeOf(raw),
    raw.headers.allow === undefined ? "" : `[${raw.headers.allow.split(", ").toSorted().join(", ")}]`,
    raw.headers["www-authenticate"] ?? ""
  ]
    .filter((part) => part !== "")
    .join(" ")

/** The same, with the first words of what is wrong. */
const explained = (raw: RawAnswer): string => {
  const message =
    raw.status < 400 ? "" : String((JSON.parse(raw.body) as { error?: { message?: unknown } }).error?.message)
  return message === "" ? told(raw) : `${told(raw)} (${message.slice(0, 60)})`
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
/** Nothing is wrong with an empty one but where it would capture the machine that the tests run on. */
const bodyFor = (path: string): string => (path.endsWith("/agent-bridge/tproxy") ? '{"dport":0}' : "{}")

const withBody = new Set(["POST", "PUT", "PATCH", "DELETE"])

const filled = (path: string): string =>
  path
    .replaceAll(/\/:(?:provider|token)/g, "/openai")
    .replaceAll(/\/:\w+/g, "/none")
    .replace("/*", "/models/m:generateContent")

const tablePaths = [...new Set(routes.map(({ path }) => filled(path)))].toSorted()

const spellings = [
  "/API/Keys",
  "//api/keys",
  "/api//keys",
  "/api/keys/",
  "/v1/../api/keys",
  "/v1/%2e%2e/api/keys",
  "/api%2fkeys",
  "/%61pi/keys",
  "/api/keys?x=/api/health/ping",
  "/api/keys#x",
  "/api/keys;x",
  "http://gateway.example/api/keys",
  "/api/usage/logs?limit=2&limit=3",
  "/api/usage/logs?limit=none",
  "/api/usage/logs?limit=%31",
  "/api/provider-models?provider=open%2Bai",
  "/api/combos/auto/",
  "/api/combos/%D0%B9%20a%3Fb%25%20c",
  `/api/combos/${"x".repeat(150)}`,
  "/api/combos/a/b",
  "/api/%00",
  "/api/%252e%252e/keys",
  "/api/%zz",
  "/api\\keys",
  "/V1/Chat/Completions",
  "//v1/chat/completions",
  "/v1/chat/completions/",
  "/v1/chat/completions?key=none",
  "/v1/chat/completions;x",
  "/v1/chat%2fcompletions",
  "/v1/models/openai/none",
  "/v1/models/openai%2Fnone",
  "/v1/models/",
  "/v1beta",
  "/v1beta/",
  "/v1beta/models",
  "/v1beta/models/",
  "/v1beta/MODELS/a/b:countTokens",
  "/v1beta/models/models/none:generateContent",
  "/v1beta/none:generateContent",
  "/v1beta/none:other",
  "/V1/Providers/OpenAI/models",
  `/v1/providers/${"x".repeat(150)}/models`,
  "/v1/providers/%C4%B0/models",
  "/v1/providers/openai/models/x",
  "/api/v1/editor/Some%20Key/v1/models/none",
  "/api/v1/editor",
  "/metrics/",
  "/openapi.json/",
  "/OpenAPI.json",
  "/no/such/route",
  "/api",
  "/*",
  "/api/combos/:id"
]

/** Names under each value, in their order. */
const grouped = (pairs: ReadonlyArray<readonly [name: string, value: string]>): ReadonlyArray<[string, string]> => {
  const names = new Map<string, Array<string>>()
  for (const [name, value] of pairs) names.set(value, [...(names.get(value) ?? []), name])
  return [...names].map(([value, all]) => [all.join(" "), value])
}

const answersOf = async (url: string, path: string, key: string | undefined): Promise<string> => {
  const answers: Array<readonly [string, string]> = []
  let got = 0
  for (const method of methods) {
    const raw = await ask(url, { method, path, key, body: withBody.has(method) ? bodyFor(path) : undefined })
    assert.isString(raw.headers["x-gateway-request-id"], `${method} ${path}`)
    assert.isString(raw.headers["x-gateway-version"], `${method} ${path}`)
    if (method === "GET") got = raw.status
    if (method === "HEAD") assert.strictEqual(raw.status, got, `HEAD ${path}`)
    else answers.push([method, told(raw)])
  }
  return grouped(answers)
    .map(([names, answer]) => `${names}: ${answer}`)
    .join(" | ")
}

const described = (url: string, paths: ReadonlyArray<string>, callers: Readonly<Record<string, string | undefined>>) =>
  Effect.promise(async () => {
    const lines: Array<string> = []
    for (const path of paths) {
      lines.push(path)
      const answers: Array<readonly [string, string]> = []
      for (const [name, key] of Object.entries(callers)) answers.push([name, await answersOf(url, path, key)])
      for (const [names, answer] of grouped(answers)) lines.push(`  ${names} | ${answer}`)
    }
    return lines
  })

const bodies: Readonly<Record<string, string | Buffer>> = {
  none: "",
  null: "null",
  "a list": "[]",
  "no JSON": "{",
  "with a byte order mark": '\ufeff{"name":"marked"}',
  "bytes that are no text": Buffer.from([0x7b, 0xff, 0x7d]),
  deep: `{"name":${"[".repeat(300)}${"]".repeat(300)}}`,
  "an unknown field": '{"nmae":"x"}',
  large: JSON.stringify({ name: "x", allowedModels: Array.from({ length: 900 }, (_, index) => `up/model-${index}`) }),
  "large and wrong": JSON.stringify({ name: 1, allowedModels: Array.from({ length: 3_000 }, () => "m") }),
  "larger than the limit": " ".repeat(1_100_000)
}

/** Routes with and without a body of their own, by the order in which they look at it. */
const bodyRoutes = [
  ["POST", "/api/keys"],
  ["POST", "/api/providers/none/test"],
  ["DELETE", "/api/providers/none"],
  ["DELETE", "/api/models/alias"],
  ["POST", "/api/auth/login"],
  ["POST", "/api/auth/logout"],
  ["GET", "/api/keys"],
  ["POST", "/v1/chat/completions"]
] as const

describe("every route", () => {
  it.scopedLive(
    "answers every method and caller as it is on file",
    () =>
      Effect.gen(function* () {
        const guarded = yield* TestGateway.start({
          environment: new Map([["REQUIRE_API_KEY", "true"]]),
          maxBodyBytes: 1_000_000
        })
        const open = yield* TestGateway.start()
        const { secret } = yield* Effect.promise(() => guarded.manage("POST", "/api/keys", { name: "plain" }))
        const callers = { nobody: undefined, user: String(secret), admin: TestGateway.adminKey }
        const lines = [
          "# With required keys",
          ...(yield* described(guarded.url, [...tablePaths, ...spellings], callers)),
          "",
          "# Without",
          ...(yield* described(open.url, tablePaths, { nobody: undefined })),
          "",
          "# Bodies"
        ]
        yield* Effect.promise(async () => {
          for (const [method, path] of bodyRoutes) {
            lines.push(`${method} ${path}`)
            for (const [name, body] of Object.entries(bodies)) {
              const outsider = await ask(guarded.url, { method, path, body })
              const admin = await ask(guarded.url, { method, path, body, key: TestGateway.adminKey })
              lines.push(`  ${name} | nobody: ${told(outsider)} | admin: ${explained(admin)}`)
            }
          }
          // eslint-disable-next-line vitest/no-standalone-expect -- this is inside of a test, made by Effect
          await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("routes.txt")
        })
      }),
    240_000
  )
})
