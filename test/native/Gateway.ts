/** The built gateway in the tests' namespaces, asked over HTTP, and a provider on port 443 of the internet for it and its clients. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { once } from "node:events"
import { createServer, type Server } from "node:https"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSecureContext, type SecureContext } from "node:tls"
import { callbackify } from "node:util"
import * as Program from "../support/Program.ts"
import { sharedAuthorities } from "../unit/capture/tls/harness.ts"
import { internet } from "./Namespace.ts"

export const I = "/api/tools/traffic-inspector"
export const A = "/api/tools/agent-bridge"
const adminKey = "admin-key-of-the-native-tests"

export interface Answer {
  readonly status: number
  // eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
  readonly body: any
}

/** A server of the internet with certificates for all names, which answers like a provider of chat completions and echoes everything else. */
export const startProvider = async () => {
  const { internet: made } = await sharedAuthorities()
  const key = String(made.key.export({ type: "pkcs8", format: "pem" }))
  const contextFor = async (name: string): Promise<SecureContext> => {
    const { certificate } = await made.authority.issue(name, made.key, Date.now())
    return createSecureContext({ cert: certificate, key })
  }
  const seen: Array<{ readonly path: string; readonly body: string }> = []
  const servers: Array<Server> = []
  for (const address of [internet.v4, internet.v6]) {
    const { certificate } = await made.authority.issue(address, made.key, Date.now())
    const server = createServer(
      {
        cert: certificate,
        key,
        SNICallback: callbackify(contextFor)
      },
      (asked, answer) => {
        let body = ""
        asked
          .setEncoding("utf8")
          .on("data", (part: string) => (body += part))
          .on("end", () => {
            seen.push({ path: asked.url ?? "", body })
            if (asked.url?.includes("/info/refs") === true) {
              // https://git-scm.com/docs/http-protocol, "Dumb Clients"
              answer.setHeader("content-type", "text/plain")
              return void answer.end(`${"0123456789".repeat(4)}\trefs/heads/main\n`)
            }
            answer.setHeader("content-type", "application/json")
            const message = { role: "assistant", content: `hello ${asked.url}` }
            answer.end(
              JSON.stringify({
                id: "c1",
                object: "chat.completion",
                created: 1,
                model: "far",
                choices: [{ index: 0, message, finish_reason: "stop" }],
                usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
              })
            )
          })
      }
    )
    server.listen(443, address)
    await once(server, "listening")
    servers.push(server)
  }
  const folder = mkdtempSync(join(tmpdir(), "gateway-internet-"))
  const caFile = join(folder, "internet.pem")
  writeFileSync(caFile, made.authority.certificate)
  return {
    ca: made.authority.certificate,
    /** What a client has to trust that is not captured. */
    caFile,
    seen,
    close: () => {
      for (const server of servers) {
        server.closeAllConnections()
        server.close()
      }
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

export interface GatewayOptions {
  readonly dataDir?: string
  readonly environment?: Readonly<Record<string, string>>
}

export const startGateway = async (providerCaFile: string, { dataDir, environment = {} }: GatewayOptions = {}) => {
  const scope = await Effect.runPromise(Scope.make())
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), "gateway-native-data-"))
  const program = await Effect.runPromise(
    Program.start(
      {
        GATEWAY_ADMIN_KEY: adminKey,
        // The gateway's own calls: it has to trust the internet of the tests.
        NODE_EXTRA_CA_CERTS: providerCaFile,
        INSPECTOR_HTTP_PROXY_PORT: "0",
        ...environment
      },
      folder
    ).pipe(Scope.extend(scope))
  )
  const ask = async (method: string, path: string, body?: unknown, key = adminKey): Promise<Answer> => {
    const response = await fetch(program.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    const isJson = (response.headers.get("content-type") ?? "").includes("json")
    return { status: response.status, body: isJson ? JSON.parse(text) : text }
  }
  /** Newest first, whole. */
  const records = async (query: string) => {
    const { body } = await ask("GET", `${I}/requests?${query}`)
    return Promise.all(
      body.requests.map(async ({ id }: { id: string }) => (await ask("GET", `${I}/requests/${id}`)).body)
    )
  }
  return {
    ask,
    program,
    records,
    dataDir: folder,
    run: (...argv: ReadonlyArray<string>) =>
      Effect.runPromise(
        Program.run(argv, folder, { GATEWAY_ADMIN_KEY: adminKey, GATEWAY_URL: program.url, HOME: folder })
      ),
    /** SIGTERM, and wait. */
    stop: async () => {
      await Effect.runPromise(program.stop)
      await Effect.runPromise(Scope.close(scope, Exit.void))
    },
    kill: async () => {
      program.signal("SIGKILL")
      await program.ended
    }
  }
}

export type Gateway = Awaited<ReturnType<typeof startGateway>>
