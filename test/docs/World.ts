/**
 * Where blocks of a page run: a home folder, a data folder and a gateway of their own, with sample upstreams for whatever they call. Names and
 * addresses of elsewhere lead to this machine (`reroute.cjs`, `.curlrc`), so a block is run as it is printed.
 */
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { connect, type AddressInfo, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createServer, type TLSSocket } from "node:tls"
import { fileURLToPath } from "node:url"
import { furnish, type Manage, managing, models, writeFiles } from "../cli/exampleWorld.ts"
import { launchLine } from "../cli/built.ts"
import type { Serving } from "../cli/support.ts"
import { docsServer, newDocs, program as mcpProgram } from "../http/mcp/upstream/Servers.ts"
import { upstreamAnswer } from "../support/DocumentedOperations.ts"
import { eventually } from "../support/eventually.ts"
import * as FakeUpstream from "../support/FakeUpstream.ts"
import * as Terminal from "../support/Terminal.ts"
import { makeCertificate } from "../support/tunnels/Certificate.ts"
import { fakeCloudflared } from "../support/tunnels/FakeCloudflared.ts"
import { makeClone } from "./clone.ts"
import { project } from "./Pages.ts"
import * as SocksProxy from "./SocksProxy.ts"

export interface Ran {
  readonly stdout: string
  readonly stderr: string
  /** Commands that ended with another code than 0, `<code> <command>`. */
  readonly failed: ReadonlyArray<string>
}

/** What a terminal shows, and what a person types then. A question is what stands at the end of the screen. */
export type Step = readonly [shows: RegExp, types: string]

export interface World {
  readonly folder: string
  readonly url: string
  readonly adminKey: string
  readonly upstream: FakeUpstream.FakeUpstream
  readonly manage: Manage
  /** Does something while the provider answers 503. */
  readonly whileDown: (act: () => Promise<void>) => Promise<void>
  /** Asks a model a question; the request's id, once its row can be read. */
  readonly ask: (model: string) => Promise<string>
  /** Variables of the shell from now on. */
  readonly variables: Record<string, string>
  /** By a shell. With steps, on a terminal. */
  readonly run: (text: string, steps: ReadonlyArray<Step>) => Effect.Effect<Ran>
}

const adminKey = "admin-key-of-the-pages-0001"
const reroute = fileURLToPath(new URL("./reroute.cjs", import.meta.url))
const claude = fileURLToPath(new URL("./claude.mjs", import.meta.url))

/** Hosts whose names the certificate has. */
const hosts = [
  "gateway.example",
  ...["example.com", "anthropic.com", "openai.com", "tavily.com", "groq.com", "github.com", "deepgram.com"].map(
    (domain) => `*.${domain}`
  ),
  "*.googleapis.com",
  "*.ipify.org"
]

/** Vectors by their text, and the answers of all documented operations else. */
const answerOf = (request: FakeUpstream.RecordedRequest): FakeUpstream.Answer => {
  if (request.url === "/?format=json") return FakeUpstream.json({ ip: "203.0.113.7" })
  if (request.url.includes("/listen")) {
    const words = [{ word: "hello", punctuated_word: "Hello.", start: 0, end: 0.5, confidence: 1 }]
    const alternatives = [{ transcript: "Hello.", confidence: 1, words }]
    return FakeUpstream.json({
      metadata: { duration: 0.5 },
      results: { channels: [{ alternatives }], utterances: [{ start: 0, end: 0.5, transcript: "Hello.", words }] }
    })
  }
  if (request.url.includes(":generateContent")) {
    const parts = [{ inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } }]
    return FakeUpstream.json({
      candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 9, totalTokenCount: 12 }
    })
  }
  if (!request.url.includes("embeddings")) return upstreamAnswer(request)
  const { input } = JSON.parse(request.body) as { readonly input: string | ReadonlyArray<string> }
  const data = [input].flat().map((text, index) => ({
    object: "embedding",
    index,
    embedding: [text.length % 7, text.length % 11, 1]
  }))
  const usage = { prompt_tokens: 1, total_tokens: 1 }
  return FakeUpstream.json({ object: "list", model: "text-embedding-3-small", data, usage })
}

