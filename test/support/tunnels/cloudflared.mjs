#!/usr/bin/env node
// Prints what cloudflared 2026.7.2 prints for a quick tunnel (cmd/cloudflared/tunnel/quick_tunnel.go, connection/observer.go), without a
// network. What it does is in the file `behaviour` beside it, and the public host name in `host`, where there is one; its arguments and the names
// of its variables go to `seen.json` there. An open tunnel carries requests from a port of 127.0.0.1, which goes to `public.json`, to its `--url`.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { createServer, request } from "node:http"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const here = dirname(fileURLToPath(import.meta.url))
const behaviour = readFileSync(join(here, "behaviour"), "utf8").trim()
writeFileSync(
  join(here, "seen.json"),
  JSON.stringify({ args: process.argv.slice(2), variables: Object.keys(process.env).sort(), pid: process.pid })
)

const stamp = () => new Date().toISOString().replace(/\.\d+Z$/, "Z")
const say = (level, text) => process.stderr.write(`${stamp()} ${level} ${text}\n`)
const hostFile = join(here, "host")
const host = existsSync(hostFile) ? readFileSync(hostFile, "utf8").trim() : "able-baker-charlie-dog.trycloudflare.com"

const ask = () => {
  say(
    "INF",
    "Thank you for trying Cloudflare Tunnel. Doing so, without a Cloudflare account, is a quick way to experiment and try it out."
  )
  say("INF", "Requesting new quick Tunnel on trycloudflare.com...")
}
const address = (text = host) => {
  say("INF", "+--------------------------------------------------------------------------------------------+")
  say("INF", "|  Your quick Tunnel has been created! Visit it at (it may take some time to be reachable):  |")
  say("INF", `|  https://${text}  |`)
  say("INF", "+--------------------------------------------------------------------------------------------+")
}
const connect = () =>
  say(
    "INF",
    "Registered tunnel connection connIndex=0 connection=11111111-2222-3333-4444-555555555555 event=0 ip=198.41.192.7 location=fra06 protocol=http2"
  )
/** Headers as the client has sent them, and behind them those of Cloudflare: it adds to a list of addresses that is there already. */
const carried = (rawHeaders) => {
  const pairs = []
  for (let at = 0; at < rawHeaders.length; at += 2) pairs.push([rawHeaders[at], rawHeaders[at + 1]])
  const known = pairs.find(([name]) => name.toLowerCase() === "x-forwarded-for")
  if (known === undefined) pairs.push(["X-Forwarded-For", "203.0.113.7"])
  else known[1] += ",203.0.113.7"
  return [...pairs, ["Cf-Connecting-Ip", "203.0.113.7"], ["Cdn-Loop", "cloudflare; loops=1"]].flat()
}
const carry = () => {
  const target = new URL(process.argv[process.argv.indexOf("--url") + 1])
  const server = createServer((asked, answer) => {
    const headers = carried(asked.rawHeaders)
    const onward = request({ host: target.hostname, port: target.port, method: asked.method, path: asked.url, headers })
    onward.on("response", (given) => {
      answer.writeHead(given.statusCode, given.rawHeaders)
      given.pipe(answer)
    })
    onward.on("error", () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end("Bad gateway")))
    asked.pipe(onward)
  })
  server.listen(0, "127.0.0.1", () => {
    const file = join(here, "public.json")
    writeFileSync(`${file}.new`, JSON.stringify({ pid: process.pid, port: server.address().port }))
    renameSync(`${file}.new`, file)
  })
}
// Writes to a pipe are synchronous: what was said is in it when the file is there.
const stay = () => {
  writeFileSync(join(here, "said"), "")
  setInterval(() => {}, 1_000)
}

switch (behaviour) {
  case "ok":
    ask()
    address()
    connect()
    carry()
    stay()
    break
  case "ignores SIGTERM":
    process.on("SIGTERM", () => {})
    ask()
    address()
    connect()
    stay()
    break
  case "no connection":
    ask()
    address()
    say(
      "ERR",
      `Unable to establish connection with Cloudflare edge error="DialContext error: dial tcp 198.41.192.7:7844: connect: network is unreachable" connIndex=0`
    )
    stay()
    break
  case "crash before":
    ask()
    say(
      "ERR",
      `failed to request quick Tunnel: Post "https://api.trycloudflare.com/tunnel": dial tcp: lookup api.trycloudflare.com: no such host`
    )
    process.exitCode = 1
    break
  case "crash after":
    ask()
    address()
    connect()
    say(
      "ERR",
      `Cannot determine default configuration path. No file [config.yml] in [/root/.cloudflared /etc/cloudflared]`
    )
    process.exitCode = 1
    break
  case "rate limited":
    ask()
    say(
      "ERR",
      `Error unmarshaling QuickTunnel response: error code: 1015 error="invalid character 'e' looking for beginning of value" status_code="429 Too Many Requests"`
    )
    process.stderr.write("failed to unmarshal quick Tunnel: invalid character 'e' looking for beginning of value\n")
    process.exitCode = 1
    break
  case "half an address":
    ask()
    address("able-baker-charlie-dog.trycloud")
    connect()
    stay()
    break
  case "nothing":
    stay()
    break
  case "flood":
    process.stderr.write(`${"x".repeat(10_000_000)}\n`)
    for (let count = 0; count < 1_000; count += 1) say("DBG", "noise ".repeat(200))
    ask()
    address()
    connect()
    stay()
    break
}
