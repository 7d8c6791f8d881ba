/** A gateway whose flags are set as a person sets them: in an admin session, or by the environment. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { FlagKey } from "../../../src/subjects/flags/FlagCatalog.ts"
import type { AppConfigShape } from "../../../src/platform/AppConfig.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const password = "correct horse battery staple"
const route = "/api/settings/feature-flags"

export interface Listed {
  readonly key: string
  readonly effectiveValue: string
  readonly source: string
  readonly pendingRestart: boolean
}

/** A gateway, and a session that changes its flags; null takes the override away. */
export const start = (
  environment: Readonly<Record<string, string>> = {},
  given?: string,
  config: Partial<AppConfigShape> = {}
) =>
  Effect.gen(function* () {
    const dataDir = given ?? (yield* temporary)
    const gateway = yield* TestGateway.start({
      adminPassword: Redacted.make(password),
      ...config,
      environment: new Map(Object.entries(environment)),
      dataDir
    })
    const login = yield* Effect.promise(() => gateway.post("/api/auth/login", { password }))
    const { csrfToken } = JSON.parse(yield* Effect.promise(() => login.text()))
    const cookie = (login.headers.get("set-cookie") ?? "").split(";")[0] ?? ""
    const headers = { cookie, "x-csrf-token": String(csrfToken), "content-type": "application/json" }
    const put = (key: FlagKey, value: string | null) =>
      fetch(gateway.url + route, { method: "PUT", headers, body: JSON.stringify({ key, value }) })
    const set = async (key: FlagKey, value: string | null) => {
      const response = await put(key, value)
      assert.strictEqual(response.status, 200)
      return JSON.parse(await response.text())
    }
    const listed = async (key: FlagKey): Promise<Listed | undefined> => {
      const answer = JSON.parse(await (await fetch(gateway.url + route, { headers })).text())
      return (answer.flags as ReadonlyArray<Listed>).find((flag) => flag.key === key)
    }
    const chat = async (model: string) => {
      const messages = [{ role: "user", content: "Hi" }]
      const response = await gateway.post("/v1/chat/completions", { model, messages })
      await response.arrayBuffer()
      return response.status
    }
    const admin = (method: string, path: string, body?: unknown) =>
      fetch(gateway.url + path, {
        method,
        headers: { authorization: `Bearer ${TestGateway.adminKey}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
    return { gateway, dataDir, put, set, listed, chat, admin }
  })

export const fake = Effect.tap(Fake.start, (upstream) =>
  Effect.sync(() => upstream.always(Fake.json(Fake.chatCompletion({ text: "Hello" }))))
)

export const temporary = TestGateway.dataFolder

export type Scene = Effect.Effect.Success<ReturnType<typeof start>>