/** Ends TLS for every host of elsewhere and passes what is in it on to a port of this machine. */
const secureEntrance = (portOf: (host: string) => number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const { certPem, keyPem } = makeCertificate(hosts)
      const sockets = new Set<Socket>()
      const server = createServer({ cert: certPem, key: keyPem }, (outer) => {
        const inner = connect(portOf((outer as Named).servername || ""), "127.0.0.1")
        for (const [one, other] of [
          [outer, inner],
          [inner, outer]
        ] as const) {
          sockets.add(one)
          one.on("error", () => other.destroy())
          one.on("close", () => {
            sockets.delete(one)
            other.destroy()
          })
          one.pipe(other)
        }
      })
      server.on("tlsClientError", () => {})
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      return { certPem, port: (server.address() as AddressInfo).port, server, sockets }
    }),
    ({ server, sockets }) =>
      Effect.promise(async () => {
        for (const socket of sockets) socket.destroy()
        server.close()
        await once(server, "close")
      })
  )

/** What a socket of a server has, too. */
type Named = TLSSocket & { readonly servername?: string | false }

const program = (path: string, text: string): void => writeFileSync(path, text, { mode: 0o755 })

/** The programs that blocks start, beside those of the system. */
const writePrograms = (folder: string): void => {
  const bin = join(folder, "bin")
  mkdirSync(bin, { recursive: true })
  const node = process.execPath
  program(join(bin, "gateway"), `#!/bin/sh\nexec ${launchLine} "$@"\n`)
  writeFiles(folder)
  program(join(bin, "claude"), `#!/bin/sh\nexec '${node}' '${claude}' "$@"\n`)
  program(join(bin, "mcp-server-files"), `#!/bin/sh\nexec '${node}' '${mcpProgram}' "$@"\n`)
  symlinkSync(join(project, "node_modules"), join(folder, "node_modules"))
}

/** Trap of failed commands, for every shell that runs a block. */
const shellBegin = `unset BASH_ENV
set -o pipefail
trap 'printf "%s %s\\n" "$?" "$BASH_COMMAND" >> "$DOCS_FAILED"' ERR
`

const gone = (folder: string): Effect.Effect<void> =>
  Effect.sync(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

const home = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-docs-"))),
  gone
)

const collected = async (stream: NodeJS.ReadableStream): Promise<string> => {
  let text = ""
  for await (const part of stream) text += String(part)
  return text
}

