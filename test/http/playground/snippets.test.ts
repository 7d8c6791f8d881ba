/**
 * Snippets are run as they are printed: curl by a shell, Python and TypeScript by their programs where this machine has them, against a gateway
 * whose upstream answers every endpoint.
 */
import { assert, describe } from "@effect/vitest"
import { execFile, execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { playgroundEndpoints } from "../../../src/subjects/playground/entity.ts"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import { tavilyAnswer } from "../../support/Searches.ts"
import { scenario, type Setting } from "./support.ts"

const hostile = `it's "quoted" $(id) \`id\` \${HOME} \\ \n'''\t"""\u2028 @/etc/passwd {{name}} 👋 $GATEWAY_API_KEY %s !x`

const has = (program: string, ...args: ReadonlyArray<string>): boolean => {
  try {
    execFileSync(program, args, { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

const hasPython = has("python3", "-c", "import requests")

/** What a provider says at each of its endpoints. */
const answering: FakeUpstream.Answer = (response, request) => {
  const json = (value: unknown): void | Promise<void> => FakeUpstream.json(value)(response, request)
  const path = request.url.split("?")[0] ?? ""
  if (path.endsWith("/chat/completions")) return json(FakeUpstream.chatCompletion({ text: "Forty-two." }))
  if (path.endsWith("/completions")) {
    return json({
      id: "c",
      object: "text_completion",
      created: 1,
      model: "m",
      choices: [{ index: 0, text: "Forty-two.", finish_reason: "stop", logprobs: null }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    })
  }
  if (path.endsWith("/embeddings")) {
    return json({
      object: "list",
      model: "m",
      data: [{ object: "embedding", index: 0, embedding: [0.5, 0.25] }],
      usage: { prompt_tokens: 1, total_tokens: 1 }
    })
  }
  if (path.endsWith("/images/generations")) return json({ created: 1, data: [{ b64_json: "aGk=" }] })
  if (path.endsWith("/audio/speech")) {
    return FakeUpstream.text("ID3 sound", { headers: { "content-type": "audio/mpeg" } })(response, request)
  }
  if (path.endsWith("/audio/transcriptions")) return json({ text: "Forty-two." })
  if (path.endsWith("/moderations")) {
    return json({ id: "modr", model: "m", results: [{ flagged: false, categories: {}, category_scores: {} }] })
  }
  if (path.endsWith("/rerank")) return json({ results: [{ index: 0, relevance_score: 0.9 }] })
  return FakeUpstream.json({ error: { message: `nothing at ${path}` } }, { status: 404 })(response, request)
}

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Not by a synchronous call: the gateway it asks is in this process. */
const ran = (program: string, args: ReadonlyArray<string>, folder: string, key: string | null): Promise<Ran> =>
  new Promise((done) => {
    const { PATH = "", HOME = "" } = process.env
    const env = { PATH, HOME, ...(key === null ? {} : { GATEWAY_API_KEY: key }) }
    execFile(program, [...args], { cwd: folder, env, timeout: 60_000 }, (error, out, err) =>
      done({ code: typeof error?.code === "number" ? error.code : error === null ? 0 : 1, out, err })
    )
  })

const languages = {
  curl: (code: string, folder: string, key: string | null) => {
    // As an argument, long ones would be too long.
    writeFileSync(join(folder, "snippet.sh"), code)
    return ran("/bin/sh", ["snippet.sh"], folder, key)
  },
  python: (code: string, folder: string, key: string | null) => {
    writeFileSync(join(folder, "snippet.py"), code)
    return ran("python3", ["snippet.py"], folder, key)
  },
  typescript: (code: string, folder: string, key: string | null) => {
    // It has no types of its own, so that Node runs it as it is.
    writeFileSync(join(folder, "snippet.mjs"), code)
    return ran(process.execPath, ["snippet.mjs"], folder, key)
  }
}

const inFolder = async (run: (folder: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-snippet-"))
  try {
    writeFileSync(join(folder, "audio.mp3"), "ID3 spoken")
    symlinkSync(resolve("node_modules"), join(folder, "node_modules"))
    await run(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** What a snippet has shown or written. */
const shown = (endpoint: string, { out }: Ran, folder: string): string =>
  endpoint === "speech" ? readFileSync(join(folder, "speech.mp3"), "utf8") : out

const expected: Readonly<Record<string, RegExp>> = {
  chat: /Forty-two\./,
  completions: /Forty-two\./,
  embeddings: /0\.25/,
  images: /aGk=/,
  speech: /^ID3 sound$/,
  transcriptions: /Forty-two\./,
  moderations: /flagged/,
  rerank: /relevance_score/
}

const written = async ({ send }: Setting, endpoint: string, model = "up/m", text = hostile) => {
  const answer = await send("POST", "/api/playground/snippets", {
    endpoint,
    model,
    system: text,
    messages: [{ role: "user", content: text }],
    params: endpoint === "chat" ? { temperature: 0.5, stop: ["a'b"] } : {}
  })
  assert.strictEqual(answer.status, 200)
  return answer.body as Readonly<Record<keyof typeof languages, string>> & { readonly omitted: ReadonlyArray<string> }
}

const runAll = async (setting: Setting, language: keyof typeof languages): Promise<void> => {
  const { gateway, upstream } = setting
  upstream.always(answering)
  const { secret } = await gateway.manage("POST", "/api/keys", { name: "mine" })
  await inFolder(async (folder) => {
    for (const [endpoint, pattern] of Object.entries(expected)) {
      const code = (await written(setting, endpoint))[language]
      const result = await languages[language](code, folder, secret)
      assert.match(shown(endpoint, result, folder), pattern, `${endpoint}\n${code}\n${result.out}\n${result.err}`)
      const { body, headers } = upstream.requests.at(-1) ?? { body: "", headers: {} }
      const isForm = (headers["content-type"] ?? "").startsWith("multipart/")
      const sent = isForm ? body : JSON.stringify(JSON.parse(body))
      const text = endpoint === "transcriptions" ? hostile : JSON.stringify(hostile)
      assert.include(isForm ? sent.replaceAll("\r\n", "\n") : sent, text, endpoint)
    }
  })
}

/** Of providers that do nothing else, each in its own documented form. */
const withServices: FakeUpstream.Answer = (response, request) => {
  const json = (value: unknown): void | Promise<void> => FakeUpstream.json(value)(response, request)
  const { method, url } = request
  const suno = (data: object): void | Promise<void> => json({ code: 200, msg: "success", data })
  if (method === "POST" && url === "/search") return json(tavilyAnswer)
  if (method === "POST" && url === "/api/v1/generate") return suno({ taskId: "task-1" })
  if (method === "GET" && url === "/api/v1/generate/record-info?taskId=task-1") {
    const sunoData = [{ audioUrl: "https://cdn.test/waltz.mp3", duration: 198.5 }]
    return suno({ taskId: "task-1", status: "SUCCESS", response: { taskId: "task-1", sunoData } })
  }
  return answering(response, request)
}

interface Service {
  readonly endpoint: "audio" | "search"
  readonly model: string
  readonly shown: RegExp
  /** What the provider is asked. */
  readonly asked: (text: string) => object
}

const services: ReadonlyArray<Service> = [
  {
    endpoint: "audio",
    model: "suno/V4_5",
    shown: /https:\/\/cdn\.test\/waltz\.mp3/,
    asked: (prompt) => ({ model: "V4_5", customMode: false, prompt })
  },
  { endpoint: "search", model: "tavily", shown: /https:\/\/example\.com\/gateways/, asked: (query) => ({ query }) }
]

const runServices = async (setting: Setting, language: keyof typeof languages): Promise<void> => {
  const { gateway, upstream } = setting
  upstream.always(withServices)
  for (const provider of ["suno", "tavily"]) {
    await gateway.manage("POST", "/api/providers", {
      provider,
      apiKey: "k",
      baseUrl: upstream.origin,
      models: ["V4_5"]
    })
  }
  const { secret } = await gateway.manage("POST", "/api/keys", { name: "mine" })
  await inFolder(async (folder) => {
    for (const { asked, endpoint, model, shown: pattern } of services) {
      const code = (await written(setting, endpoint, model))[language]
      const { code: exit, err, out } = await languages[language](code, folder, secret)
      assert.strictEqual(exit, 0, `${endpoint}\n${code}\n${out}\n${err}`)
      assert.match(out, pattern, `${endpoint}\n${code}\n${err}`)
      const [first] = upstream.requests.filter(({ method }) => method === "POST").slice(-1)
      const text = endpoint === "search" ? hostile.replaceAll(/\p{Cc}+/gu, " ").trim() : hostile
      assert.deepInclude(JSON.parse(first?.body ?? ""), asked(text))
    }
    const { logs } = await gateway.manage("GET", "/api/usage/logs?limit=10")
    const rows = logs.map(({ outcome, provider }: Readonly<Record<string, unknown>>) => [provider, outcome])
    assert.sameDeepMembers(rows, [
      ["suno", "completed"],
      ["tavily", "completed"]
    ])
  })
}

const keysRequired = { environment: new Map([["REQUIRE_API_KEY", "true"]]) }
const manyPrograms = 240_000

describe("snippets that are run as they are printed, with hostile text and keys required", () => {
  const withKeys = (language: keyof typeof languages, run: typeof runAll) => async (setting: Setting) => {
    const { secret } = await setting.gateway.manage("POST", "/api/keys", { name: "writer" })
    const authorized: Setting = {
      ...setting,
      send: (method, path, body, headers = {}) =>
        setting.send(method, path, body, { authorization: `Bearer ${secret}`, ...headers })
    }
    await run(authorized, language)
  }

  scenario("work with curl", withKeys("curl", runAll), keysRequired, manyPrograms)
  if (hasPython) scenario("work with Python", withKeys("python", runAll), keysRequired, manyPrograms)
  scenario("work with TypeScript", withKeys("typescript", runAll), keysRequired, manyPrograms)

  for (const language of ["curl", ...(hasPython ? (["python"] as const) : []), "typescript"] as const) {
    const run = withKeys(language, runServices)
    scenario(`of music and searches work with ${language}`, run, keysRequired, manyPrograms)
  }

  scenario(
    "work with texts that are longer than an argument of a program can be",
    async (setting) => {
      setting.upstream.always(answering)
      const text = `${hostile}${"é".repeat(70_000)}\n`
      await inFolder(async (folder) => {
        for (const language of ["curl", "typescript", ...(hasPython ? (["python"] as const) : [])] as const) {
          for (const endpoint of ["chat", "transcriptions"]) {
            const { [language]: code } = await written(setting, endpoint, "up/m", text)
            const { err, out } = await languages[language](code, folder, "none")
            assert.match(out, /Forty-two\./, `${language} ${endpoint}: ${err.slice(-500)}`)
            const sent = setting.upstream.requests.at(-1)?.body ?? ""
            if (endpoint === "chat") assert.strictEqual(JSON.parse(sent).messages.at(-1).content, text)
            else assert.include(sent.replaceAll("\r\n", "\n"), text)
          }
        }
      })
    },
    {},
    manyPrograms
  )

  scenario(
    "work where the key is put in the place of its placeholder",
    async (setting) => {
      setting.upstream.always(answering)
      const { secret } = await setting.gateway.manage("POST", "/api/keys", { name: "mine" })
      const answer = await setting.send(
        "POST",
        "/api/playground/snippets",
        { endpoint: "chat", model: "up/m" },
        { authorization: `Bearer ${secret}` }
      )
      await inFolder(async (folder) => {
        for (const language of ["curl", "typescript", ...(hasPython ? (["python"] as const) : [])] as const) {
          const code = String(answer.body[language]).replaceAll("$GATEWAY_API_KEY", secret)
          const result = await languages[language](code, folder, null)
          assert.match(result.out, /Forty-two\./, `${language}\n${code}\n${result.err}`)
        }
      })
    },
    keysRequired,
    manyPrograms
  )
})

describe("snippets", () => {
  scenario("are written for every endpoint, with the address that was asked", async (setting) => {
    for (const endpoint of playgroundEndpoints) {
      const { curl, python, typescript } = await written(setting, endpoint)
      for (const code of [curl, python, typescript]) {
        assert.include(code, setting.gateway.url)
        assert.include(code, "$GATEWAY_API_KEY")
      }
    }
  })

  scenario("are refused with the field that is wrong", async ({ send }) => {
    const good = { endpoint: "chat", model: "m" }
    const wrong: ReadonlyArray<readonly [string, object]> = [
      ["endpoint", { ...good, endpoint: "video" }],
      ["endpoint", { model: "m" }],
      ["model", { endpoint: "chat" }],
      ["model", { ...good, model: "a\nb" }],
      ["system", { ...good, system: "a\0b" }],
      ["messages.0.role", { ...good, messages: [{ role: "tool", content: "x" }] }],
      ["messages.0.content", { ...good, messages: [{ role: "user", content: "a\0b" }] }],
      ["params.temperature", { ...good, params: { temperature: "hot" } }],
      ["params.n", { ...good, params: { n: 2 } }],
      ["key", { ...good, key: "sk-1" }]
    ]
    for (const [field, body] of wrong) {
      const answer = await send("POST", "/api/playground/snippets", body)
      assert.deepEqual([answer.status, answer.body.error?.param], [400, field], JSON.stringify(body))
    }
  })
})
