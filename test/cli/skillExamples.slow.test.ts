/**
 * Every example of the skills about commands, typed as it stands on the gateway's own machine: an agent that copies a line must not have to mend
 * it. The things that the lines name are there (`exampleWorld`), ids and addresses of elsewhere are exchanged for those of the test, and what
 * cannot be run here is named with its reason.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { vi } from "vitest"
import { describing } from "../../src/cli/describing.ts"
import { commandSkillIds } from "../../src/subjects/skills/entity.ts"
import { commandPage } from "../../src/agents/skills/CommandPage.ts"
import { docsServer, newDocs, program as mcpProgram } from "../http/mcp/upstream/Servers.ts"
import { changesMachineBy, upstreamAnswer } from "../support/DocumentedOperations.ts"
import * as FakeUpstream from "../support/FakeUpstream.ts"
import { typed } from "../unit/cli/inProcess.ts"
import {
  clear,
  furnish,
  furnishCaptures,
  furnishPlugins,
  isOfCaptured,
  type Manage,
  managing,
  models,
  writeFiles
} from "./exampleWorld.ts"
import { running } from "./omniRouteData.ts"
import { program } from "./support.ts"
import { launchLine } from "./built.ts"

const adminKey = "admin-key-of-the-examples-01"

/** Why a line is not run. */
const elsewhere: Readonly<Record<string, string>> = {
  "gateway serve": "does not end; many files of test/cli start it",
  "gateway serve --port 8080 --no-open": "does not end",
  "gateway conformance --against http://127.0.0.1:11434 --model llama3.2 --wire ollama":
    "asks a server of this machine (test/cli/conformance)",
  "gateway service install": "changes the services of this machine",
  "gateway service install --port 8080": "changes the services of this machine",
  "gateway service uninstall": "changes the services of this machine",
  "gateway service start": "starts another gateway (test/cli/plans)",
  "gateway service stop": "ends the gateway that all others ask (test/cli/plans)",
  "gateway service restart": "ends the gateway that all others ask (test/cli/plans)",
  "gateway setup": "asks on a terminal (test/cli/setup)",
  "gateway setup tools": "asks on a terminal",
  "gateway provider add openai": "asks on a terminal (test/cli/connect)",
  "gateway provider edit work --ask-key": "asks on a terminal (test/cli/connect)",
  "gateway login https://gateway.example": "asks on a terminal (test/cli/login)",
  "gateway login https://gateway.example --sso": "waits for a person in a browser (test/cli/sso)",
  "gateway login https://gateway.example --sso --device": "waits for a person in a browser (test/cli/sso)",
  "gateway provider login github --client-id Iv1.example": "asks the provider on the internet",
  "gateway tunnel create quick --qr": "opens a tunnel to the internet (test/cli/tunnels)",
  "gateway tunnel create token --auth-token-stdin < authtoken.txt": "opens a tunnel to the internet (test/cli/tunnels)",
  "gateway tunnel create mesh": "asks, and installs a program (test/cli/tunnels)",
  "gateway tunnel create ssh me@server.example.com --remote-port 8080": "opens a tunnel (test/cli/tunnels)",
  "gateway logs --follow": "does not end (test/cli/logs)",
  "gateway backup restore db_20260131T120000000Z_manual": "asks, and needs that backup (test/cli/backup)",
  "gateway plugin logs request-logger --follow": "does not end",
  "gateway inspect tail": "does not end (test/cli/inspect)",
  "gateway inspect tail --profile llm --json": "does not end (test/cli/inspect)",
  "gateway compression raw 4f1c0e2a9b7d4c3e8f6a5b1d": "a raw output is kept only with the setting for it"
}

