/**
 * Every example of the skills about routes, run by a shell as it stands: an agent that copies a line must not have to mend it. The variables of a
 * page get their values in the way the page says.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { execFile } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { apiSkillIds } from "../../../src/subjects/skills/entity.ts"
import { changesMachine, rankOf, refusedHere, upstreamAnswer } from "../../support/DocumentedOperations.ts"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { temporaryFolder } from "../../unit/store/fixtures.ts"

const password = "correct horse battery staple"
const ingestToken = "ingest-token-of-the-examples"
const models = [
  "gpt-4o-mini",
  "gpt-4o-transcribe",
  "gpt-4o-mini-tts",
  "gpt-image-1",
  "text-embedding-3-small",
  "sora-2"
]

interface Example {
  readonly method: string
  readonly path: string
  readonly script: string
}

const examplesOf = (page: string): ReadonlyArray<Example> =>
  Array.from(
    page.matchAll(/^### (?<method>[A-Z]+) (?<path>\/\S*)\n(?<rest>[\s\S]*?)(?=^#{2,3} |$(?![\s\S]))/gm),
    ({ groups }) => ({
      method: groups?.["method"] ?? "",
      path: groups?.["path"] ?? "",
      script: /```sh\n([\s\S]*?)\n```/.exec(groups?.["rest"] ?? "")?.[1] ?? ""
    })
  ).filter(({ script }) => script !== "")

/** Where the values of a page's variables come from. */
const sourcesOf = (page: string): ReadonlyArray<readonly [name: string, source: string]> =>
  Array.from(
    page.matchAll(/^\| `(\w+)` \| (.+) \|$/gm),
    ([, name = "", source = ""]) => [name, source] as const
  ).filter(([name]) => name === name.toUpperCase())

interface Ran {
  readonly status: number
  readonly body: string
}

const run = (script: string, folder: string, env: Readonly<Record<string, string>>): Promise<Ran> =>
  new Promise((resolve, reject) => {
    const options = {
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "", CURL_HOME: folder, ...env },
      timeout: 20_000
    }
    execFile("bash", ["-euc", script], { ...options, maxBuffer: 64 * 1_048_576 }, (error, stdout, stderr) => {
      if (error !== null) return reject(new Error(`${script}\n${stderr}`))
      const at = stdout.lastIndexOf("\n")
      resolve({ status: Number(stdout.slice(at + 1)), body: stdout.slice(0, at) })
    })
  })

