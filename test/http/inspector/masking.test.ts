/** Secrets in what is handed in: none of them is in anything that the gateway shows, writes or stores. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { coreOf, shapedSecrets } from "../../support/KindsOfSecrets.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { open } from "../ws/support.ts"
import { eventuallyFound } from "../../support/eventually.ts"
import { base, bearer, start } from "./support.ts"

const secrets = Object.values(shapedSecrets)

/** Each kind in a header, the query, the request's body and the answer's. */
const record = {
  id: "secret",
  path: `/v1/chat/completions?${secrets.map((secret, at) => `p${at}=${encodeURIComponent(secret)}`).join("&")}`,
  requestHeaders: {
    "content-type": "application/json",
    ...Object.fromEntries(secrets.map((secret, at) => [`x-part-${at}`, secret.replaceAll("\n", " ")]))
  },
  requestBody: JSON.stringify({
    model: "gpt-4o-mini",
    messages: secrets.map((content) => ({ role: "user", content }))
  }),
  responseHeaders: { "content-type": "application/json", "set-cookie": "session=k3J8mQ2xV7bN4tR9wZ1c" },
  responseBody: JSON.stringify({ choices: [{ message: { content: secrets.join(" and ") } }] })
}

const holding = (place: string, text: string): ReadonlyArray<string> =>
  [...secrets.map(coreOf), "k3J8mQ2xV7bN4tR9wZ1c"].flatMap((core) =>
    core !== "" && text.includes(core) ? [`${place}: ${core}`] : []
  )

describe("secrets in captured traffic", () => {
  it.scopedLive("are in no answer, export, frame, row or line of the log", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const sink = Logger.make(({ annotations, message }) => {
        lines.push(`${JSON.stringify(message)} ${JSON.stringify([...annotations])}`)
      })
      const dataDir = yield* temporaryFolder
      yield* Effect.gen(function* () {
        const { ask, captured, gateway, json } = yield* start({ dataDir })
        const client = yield* open(gateway, `${base}/ws`, bearer)
        yield* Effect.promise(async () => {
          const { session } = await json("POST", "/sessions", {})
          await captured(record)
          await json("PATCH", `/sessions/${session.id}`, { action: "stop" })
          const found: Array<string> = []
          for (const path of [
            "/requests",
            "/requests/secret",
            "/requests/secret?showSecrets=true",
            "/requests/secret/conversation",
            "/requests/secret/export?format=curl",
            "/export.har",
            "/export.jsonl",
            `/sessions/${session.id}`,
            `/sessions/${session.id}/export.har`,
            `/sessions/${session.id}/export.jsonl`
          ]) {
            const answer = await ask("GET", path)
            assert.strictEqual(answer.status, 200, path)
            found.push(...holding(path, await answer.text()))
          }
          found.push(...holding("feed", JSON.stringify(client.frames)))
          assert.isNotEmpty(client.frames)
          for (const name of readdirSync(dataDir, { recursive: true })) {
            const file = join(dataDir, String(name))
            try {
              found.push(...holding(file, readFileSync(file, "latin1")))
            } catch {
              // A folder.
            }
          }
          found.push(...holding("log", lines.join("\n")))
          assert.deepStrictEqual(found, [])
        })
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, sink)))
    })
  )

  it.scopedLive("are in no view and no finding about caches, even where they are kept", () =>
    Effect.gen(function* () {
      const { ask, captured, json } = yield* start({}, { INSPECTOR_MASK_SECRETS: "false" })
      const long = "All work and no play makes Jack a dull boy. ".repeat(600)
      const one = "sk-proj-4f8Gh2kLm9Qw4Zx8Vb1NcPq7Rt5"
      const other = "sk-proj-9z7Yx5Wv3Ut1Sr8Qp6On4Ml2Kj0"
      const call = (id: string, key: string, second: number, cached: number) => ({
        id,
        timestamp: `2026-11-24T10:00:0${second}.000Z`,
        requestBody: JSON.stringify({
          model: "gpt-4o-mini",
          messages: [
            { role: "system", content: `The key is ${key}.` },
            { role: "system", content: long },
            { role: "user", content: "Hi" }
          ]
        }),
        responseBody: JSON.stringify({
          id,
          object: "chat.completion",
          model: "gpt-4o-mini",
          choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
          usage: {
            prompt_tokens: 6_010,
            completion_tokens: 2,
            total_tokens: 6_012,
            prompt_tokens_details: { cached_tokens: cached }
          }
        })
      })
      yield* Effect.promise(async () => {
        await captured(call("first", one, 1, 0))
        await captured(call("second", one, 2, 5_888))
        await captured(call("third", other, 3, 0))
        const broken = await eventuallyFound("the verdict", async () => {
          const { cache } = await json("GET", "/requests/third/cache")
          return cache.verdict === "unknown" ? undefined : cache
        })
        assert.deepInclude(broken.cause, {
          rule: "system_changed",
          before: "The key is sk-proj-***7Rt5.",
          after: "The key is sk-proj-***2Kj0."
        })
        for (const path of [
          "/requests",
          "/requests/third",
          "/requests/third/cache",
          "/cache-breaks",
          "/requests/third/conversation",
          "/requests/third/anatomy",
          "/requests/third/diff/second",
          "/requests/third/export?format=python",
          "/export.har",
          "/export.jsonl"
        ]) {
          const answer = await ask("GET", path)
          const text = await answer.text()
          assert.strictEqual(answer.status, 200, `${path}: ${text}`)
          for (const secret of [one, other]) assert.notInclude(text, secret.slice(8, -4), path)
        }
        assert.include((await json("GET", "/requests/third?showSecrets=true")).requestBody, other)
      })
    })
  )
})
