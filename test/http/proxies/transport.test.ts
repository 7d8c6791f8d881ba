/** Sockets of one connection: a private authority, a client certificate, another name, a local address, and limits. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import type { TLSSocket } from "node:tls"
import * as TestGateway from "../../support/TestGateway.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

interface Pair {
  readonly certificate: string
  readonly key: string
}

/** An authority, a server that is called `models.internal.example`, and a client. */
const certificates = Effect.map(temporaryFolder, (folder) => {
  const openssl = (...args: ReadonlyArray<string>): void => {
    execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] })
  }
  const at = (name: string): string => join(folder, name)
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
  openssl("req", "-x509", ...curve, "-keyout", at("ca.key"), "-out", at("ca.pem"), "-subj", "/CN=Authority")
  const issue = (name: string, subject: string): Pair => {
    writeFileSync(at(`${name}.ext`), `subjectAltName=${subject}\n`)
    openssl("req", ...curve, "-keyout", at(`${name}.key`), "-out", at(`${name}.csr`), "-subj", `/CN=${name}`)
    const by = ["-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-CAcreateserial", "-extfile", at(`${name}.ext`)]
    openssl("x509", "-req", "-in", at(`${name}.csr`), "-out", at(`${name}.pem`), "-days", "2", ...by)
    return { certificate: readFileSync(at(`${name}.pem`), "utf8"), key: readFileSync(at(`${name}.key`), "utf8") }
  }
  return {
    ca: readFileSync(at("ca.pem"), "utf8"),
    server: issue("server", "DNS:models.internal.example"),
    client: issue("client", "DNS:client.example")
  }
})

interface Seen {
  readonly from: string
  readonly name: string
  readonly client: string
}

const answer = JSON.stringify({
  id: "x",
  object: "chat.completion",
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
})

/** A provider that asks every client for a certificate of the authority. */
const privateProvider = ({ certificate, key }: Pair, ca: string) =>
  Effect.acquireRelease(
    Effect.async<{ readonly port: number; readonly seen: ReadonlyArray<Seen>; readonly close: () => void }>(
      (resume) => {
        const seen: Array<Seen> = []
        let named = ""
        const server = createServer({
          cert: certificate,
          key,
          ca,
          requestCert: true,
          rejectUnauthorized: true,
          SNICallback: (name, done) => {
            named = name
            done(null)
          }
        })
        server.on("request", (request, response) => {
          const socket = request.socket as TLSSocket
          seen.push({
            from: socket.remoteAddress ?? "",
            name: named,
            client: String(socket.getPeerCertificate().subject?.CN)
          })
          response.writeHead(200, { "content-type": "application/json" }).end(answer)
        })
        server.listen(0, "127.0.0.1", () => {
          const { port } = server.address() as AddressInfo
          const close = (): void => {
            server.close()
            server.closeAllConnections()
          }
          resume(Effect.succeed({ port, seen, close }))
        })
      }
    ),
    ({ close }) => Effect.sync(close)
  )

describe("a connection's sockets", () => {
  it.scopedLive("trust its authority, show its certificate, and leave by its address", () =>
    Effect.gen(function* () {
      const { ca, client, server } = yield* certificates
      const provider = yield* privateProvider(server, ca)
      const gateway = yield* TestGateway.start()
      const manage = (method: string, path: string, body?: unknown) =>
        Effect.promise(() => gateway.manage(method, path, body))
      const baseUrl = `https://127.0.0.1:${provider.port}/v1`
      yield* manage("POST", "/api/provider-nodes", { name: "n", prefix: "n", type: "openai-compatible", baseUrl })
      const transport = {
        ca,
        ...client,
        serverName: "models.internal.example",
        localAddress: "127.0.0.2",
        connectTimeoutMs: 5_000,
        keepAliveMs: 1_000,
        maxIdleSockets: 1
      }
      // Before it is saved: the same sockets.
      const tried = { provider: "n", apiKey: "a-key-of-the-provider", models: ["m"] }
      assert.isTrue((yield* manage("POST", "/api/providers/validate", { ...tried, transport })).valid)
      assert.deepInclude(provider.seen.at(-1), { name: "models.internal.example", client: "client" })
      for (const less of [{ ...transport, certificate: null, key: null }, { ...transport, ca: null }, null]) {
        const { error, valid } = yield* manage("POST", "/api/providers/validate", { ...tried, transport: less })
        assert.isFalse(valid, error)
      }
      const { connection } = yield* manage("POST", "/api/providers", {
        provider: "n",
        apiKey: "a-key-of-the-provider",
        models: ["m"],
        transport
      })
      assert.deepInclude(connection.transport, { ca, serverName: "models.internal.example", maxIdleSockets: 1 })
      assert.notInclude(JSON.stringify(connection), client.key.split("\n")[1] ?? client.key)
      const chat = Effect.promise(async () => {
        const body = { model: "n/m", messages: [{ role: "user", content: "Hi" }] }
        const response = await gateway.post("/v1/chat/completions", body)
        await response.text()
        return response.status
      })
      assert.strictEqual(yield* chat, 200)
      const { from, ...others } = provider.seen.at(-1) ?? { from: "", name: "", client: "" }
      assert.deepStrictEqual(others, { name: "models.internal.example", client: "client" })
      assert.include(from, "127.0.0.2")
      const change = (body: unknown) => manage("PUT", `/api/providers/${connection.id}`, body)
      // What was shown may be sent back: the masked key is not a new one.
      const again = yield* change({ transport: connection.transport })
      assert.deepStrictEqual(again.connection.transport, connection.transport)
      assert.strictEqual(yield* chat, 200)
      const asked = provider.seen.length
      for (const less of [{ ...transport, certificate: null, key: null }, { ...transport, ca: null }, null]) {
        yield* change({ transport: less })
        assert.isAtLeast(yield* chat, 500)
      }
      assert.lengthOf(provider.seen, asked)
    })
  )

  it.scopedLive("are checked before they are saved", () =>
    Effect.gen(function* () {
      const { client, server } = yield* certificates
      const gateway = yield* TestGateway.start()
      const refused: ReadonlyArray<readonly [unknown, string]> = [
        [{ ca: "no certificate" }, "transport.ca"],
        [{ certificate: client.certificate }, "transport.key"],
        [{ key: client.key }, "transport.certificate"],
        [{ certificate: client.certificate, key: server.key }, "transport.key"],
        [{ certificate: client.certificate, key: "no key" }, "transport.key"],
        [
          { certificate: "-----BEGIN CERTIFICATE-----\nxx\n-----END CERTIFICATE-----", key: client.key },
          "transport.certificate"
        ],
        [{ localAddress: "192.0.2.1" }, "transport.localAddress"],
        [{ serverName: "a b" }, "transport.serverName"],
        [{ connectTimeoutMs: 0 }, "transport.connectTimeoutMs"],
        [{ pool: 1 }, "transport.pool"]
      ]
      for (const [transport, field] of refused) {
        const response = yield* Effect.promise(() =>
          gateway.post(
            "/api/providers",
            { provider: "openai", apiKey: "sk-of-the-test-0123456789", transport },
            { authorization: `Bearer ${TestGateway.adminKey}` }
          )
        )
        const { error } = JSON.parse(yield* Effect.promise(() => response.text()))
        assert.deepStrictEqual([response.status, error.param], [400, field], error.message)
        assert.notInclude(error.message, "PRIVATE")
      }
    })
  )
})