/** What a line answers where its state is not the one it is for. */
const answered: Readonly<Record<string, readonly [code: number, says: RegExp]>> = {
  // The model of these examples says the same to everything.
  "gateway conformance --model openai/gpt-4o-mini": [1, /chat\.answer +pass/],
  "gateway conformance --wire chat --wire messages --json": [
    1,
    /"id": "chat\.answer",\s+"wire": "chat",\s+[^\n]+\s+"verdict": "pass"/
  ],
  ...Object.fromEntries(
    ["sqlite --to postgres --dry-run", "sqlite --to postgres", "postgres --to sqlite"].map((way) => [
      `gateway store migrate --from ${way}`,
      // Types it over one: test/cli/storeMigrate.
      [2, /No database of Postgres is named/] as const
    ])
  ),
  "gateway cluster forget gateway-2:20128": [2, /There is no gateway 'gateway-2:20128'/],
  // Asks a real one: test/cli/issuers.
  "gateway issuers test Company": [1, /https:\/\/login\.example\.com could not be asked/],
  "gateway service status": [1, /is not installed/],
  "gateway service status --json": [1, /is not installed/],
  "gateway eval run golden-set auto --key ci --min 80": [1, /at least 80 % were asked for/],
  "gateway batches cancel batch_0199aa6e": [1, /only one that is validating or in_progress/],
  "gateway eval cancel last": [1, /is over: completed/],
  "gateway proxy test berlin": [1, /berlin: The proxy cannot be reached/],
  "gateway proxy test berlin --fetch https://example.com/": [1, /berlin: The proxy cannot be reached/],
  "gateway admin-session end 9f2c4b7d81e05a63": [2, /There is no session '9f2c4b7d81e05a63'/],
  "gateway webhook retry https://hooks.example.com/gateway 42": [2, /no delivery that can be sent again '42'/],
  "gateway api PATCH /api/settings --data @settings.json": [2, /'settings\.json' cannot be read/],
  // What a team lets see: test/http/people/privacy.
  "gateway teams content Research 01a21eda-cef3-7000-bd74-764fc44e3422": [4, /lets nobody see its prompts/],
  "gateway teams remove Research --yes": [1, /'Vision' is below the team 'Research'/],
  "gateway me": [2, /This credential is no API key/],
  "gateway me --json": [2, /This credential is no API key/],
  "gateway proxy find-free": [1, /No list of free proxies is named/]
}

/** What a line needs, typed before it. */
const before: Readonly<Record<string, string>> = {
  "gateway launch claude --profile gpt -- -p 'Say hello'": "gateway setup-claude",
  // The line before has erased this person.
  "gateway users remove ada@example.com --yes": "gateway users add Ada --email ada@example.com"
}

const makes = /^gateway (?:\S+ )*?(?:add|create|put|set|declare|image)\b/
const removes = /^gateway (?:\S+ )*?(?:remove|delete|rm|unset|undeclare|purge|clear|cancel)\b| ''$/
/** Who is named by other lines comes first, then what makes, and what removes last; where commands go and who may ask changes behind that. */
const rankOf = (line: string): number => {
  const begins = ["gateway key remove", "gateway flags set", "gateway flags", "gateway login", "gateway context"]
  const at = begins.findIndex((each) => line.startsWith(each))
  if (at >= 0) return 3 + at
  if (line.startsWith("gateway users add")) return -1
  return removes.test(line) ? 2 : makes.test(line) ? 0 : 1
}

const linesOf = (page: string): ReadonlyArray<string> =>
  Array.from(page.matchAll(/```sh\n([\s\S]*?)\n```/g), ([, block = ""]) => block.split("\n")).flat()

/** The words of a line, as a shell splits them. */
const wordsOf = (line: string): ReadonlyArray<string> =>
  Array.from(line.matchAll(/(?:'[^']*'|[^\s'])+/g), ([word]) =>
    word.replaceAll("'", "").replace(/^~/, process.env["HOME"] ?? "")
  )

interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** By the built program and a shell: for standard input and for programs that take the place of the command. */
const shell = (line: string, input: string): Promise<Ran> =>
  new Promise((resolve) => {
    const child = execFile("sh", ["-c", line], { timeout: 30_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 99), stdout, stderr })
    )
    child.stdin?.on("error", () => {})
    child.stdin?.end(input)
  })

const isForShell = (line: string): boolean =>
  / [<>] | -(?:$| --name)|-stdin$|^gateway (?:launch|chat|speak|mcp serve)/.test(line)