const piped = (file: string, folder: string, env: NodeJS.ProcessEnv): Effect.Effect<readonly [string, string]> =>
  Effect.acquireUseRelease(
    Effect.sync(() => spawn("bash", [file], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"], detached: true })),
    (child) => Effect.promise(() => Promise.all([collected(child.stdout), collected(child.stderr)])),
    (child) =>
      Effect.sync(() => {
        if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
      })
  )

const onTerminal = (file: string, folder: string, env: Record<string, string>, steps: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    const terminal = yield* Terminal.open(["bash", file], { cwd: folder, env, columns: 160, rows: 50 })
    for (const [shows, types] of steps) {
      const screen = () => terminal.screen().slice(-2_000)
      yield* terminal.shows(shows).pipe(
        Effect.timeoutFail({
          duration: "60 seconds",
          onTimeout: () => new Error(`It shows no ${shows}:\n${screen()}`)
        }),
        Effect.orDie
      )
      terminal.type(types)
    }
    yield* terminal.ended
    return [terminal.screen(), ""] as const
  }).pipe(Effect.scoped)

type Serve = (environment: Readonly<Record<string, string>>) => Promise<Serving>

/** `environment`: more variables of the gateway's start. */
export const make = Effect.fnUntraced(function* (serve: Serve, environment: Readonly<Record<string, string>>) {
  const folder = yield* home
  writePrograms(folder)
  const upstream = yield* FakeUpstream.start
  const works: FakeUpstream.Answer = (response, request) => answerOf(request)(response, request)
  const isDown = FakeUpstream.json({ error: { message: "The server is overloaded." } }, { status: 503 })
  upstream.always(works)
  upstream.lists(FakeUpstream.json({ ...FakeUpstream.models(models), models: [{ name: "llama3.2:3b" }] }))
  const mcp = yield* docsServer(newDocs())
  const cloudflared = yield* fakeCloudflared
  cloudflared.behave("ok")
  symlinkSync(cloudflared.path, join(folder, "bin/cloudflared"))
  const own = { port: 0 }
  const entrance = yield* secureEntrance((host) =>
    host === "gateway.example" ? own.port : host === "mcp.example.com" ? Number(new URL(mcp.url).port) : upstream.port
  )
  const socks = yield* SocksProxy.start((port) => (port === 443 ? entrance.port : upstream.port))
  const authority = join(folder, ".authority.pem")
  writeFileSync(authority, entrance.certPem)
  writeFileSync(join(folder, ".bash"), shellBegin)
  const routes = (loopback: Readonly<Record<string, number>>): string =>
    JSON.stringify({ tls: entrance.port, plain: upstream.port, loopback, elsewhere: { 1080: socks } })
  const base = {
    HOME: folder,
    PATH: `${folder}/bin:${process.env["PATH"]}`,
    LANG: "C.UTF-8",
    NO_COLOR: "1",
    GATEWAY_ENV_CONNECTIONS: "false",
    NODE_EXTRA_CA_CERTS: authority,
    NODE_OPTIONS: `--require=${reroute}`
  }
  const DATA_DIR = join(folder, ".gateway")
  const { url } = yield* Effect.acquireRelease(
    Effect.promise(() =>
      serve({
        ...base,
        DATA_DIR,
        DOCS_ROUTES: routes({ 8080: upstream.port, 11434: upstream.port }),
        GATEWAY_ADMIN_KEY: adminKey,
        GATEWAY_HOSTS_FILE: join(folder, "hosts"),
        ...environment
      })
    ),
    (serving) => Effect.promise(() => serving.stop("SIGTERM"))
  )
  own.port = Number(new URL(url).port)
  writeFileSync(
    join(folder, ".curlrc"),
    `connect-to = "127.0.0.1:20128:127.0.0.1:${own.port}"\nsilent\nshow-error\nfail-with-body\n`
  )
  const manage = managing(url, adminKey)
  yield* Effect.promise(() => furnish(manage, "http://upstream.example.com"))
  const variables: Record<string, string> = {}

  const run = (text: string, steps: ReadonlyArray<Step>): Effect.Effect<Ran> =>
    Effect.gen(function* () {
      const failures = join(folder, ".failed")
      writeFileSync(failures, "")
      const file = join(folder, ".block.sh")
      writeFileSync(file, `${text}\n`)
      const env = {
        ...base,
        DOCS_ROUTES: routes({ 20128: own.port, 8080: upstream.port, 11434: upstream.port }),
        DOCS_FAILED: failures,
        BASH_ENV: join(folder, ".bash"),
        REDOCLY_TELEMETRY: "off",
        REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
        ...variables
      }
      const [stdout, stderr] = yield* steps.length === 0
        ? piped(file, folder, env)
        : onTerminal(file, folder, env, steps)
      const failed = readFileSync(failures, "utf8").split("\n").filter(Boolean)
      return { stdout, stderr, failed }
    })

  const ask = async (model: string): Promise<string> => {
    const messages = [{ role: "user", content: "Hello" }]
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages })
    })
    await answer.text()
    const id = answer.headers.get("x-gateway-request-id") ?? ""
    await eventually(
      `the row of ${id}`,
      async () =>
        (await manage("GET", "/api/usage/logs?limit=20")).logs as ReadonlyArray<{ readonly requestId: string }>,
      (logs) => logs.some(({ requestId }) => requestId === id)
    )
    return id
  }

  const whileDown = async (act: () => Promise<void>): Promise<void> => {
    upstream.always(isDown)
    await act()
    upstream.always(works)
  }

  const world: World = { folder, url, adminKey, upstream, manage, whileDown, ask, variables, run }
  return world
})

/** A clone of the project in the folder. */
export const addClone = ({ folder }: World): void => {
  rmSync(join(folder, "node_modules"))
  rmSync(join(folder, "bin/gateway"))
  makeClone(folder)
}