it.scopedLive(
  "each example of the skills about routes works as it stands",
  () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const upstream = yield* FakeUpstream.start
      upstream.always((response, request) => upstreamAnswer(request)(response, request))
      upstream.lists(FakeUpstream.json(FakeUpstream.models(models)))
      const gateway = yield* TestGateway.start({
        adminPassword: Redacted.make(password),
        environment: new Map([["INSPECTOR_INTERNAL_INGEST_TOKEN", ingestToken]])
      })
      yield* Effect.promise(async () => {
        const { manage, url } = gateway
        const account = { name: "at hand", apiKey: "k", baseUrl: upstream.origin }
        await manage("POST", "/api/providers", { ...account, provider: "openai", models, wires: ["chat"] })
        await manage("POST", "/api/providers", { ...account, provider: "tavily" })
        await manage("POST", "/api/providers", { ...account, provider: "cohere", models: ["rerank-v3.5"] })
        await manage("PATCH", "/api/settings", { a2aEnabled: true })
        const { secret } = await manage("POST", "/api/keys", { name: "agent" })
        const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
          readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>
        }
        const pages = await Promise.all(
          apiSkillIds.map(async (id) => (await fetch(`${url}/skills/${id}/SKILL.md`)).text())
        )

        writeFileSync(join(folder, ".curlrc"), 'write-out = "\\n%{http_code}"\n')
        for (const name of ["image.png", "mask.png", "input_reference.png"]) writeFileSync(join(folder, name), "PNG")
        writeFileSync(join(folder, "recording.wav"), "RIFF")
        writeFileSync(join(folder, "lines.jsonl"), "line\n")
        writeFileSync(join(folder, "gateway.db"), "no database")

        const sources = new Map(pages.flatMap(sourcesOf))
        const env: Record<string, string> = {
          GATEWAY_URL: url,
          GATEWAY_ADMIN_KEY: TestGateway.adminKey,
          GATEWAY_API_KEY: String(secret),
          GATEWAY_PASSWORD: password,
          INSPECTOR_INTERNAL_INGEST_TOKEN: ingestToken
        }
        /** Ids of what an example has made, by where. */
        const made = new Map<string, string>()
        let requestId = ""

        /** A value in the way the page says; the thing that an example has made where there is one. */
        const valueOf = async (source: string): Promise<string> => {
          const own = [...made].find(([route]) => source.includes(`\`${route}\``))
          if (own !== undefined) return own[1]
          if (source.includes("X-Gateway-Request-Id")) return requestId
          const [, from = ""] = /`GET ([^`]+)`/.exec(source) ?? []
          if (from === "") return "none"
          const key = from.startsWith("/api/") ? TestGateway.adminKey : String(secret)
          const answer = await (await fetch(url + from, { headers: { authorization: `Bearer ${key}` } })).json()
          const list = Object.values(answer as object).find((value) => Array.isArray(value)) as Array<{ id?: string }>
          return list?.at(-1)?.id ?? "none"
        }

        const examples = pages
          .flatMap(examplesOf)
          .map((example) => {
            const operation = document.paths[example.path]?.[example.method.toLowerCase()]
            return Object.assign(example, { operationId: operation?.operationId ?? assert.fail(example.path) })
          })
          .filter(({ operationId }) => !changesMachine.has(operationId))
          .toSorted((a, b) => rankOf(a.operationId) - rankOf(b.operationId))
        assert.isAbove(examples.length, 200)

        const wrong: Array<string> = []
        for (const { method, operationId, path, script } of examples) {
          for (const [, name = ""] of script.matchAll(/\$(\w+)/g)) {
            const source = sources.get(name)
            if (source !== undefined && name !== "GATEWAY_PASSWORD") env[name] = await valueOf(source)
          }
          // Bundles are signed with a key that this gateway has not made.
          if (operationId === "syncBundle")
            await manage("PATCH", "/api/settings", { sharedKey: "a-shared-key-of-many-signs-1234" })
          const { body, status } = await run(script, folder, env)
          if (status >= 300 && refusedHere[operationId] === undefined && !/\{(?:job|response)\}/.test(path)) {
            wrong.push(`${method} ${path}: ${status} ${body.slice(0, 300)}\n${script}`)
          }
          const answer = body.startsWith("{") ? JSON.parse(body) : {}
          if (operationId === "authLogin") env["GATEWAY_CSRF_TOKEN"] = answer.csrfToken
          if (status === 201 || status === 202 || operationId.startsWith("inferenceCreate")) {
            const thing = [answer, ...Object.values(answer)].find((value) => typeof value?.id === "string")
            const id = thing?.id ?? answer.keyId
            const collection = method === "POST" && path !== "/api/evals" ? `GET ${path}` : `POST ${path}`
            // The example's provider cannot be reached from here.
            if (operationId === "providersCreate")
              await manage("PUT", `/api/providers/${id}`, { baseUrl: upstream.origin, apiKey: "k" })
            if (typeof id === "string") made.set(collection, id).set(`POST ${path}`, id)
          }
          if (operationId === "inferenceChat") {
            const { logs } = await manage("GET", "/api/usage/logs?limit=1")
            requestId = logs[0]?.requestId ?? ""
          }
        }
        assert.deepStrictEqual(wrong, [])
      })
    }),
  { timeout: 120_000 }
)