/** What is typed after a line that reads standard input, and nothing else is there. */
const inputOf = (line: string): string => {
  if (line.startsWith("gateway eval suite")) return readFileSync("mine.json", "utf8").replace("Mine", "Piped")
  if (line.includes("--import-stdin")) return JSON.stringify({ accessToken: "a", refreshToken: "r" })
  if (line.includes("--key-stdin")) return adminKey
  return "text\n"
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** One value, or one in each line; what goes to a file is not here. */
const isJsonWhereAsked = (line: string, stdout: string): boolean =>
  !line.includes("--json") ||
  line.includes(" > ") ||
  isJson(stdout) ||
  stdout
    .split("\n")
    .filter((each) => each !== "")
    .every(isJson)

/** Vectors and searches as the commands ask for them; else what the upstream of all documented operations answers. */
const answerOf = (request: FakeUpstream.RecordedRequest): FakeUpstream.Answer => {
  if (request.url.includes("/web/search")) {
    const found = { title: "A gateway", url: "https://example.com/", description: "It passes on." }
    return FakeUpstream.json({ web: { results: [found] }, results: [found] })
  }
  if (request.url.includes("/news/search")) {
    return FakeUpstream.json({ results: [{ title: "News", url: "https://example.com/", description: "Of today." }] })
  }
  if (!request.url.includes("embeddings")) return upstreamAnswer(request)
  const { input } = JSON.parse(request.body) as { readonly input: string | ReadonlyArray<string> }
  const data = [input].flat().map((text, index) => {
    const embedding = [text.length % 7, text.length % 11, 1]
    return { object: "embedding", index, embedding }
  })
  const usage = { prompt_tokens: 1, total_tokens: 1 }
  return FakeUpstream.json({ object: "list", model: "text-embedding-3-small", data, usage })
}

const { dataDir, serve } = program()

it.scopedLive(
  "each example of the skills about commands works as it stands",
  () =>
    Effect.gen(function* () {
      const folder = dataDir()
      const upstream = yield* FakeUpstream.start
      upstream.always((response, request) => answerOf(request)(response, request))
      upstream.lists(FakeUpstream.json({ ...FakeUpstream.models(models), models: [{ name: "llama3.2:3b" }] }))
      const mcp = yield* docsServer(newDocs())
      const DATA_DIR = join(folder, "data")
      writeFiles(folder)
      writeFileSync(join(folder, "key.txt"), adminKey)
      writeFileSync(join(folder, "hosts"), "127.0.0.1 localhost\n")
      mkdirSync(join(folder, ".omniroute"))
      yield* running(join(folder, ".omniroute"), upstream.origin)
      writeFileSync(join(folder, "bin/gateway"), `#!/bin/sh\nexec ${launchLine} "$@"\n`, {
        mode: 0o755
      })
      const env = {
        HOME: folder,
        DATA_DIR,
        PATH: `${folder}/bin:${process.env["PATH"]}`,
        OPENAI_API_KEY: "k",
        ANTHROPIC_API_KEY: "k",
        OLLAMA_HOST: upstream.origin,
        GATEWAY_ENV_CONNECTIONS: "false"
      }
      for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
      const { url } = yield* Effect.promise(() =>
        serve({
          ...env,
          GATEWAY_ADMIN_KEY: adminKey,
          OUTBOUND_SSRF_GUARD_ENABLED: "false",
          GATEWAY_HOSTS_FILE: join(folder, "hosts"),
          MITM_PORT: "0",
          INSPECTOR_HTTP_PROXY_PORT: "0"
        })
      )
      const manage = managing(url, adminKey)
      process.chdir(folder)
      const commands = yield* describing
      const pages = commandSkillIds.map((id) =>
        commandPage(
          id,
          commands.filter(({ skill }) => skill === id)
        )
      )
      const lines = [...new Set(pages.flatMap(linesOf))]
        .filter((line) => !changesMachineBy.test(line))
        .toSorted((a, b) => rankOf(a) - rankOf(b))
      assert.isAbove(lines.length, 300)

      for (const line of [...Object.keys(elsewhere), ...Object.keys(answered), ...Object.keys(before)])
        assert.include(lines, line)

      const exchanged = exchanging(manage, url, upstream.origin, mcp.url)
      const run = (line: string): Effect.Effect<Ran> =>
        isForShell(line)
          ? Effect.promise(() => shell(line, inputOf(line)))
          : typed(wordsOf(line).slice(1)).pipe(
              Effect.timeout("90 seconds"),
              Effect.orElseSucceed(() => ({ code: 99, stdout: "", stderr: "It does not end." }))
            )
      const wrong: Array<string> = []
      for (const line of lines.filter((each) => elsewhere[each] === undefined)) {
        writeFiles(folder)
        yield* Effect.promise(() => furnish(manage, upstream.origin))
        yield* Effect.promise(() => clear(manage, line))
        yield* Effect.promise(() => furnishCaptures(manage, line))
        yield* Effect.promise(() => furnishPlugins(manage, line))
        const needed = before[line]
        if (needed !== undefined) yield* run(needed)
        const asked = yield* Effect.promise(() => exchanged(line))
        const first = yield* run(asked)
        const asks = first.code === 2 && first.stderr.includes("There is no terminal to ask on.\nGive --yes")
        const { code, stderr, stdout } = asks ? yield* run(`${asked} --yes`) : first
        const [meant, says] = answered[line] ?? [0, /^/]
        if (code !== meant || (!says.test(stderr) && !says.test(stdout)) || !isJsonWhereAsked(line, stdout))
          wrong.push(`${code} ${asked}\n${stderr}\n${stdout.slice(0, 500)}`)
      }
      // The message of a failure is all that is seen of it where only the end of a log is kept.
      if (wrong.length > 0) assert.fail(wrong.join("\n\n"))
    }),
  { timeout: 900_000 }
)

/** A line with the ids and addresses of the test in place of those that the documentation shows. */
const exchanging =
  (manage: Manage, url: string, upstream: string, mcp: string) =>
  async (line: string): Promise<string> => {
    const idOf = async (path: string, list: string): Promise<string> => {
      const [latest] = (await manage("GET", path))[list] as ReadonlyArray<{
        readonly id: string
        readonly requestId?: string
      }>
      return latest?.requestId ?? latest?.id ?? "none"
    }
    const id = line.startsWith("gateway eval")
      ? () => idOf("/api/evals", "recentRuns")
      : line.startsWith("gateway budget tokens")
        ? () => idOf("/api/usage/token-limits", "limits")
        : () => idOf("/api/usage/logs?limit=1", "logs")
    const sessionsOrRequests = `/api/tools/traffic-inspector/${line.includes(" sessions ") ? "sessions" : "requests"}`
    const captured = async (text: string): Promise<string> => {
      const answer = await manage("GET", sessionsOrRequests)
      const [first, second] = (answer.sessions ?? answer.requests) as ReadonlyArray<{ readonly id: string }>
      return text.replace("0199aa6e", first?.id ?? "none").replace("0199aa6f", second?.id ?? "none")
    }
    if (isOfCaptured(line)) return captured(line)
    let text = line
      .replaceAll("https://gateway.example", url)
      .replaceAll("gateway.example", new URL(url).host)
      .replaceAll("https://hooks.example.com", upstream)
      .replaceAll("http://192.168.1.5:11434", upstream)
      .replaceAll(/http:\/\/(?:127\.0\.0\.1|10\.0\.0\.5):8080/g, upstream)
      .replaceAll("https://mcp.example.com/mcp", mcp)
      .replaceAll("/usr/local/bin/mcp-server-files /srv/files", `${process.execPath} ${mcpProgram}`)
      .replace(/(?<=provider add anthropic .*)$/, ` --base-url ${upstream}`)
    if (/ (?:3f1c…|0199aa…|0199aa6e|0199)(?: |$)/.test(text))
      text = text.replace(/ (?:3f1c…|0199aa…|0199aa6e|0199)(?= |$)/, ` ${await id()}`)
    if (text.includes("file-0199")) text = text.replace(/file-0199\w+/, await idOf("/v1/files?purpose=batch", "data"))
    if (text.includes("batch_0199")) text = text.replace(/batch_0199\w+/, await idOf("/v1/batches", "data"))
    return text
  }
