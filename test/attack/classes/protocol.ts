/** Bytes on a plain socket: requests inside requests, broken framing, sockets that say too much. */
import type { Arena } from "../Arena.ts"
import { type Attempt, type AttackClass, pairs } from "../Attempt.ts"
import { raw } from "../RawHttp.ts"

const chat = '{"model":"none/m","messages":[]}'
const inner = "GET /api/keys HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer wrong\r\n\r\n"
const head = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"

/** What must not be taken for two requests, or for one that is whole. */
const framings: Readonly<Record<string, string>> = {
  "a length and chunks": `${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
  "chunks and a length": `${head}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${inner}`,
  "two lengths": `${head}Content-Length: 5\r\nContent-Length: ${chat.length}\r\n\r\n${chat}`,
  "a length with a sign": `${head}Content-Length: +${chat.length}\r\n\r\n${chat}`,
  "a negative length": `${head}Content-Length: -1\r\n\r\n${chat}`,
  "a length in hexadecimal": `${head}Content-Length: 0x10\r\n\r\n${chat}`,
  "an encoding in disguise": `${head}Transfer-Encoding: xchunked\r\n\r\n${chat}`,
  "an encoding with a space": `${head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${inner}`,
  "an encoding folded": `${head}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${inner}`,
  "a chunk of a negative size": `${head}Transfer-Encoding: chunked\r\n\r\n-1\r\n${chat}\r\n0\r\n\r\n`,
  "a chunk of an enormous size": `${head}Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n${chat}\r\n0\r\n\r\n`,
  "a header with a null byte": `${head}X-A: a\u0000b\r\nContent-Length: 2\r\n\r\n{}`,
  "a header without a colon": `${head}X-A\r\nContent-Length: 2\r\n\r\n{}`,
  "a header of 100 KB": `${head}X-A: ${"a".repeat(100_000)}\r\nContent-Length: 2\r\n\r\n{}`,
  "ten thousand headers": `${head}${"X-A: a\r\n".repeat(10_000)}Content-Length: 2\r\n\r\n{}`,
  "no host": `GET /api/health/ping HTTP/1.1\r\n\r\n`,
  "two hosts": `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n`,
  "an old version": `GET /v1/models HTTP/0.9\r\n\r\n`,
  "no version": `GET /v1/models\r\n\r\n`,
  "an unknown version": `GET /v1/models HTTP/9.9\r\nHost: 127.0.0.1\r\n\r\n`,
  "a method of control letters": `G\u0001T / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`,
  "a tunnel": `CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n`,
  "a trace": `TRACE / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Secret: s3cret\r\n\r\n`,
  "an upgrade to HTTP/2": `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n`,
  "the start of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "the start of TLS": "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003",
  "nothing but line breaks": "\r\n".repeat(10_000)
}

const paths = ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1beta/models/m:generateContent", "/api/chat"]

const answersIn = (text: string): number => (text.match(/HTTP\/1\.1 \d{3}/g) ?? []).length

/** Answers to what was taken for a request; broken framing is answered with 400 and the end of the connection. */
const requestsIn = (text: string): number => (text.match(/HTTP\/1\.1 (?!400)\d{3}/g) ?? []).length

const byFraming = pairs(paths, Object.entries(framings)).map(([path, [name, bytes]]): Attempt => ({
  name: `${path}: ${name}`,
  run: async ({ closed }: Arena) => {
    const sent = bytes.replace("/v1/chat/completions", path)
    // The client ends its side, so that a server that waits for more has nothing to wait for.
    const text = await raw(closed.port, `${sent}`, (seen) => answersIn(seen) > 0 && seen.includes("\r\n\r\n"))
    if (/s3cret/.test(text)) return "a header came back"
    if (/HTTP\/1\.1 2\d\d/.test(text) && !/ping|health/.test(bytes)) return text.slice(0, 80)
    if (requestsIn(text) > 1 && /Transfer-Encoding|Content-Length: 4/.test(bytes)) return "two answers to one request"
    const { status } = await closed.send({ path: "/api/health/ping" })
    return status === 200 ? null : `the process answers ${status}`
  }
}))

export const protocol: AttackClass = { name: "broken HTTP", atOnce: 8, attempts: byFraming }
